"use strict";
// Shared by the pages: a context drawn piece by piece, each with what became of it.

const STATES = {
  proven: "proven: the decision depends on it",
  suspected: "suspected, not proven",
  cleared: "cleared: it can be left out",
  held: "not examined: kept in place",
  untried: "not examined",
};
const at = (id) => document.getElementById(id);

// Recorded text becomes text, whatever it says: nothing here is ever parsed as HTML.
const make = (tag, text, ...names) => {
  const made = document.createElement(tag);
  if (text !== undefined && text !== null) made.textContent = String(text);
  made.classList.add(...names);
  return made;
};

// On the way through a host recorded text is fenced, for whoever else reads it there.
const plain = (value) => {
  const text = String(value ?? "");
  const block = /^<(recorded-[0-9a-f]{8})>\n([\s\S]*)\n<\/\1>$/.exec(text);
  if (block) return block[2].split("\n").map((line) => line.replace(/^\| /, "")).join("\n");
  return text.replace(/<(recorded-[0-9a-f]{8})>(`+)\| ([\s\S]*?) \2<\/\1>/g, "$3");
};
const share = (count) => (count && count.n ? `${count.kept} of ${count.n}` : "no reruns");
const number = (p) => (p < 0.0001 ? "under 0.0001" : String(Number(Number(p).toPrecision(2))));
const actions = (list) => (list || []).map((one) => `${plain(one.action)} (${one.n})`).join(", ") || "nothing else";
const rate = (count) => (count && count.n ? count.kept / count.n : 0);

// One context on the page. `places` names the elements it draws into.
const contextView = (places) => {
  const KEYS = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1, Home: -Infinity, End: Infinity };
  let pieces = [];
  let causes = [];

  const stateOf = (piece) => (STATES[piece.state] || piece.state === "plain" ? piece.state : "untried");

  const facts = (piece) => {
    const state = stateOf(piece);
    const rows = STATES[state] ? [["this piece", STATES[state]]] : [];
    rows.push(["where", plain(piece.ref) || "no edit removes it"]);
    const cause = causes[piece.cause];
    if (cause) {
      const [low, high] = (cause.interval || []).map((bound) => Math.round(bound * 100));
      rows.push(["decision with it", `${share(cause.with)} reruns`], ["without it", `${share(cause.without)} reruns`]);
      if (high !== undefined) rows.push(["drop", `${low} to ${high} points (95% interval)`]);
      rows.push(["p", number(cause.p)], ["instead", actions(cause.instead)]);
    } else if (piece.probability !== null && piece.probability !== undefined) {
      rows.push(["probability", `${Math.round(piece.probability * 100)}%`]);
    }
    return rows;
  };

  const show = (index) => {
    const list = make("dl");
    for (const [name, value] of facts(pieces[index].data)) list.append(make("dt", name), make("dd", value));
    places.details.replaceChildren(list);
    places.details.hidden = false;
  };

  const go = (index) => {
    const next = Math.max(0, Math.min(pieces.length - 1, index));
    for (const piece of pieces) piece.element.tabIndex = -1;
    pieces[next].element.tabIndex = 0;
    pieces[next].element.focus();
  };

  const key = (event, index) => {
    const step = KEYS[event.key];
    if (step === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    event.stopPropagation();
    go(index + step);
  };

  const drawPiece = (data) => {
    const state = stateOf(data);
    const element = make("span", plain(data.text), "piece", state);
    const index = pieces.length;
    element.setAttribute("aria-label", `${STATES[state] ? `${STATES[state]}: ` : ""}${plain(data.text)}`);
    element.setAttribute("role", "note");
    element.tabIndex = -1;
    element.addEventListener("mouseenter", () => show(index));
    element.addEventListener("focus", () => show(index));
    element.addEventListener("keydown", (event) => key(event, index));
    pieces.push({ element, data });
    return element;
  };

  const drawMessage = (message) => {
    const section = make("section", null, "message");
    const where = message.event === null ? "" : `, event ${message.event}`;
    section.append(make("header", `${plain(message.source)}${where}`));
    const text = make("div", null, "text");
    message.pieces.forEach((piece) => {
      text.append(plain(piece.before), drawPiece(piece));
    });
    text.append(plain(message.after));
    section.append(text);
    return section;
  };

  // The context from left to right, each piece as wide as it is long; the deeper the colour, the larger the drop.
  const drawStrip = () => {
    places.strip.hidden = !causes.length;
    places.strip.replaceChildren(
      ...pieces.map(({ data }, index) => {
        const part = make("span", null, "part", stateOf(data));
        part.style.flexGrow = String(Math.max(1, plain(data.text).length));
        const cause = causes[data.cause];
        if (cause) part.style.opacity = String(0.35 + 0.65 * Math.max(0, rate(cause.with) - rate(cause.without)));
        part.addEventListener("mouseenter", () => show(index));
        part.addEventListener("click", () => go(index));
        return part;
      }),
    );
  };

  const drawCauses = () => {
    places.causes.replaceChildren();
    if (!causes.length) return;
    const table = make("table");
    const head = table.createTHead().insertRow();
    for (const name of ["kind", "with it", "without it", "p", "what the agent does instead"]) head.append(make("th", name));
    const body = table.createTBody();
    for (const cause of causes) {
      const row = body.insertRow();
      for (const value of [cause.kind, share(cause.with), share(cause.without), number(cause.p), actions(cause.instead)])
        row.append(make("td", value));
    }
    places.causes.append(make("h2", "What is proven"), table);
  };

  const drawLegend = () => {
    const seen = new Set(pieces.map((piece) => piece.data.state));
    places.legend.replaceChildren(
      ...Object.entries(STATES).filter(([state]) => seen.has(state)).map(([state, said]) => {
        const item = make("li");
        item.append(make("span", "text", "piece", state), said);
        return item;
      }),
    );
  };

  return {
    draw: (data) => {
      pieces = [];
      causes = data.causes || [];
      places.context.replaceChildren(...(data.messages || []).map(drawMessage));
      drawStrip();
      drawLegend();
      drawCauses();
      const left = data.cut ? [`${data.cut} characters of long texts are not shown here.`] : [];
      places.notes.replaceChildren(...[...(data.notes || []).map(plain), ...left].map((note) => make("li", note)));
      places.details.hidden = true;
      const first = pieces.find((piece) => piece.data.cause === 0) || pieces[0];
      if (first) first.element.tabIndex = 0;
      return pieces.length;
    },
    enter: () => {
      const first = pieces.findIndex((piece) => piece.element.tabIndex === 0);
      if (first >= 0) go(first);
    },
  };
};
