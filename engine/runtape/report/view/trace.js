(() => {
  const ROW = 26; // the height of a row in trace.css
  const SPARE = 12; // rows drawn above and below those in sight
  const PANES = ["event", "context", "difference", "found"];

  const held = at("data") ? JSON.parse(at("data").textContent) : null;
  const view = contextView({
    context: at("context"),
    strip: at("strip"),
    legend: at("legend"),
    causes: at("causes"),
    notes: at("notes"),
    details: at("details"),
  });

  let rows = []; // a server gives them in portions, first ones first
  let total = 0;
  let whole = Promise.resolve(); // until all of them are there
  const decisions = []; // positions of rows that are replies of a model
  let explained = new Set();
  let selected = 0;
  let pane = "event";

  // A file holds every part of the run; a server is asked for each.
  const load = async (name) => {
    if (held) return structuredClone(held[name]);
    const answer = await fetch(name, { cache: "no-store", redirect: "error" });
    if (!answer.ok) throw new Error(`The page cannot read ${name}: ${answer.status}. Is runtape view still running?`);
    return answer.json();
  };
  // In a file a context is told by the beginning that it shares with another one, and the indexes of its other messages.
  const placesOf = (event) => {
    const way = [];
    for (let one = event; one !== null; one = held[`context/${one}`].messages[0] ?? null) way.push(one);
    let places = [];
    while (way.length) {
      const [, same, rest] = held[`context/${way.pop()}`].messages;
      places = places.slice(0, same).concat(rest || []);
    }
    return places;
  };
  const contexts = new Map();
  const contextOf = async (event) => {
    if (!contexts.has(event)) {
      const data = await load(`context/${event}`);
      if (held) data.messages = placesOf(event).map((index) => held.messages[index]);
      if (contexts.size > 20) contexts.delete(contexts.keys().next().value);
      contexts.set(event, data);
    }
    return contexts.get(event);
  };

  // The list: only rows in sight are in the page, in their order. Those that go out of sight at one end are filled anew
  // and put at the other, so that scrolling makes no elements.
  const drawn = [];
  let begin = 0; // the position of the first of them
  const rowOf = (element) => begin + drawn.indexOf(element);
  const makeRow = () => {
    const row = make("div", null, "row");
    row.setAttribute("role", "option");
    for (const name of ["id", "after", "kind", "what"]) row.append(make("span", "", name));
    return row;
  };
  const fill = (row, position) => {
    const [id, kind, what, after, decision] = rows[position] || ["", "", "reading", 0, null];
    row.id = `row-${position}`;
    row.setAttribute("aria-selected", String(position === selected));
    row.setAttribute("aria-setsize", String(total));
    row.setAttribute("aria-posinset", String(position + 1));
    row.style.top = `${position * ROW}px`;
    row.classList.toggle("decision", id !== "" && decision === id);
    row.classList.toggle("explained", explained.has(id));
    [id, `${after.toFixed(2)} s`, kind, what].forEach((text, at) => {
      row.children[at].textContent = text;
    });
    return row;
  };
  const drawRows = () => {
    const list = at("list");
    const first = Math.max(0, Math.floor(list.scrollTop / ROW) - SPARE);
    const last = Math.min(total, Math.ceil((list.scrollTop + list.clientHeight) / ROW) + SPARE);
    const spare = [];
    while (drawn.length && begin < first) {
      spare.push(drawn.shift());
      begin++;
    }
    while (drawn.length && begin + drawn.length > last) spare.push(drawn.pop());
    if (!drawn.length) begin = first;
    const above = [];
    const below = [];
    for (let position = first; position < begin; position++) above.push(fill(spare.pop() || makeRow(), position));
    for (let position = begin + drawn.length; position < last; position++) below.push(fill(spare.pop() || makeRow(), position));
    for (const row of spare) row.remove();
    at("rows").prepend(...above);
    at("rows").append(...below);
    drawn.unshift(...above);
    drawn.push(...below);
    begin = first;
  };
  let waiting = false;
  const scrolled = () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      drawRows();
    });
  };
  const reveal = (position) => {
    const list = at("list");
    const top = position * ROW;
    if (top < list.scrollTop) list.scrollTop = top;
    else if (top + ROW > list.scrollTop + list.clientHeight) list.scrollTop = top + ROW - list.clientHeight;
  };

  const select = (position) => {
    const mark = (chosen) => drawn[selected - begin]?.setAttribute("aria-selected", String(chosen));
    mark(false);
    selected = Math.max(0, Math.min(total - 1, position));
    reveal(selected);
    drawRows();
    mark(true);
    at("list").setAttribute("aria-activedescendant", `row-${selected}`);
    refresh();
  };
  const selectEvent = async (id) => {
    await whole;
    const position = rows.findIndex((row) => row[0] === id);
    if (position >= 0) select(position);
  };

  // The decision that a row is part of, else the last one before it.
  const decisionAt = (position) => {
    const own = rows[position][4];
    if (own !== null) return own;
    for (let at = position; at >= 0; at--) if (rows[at][4] === rows[at][0]) return rows[at][0];
    return null;
  };
  const decisionBefore = (event) => {
    const before = decisions.filter((position) => rows[position][0] < event);
    return before.length ? rows[before[before.length - 1]][0] : null;
  };
  const step = (by) => {
    const next = by > 0 ? decisions.find((position) => position > selected) : decisions.filter((position) => position < selected).pop();
    if (next !== undefined) select(next);
    else if (rows.length < total) whole.then(() => step(by));
  };

  const drawEvent = async (id) => {
    const data = await load(`event/${id}`);
    const parent = data.parent === null ? "" : `, parent event ${data.parent}`;
    return () => {
      at("event-title").textContent = `Event ${data.id}: ${data.type}${parent}`;
      at("event-text").textContent = data.text;
    };
  };

  const drawContext = async (event) => {
    if (event === null) return () => {
      at("answer").textContent = "No model call up to here has a reply.";
      at("about").textContent = "";
      view.draw({});
    };
    const data = await contextOf(event);
    return () => {
      view.draw(data);
      at("answer").textContent = data.problem || (data.report ? data.answer : `What the model saw at event ${event}`);
      const tools = data.tools && data.tools.length ? ` It could call ${data.tools.join(", ")}.` : "";
      const base = data.report ? ` As recorded the decision was made in ${share(data.base)} reruns.` : "";
      at("about").textContent = data.problem ? "" : `Request ${data.request} to ${data.model || "a model"}, answered in event ${event}.${tools}${base}`;
    };
  };

  // Two contexts: the longest common run of messages stays, the others went or came.
  const keyOf = (message) => JSON.stringify([message.source, message.pieces.map((piece) => [piece.before, piece.text]), message.after]);
  const LARGEST = 4e6;
  const compare = (before, after) => {
    const one = before.map(keyOf);
    const other = after.map(keyOf);
    let start = 0;
    while (start < one.length && start < other.length && one[start] === other[start]) start++;
    let end = 0;
    while (end < one.length - start && end < other.length - start && one[one.length - 1 - end] === other[other.length - 1 - end]) end++;
    const a = one.slice(start, one.length - end);
    const b = other.slice(start, other.length - end);
    const steps = [];
    const push = (kind, message) => steps.push({ kind, message });
    for (let i = 0; i < start; i++) push("same", after[i]);
    if (a.length * b.length > LARGEST) {
      a.forEach((_, i) => push("removed", before[start + i]));
      b.forEach((_, j) => push("added", after[start + j]));
    } else {
      const width = b.length + 1;
      const longest = new Uint32Array((a.length + 1) * width);
      for (let i = a.length - 1; i >= 0; i--)
        for (let j = b.length - 1; j >= 0; j--)
          longest[i * width + j] = a[i] === b[j] ? longest[(i + 1) * width + j + 1] + 1 : Math.max(longest[(i + 1) * width + j], longest[i * width + j + 1]);
      let i = 0;
      let j = 0;
      while (i < a.length || j < b.length) {
        if (i < a.length && j < b.length && a[i] === b[j]) {
          push("same", after[start + j]);
          i++;
          j++;
        } else if (j >= b.length || (i < a.length && longest[(i + 1) * width + j] >= longest[i * width + j + 1])) push("removed", before[start + i++]);
        else push("added", after[start + j++]);
      }
    }
    for (let i = after.length - end; i < after.length; i++) push("same", after[i]);
    return steps;
  };

  const drawDifference = async (event) => {
    const other = Number(at("other").value || decisionBefore(event) || event);
    const none = event === null;
    const [before, after] = none ? [{}, {}] : await Promise.all([contextOf(other), contextOf(event)]);
    return () => {
      at("difference-title").textContent = none ? "No model call up to here has a reply." : `From the context of event ${other} to that of event ${event}`;
      if (none) return at("difference").replaceChildren();
      const problem = before.problem || after.problem;
      if (problem) return at("difference").replaceChildren(make("p", problem));
      const steps = compare(before.messages, after.messages);
      const textsOf = (kind) => new Set(steps.filter((step) => step.kind === kind).flatMap((step) => step.message.pieces.map((piece) => piece.text)));
      const known = { added: textsOf("removed"), removed: textsOf("added") };
      const drawn = [];
      let same = 0;
      const close = () => {
        if (same) drawn.push(make("div", same === 1 ? "1 text is the same" : `${same} texts are the same`, "same"));
        same = 0;
      };
      for (const { kind, message } of steps) {
        if (kind === "same") {
          same++;
          continue;
        }
        close();
        const section = make("section", null, "message", kind);
        section.append(make("header", `${kind}: ${message.source}${message.event === null ? "" : `, event ${message.event}`}`));
        const text = make("div", null, "text");
        for (const piece of message.pieces) {
          const part = make("span", piece.text);
          if (known[kind].size && !known[kind].has(piece.text)) part.classList.add("new");
          text.append(piece.before, part);
        }
        text.append(message.after);
        section.append(text);
        drawn.push(section);
      }
      close();
      at("difference").replaceChildren(...drawn);
    };
  };

  // In a file the texts of the run are looked through here, in the order in which they came into it.
  const findHere = (term) => {
    const wanted = term.toLowerCase();
    const found = [];
    for (const [event, writer, text] of held.passages) {
      const lower = text.toLowerCase();
      const places = lower.split(wanted).length - 1;
      if (!places) continue;
      const start = lower.indexOf(wanted);
      const around = text.slice(Math.max(0, start - 100), start + wanted.length + 100).replace(/\s*\n\s*/g, " / ");
      found.push({ event, writer, places, around });
    }
    return { found };
  };
  const marked = (text, term) => {
    const start = text.toLowerCase().indexOf(term.toLowerCase());
    if (start < 0) return [text];
    return [text.slice(0, start), make("mark", text.slice(start, start + term.length)), text.slice(start + term.length)];
  };
  const find = async (term) => {
    if (!term) return;
    const { found } = held ? findHere(term) : await load(`search?term=${encodeURIComponent(term)}`);
    at("found-title").textContent = found.length === 1 ? "1 text holds it" : `${found.length} texts hold it`;
    const first = found[0];
    at("entered").textContent = first ? `It first entered the run in event ${first.event}, written by ${first.writer}.` : "No event of this run holds it.";
    at("found").replaceChildren(
      ...found.slice(0, 500).map((one) => {
        const item = make("li");
        const button = make("button");
        button.append(make("b", `event ${one.event}, ${one.writer}: `), ...marked(one.around, term));
        button.addEventListener("click", () => {
          open("event");
          selectEvent(one.event);
        });
        item.append(button);
        return item;
      }),
      ...(found.length > 500 ? [make("li", `${found.length - 500} more are not listed.`)] : []),
    );
    at("tab-found").hidden = false;
    open("found");
    const button = at("found").querySelector("button");
    (button || at("term")).focus();
  };

  let asked = 0;
  const refresh = async () => {
    const mine = ++asked;
    if (pane === "found" || !total) return;
    at("main").setAttribute("aria-busy", "true");
    let finish;
    try {
      if (!rows[selected]) await whole;
      const event = decisionAt(selected);
      finish = await (pane === "event" ? drawEvent(rows[selected][0]) : pane === "context" ? drawContext(event) : drawDifference(event));
    } catch (error) {
      finish = () => {
        at("counts").textContent = error.message;
      };
    }
    if (mine !== asked) return; // another event was chosen meanwhile
    finish();
    at("main").setAttribute("aria-busy", "false");
  };
  const open = async (name) => {
    pane = name;
    for (const one of PANES) {
      at(`pane-${one}`).hidden = one !== name;
      at(`tab-${one}`).setAttribute("aria-selected", String(one === name));
    }
    if (name === "difference") await fillOthers();
    refresh();
  };
  const fillOthers = async () => {
    await whole;
    const event = decisionAt(selected);
    const before = decisionBefore(event);
    at("other").replaceChildren(
      ...decisions.map((position) => {
        const option = make("option", `${rows[position][0]}: ${rows[position][2].slice(0, 60)}`);
        option.value = String(rows[position][0]);
        option.selected = rows[position][0] === (before ?? event);
        return option;
      }),
    );
  };

  const MOVES = { ArrowDown: 1, ArrowUp: -1, PageDown: 20, PageUp: -20, Home: -Infinity, End: Infinity };
  at("list").addEventListener("keydown", (event) => {
    const by = MOVES[event.key];
    if (by === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    select(selected + by);
  });
  at("rows").addEventListener("click", (event) => {
    const row = event.target.closest(".row");
    if (row) select(rowOf(row));
  });
  at("list").addEventListener("scroll", scrolled, { passive: true });
  addEventListener("resize", scrolled);
  for (const name of PANES) at(`tab-${name}`).addEventListener("click", () => open(name));
  at("other").addEventListener("change", refresh);
  at("find").addEventListener("submit", (event) => {
    event.preventDefault();
    find(at("term").value);
  });

  const enter = () => {
    if (pane === "context") view.enter();
    else if (pane === "event") at("event-text").focus();
  };
  const SHORT = {
    "/": () => at("term").focus(),
    e: () => open("event"),
    c: () => open("context"),
    d: () => open("difference"),
    n: () => step(1),
    p: () => step(-1),
  };
  addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key === "Escape") {
      at("list").focus();
      if (pane === "found") open("event");
      return;
    }
    if (["INPUT", "SELECT"].includes(event.target.tagName)) return;
    if (event.key === "Enter" && event.target === at("list")) {
      event.preventDefault();
      enter();
    } else if (SHORT[event.key]) {
      event.preventDefault();
      SHORT[event.key]();
    }
  });

  const take = (portion) => {
    const first = rows.length;
    rows = rows.concat(portion);
    portion.forEach((row, index) => {
      if (row[4] === row[0]) decisions.push(first + index);
    });
    drawn.forEach((row, index) => {
      if (begin + index >= first && rows[begin + index]) fill(row, begin + index);
    });
  };
  const readAll = async () => {
    while (rows.length < total) {
      const { rows: portion } = await load(`rows/${rows.length}`);
      if (!portion.length) throw new Error("The run has fewer events than it had. Reload the page.");
      take(portion);
    }
  };
  const start = async () => {
    const data = await load("timeline");
    total = data.total;
    explained = new Set(data.explained);
    take(data.rows);
    at("name").textContent = data.trace;
    const lost = data.problems ? `, ${data.problems} lines could not be read fully` : "";
    const left = held && held.left_out ? `, ${held.left_out} of their contexts are not in this file` : "";
    at("counts").textContent = `${total} events, ${data.calls} model calls${left}, status ${data.status}${lost}`;
    at("rows").style.height = `${total * ROW}px`;
    drawRows();
    at("list").setAttribute("aria-busy", "false");
    at("list").focus();
    whole = readAll();
    whole.catch((error) => {
      at("counts").textContent = error.message;
    });
    if (data.explained.length) {
      pane = "context";
      await selectEvent(data.explained[0]);
    } else select(0);
    await open(pane);
  };
  start().catch((error) => {
    at("name").textContent = error.message;
  });
})();
