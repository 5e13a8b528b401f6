"use strict";
(() => {
  const STATES = {
    proven: "proven: the decision depends on it",
    suspected: "suspected, not proven",
    cleared: "cleared: it can be left out",
    held: "not examined: kept in place",
    untried: "not examined",
  };
  const VERSION = "2026-01-26";
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
  const actions = (list) =>
    (list || []).map((one) => `${plain(one.action)} (${one.n})`).join(", ") || "nothing else";

  let pieces = [];
  let causes = [];

  const facts = (piece) => {
    const known = STATES[piece.state] ? piece.state : "untried";
    const rows = [["this piece", STATES[known]], ["where", plain(piece.ref)]];
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
    at("details").replaceChildren(list);
    at("details").hidden = false;
  };

  const go = (index) => {
    const next = Math.max(0, Math.min(pieces.length - 1, index));
    for (const piece of pieces) piece.element.tabIndex = -1;
    pieces[next].element.tabIndex = 0;
    pieces[next].element.focus();
  };

  const KEYS = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1, Home: -Infinity, End: Infinity };
  const key = (event, index) => {
    const step = KEYS[event.key];
    if (step === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    go(index + step);
  };

  const drawPiece = (data) => {
    const known = STATES[data.state] ? data.state : "untried";
    const element = make("span", plain(data.text), "piece", known);
    const index = pieces.length;
    element.setAttribute("aria-label", `${STATES[known]}: ${plain(data.text)}`);
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

  const drawCauses = () => {
    const section = at("causes");
    section.replaceChildren();
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
    section.append(make("h2", "What is proven"), table);
  };

  const draw = (data) => {
    pieces = [];
    causes = data.causes || [];
    at("report").setAttribute("aria-busy", "false");
    at("answer").textContent = plain(data.answer || `${data.status}: ${plain(data.decision)}`);
    const spent = `${data.calls} model calls`;
    at("counts").textContent = `As recorded the decision was made in ${share(data.base)} reruns; ${spent}.`;
    const messages = data.messages || [];
    at("context").replaceChildren(...messages.map(drawMessage));
    const seen = new Set(pieces.map((piece) => piece.data.state));
    at("legend").replaceChildren(
      ...Object.entries(STATES).filter(([state]) => seen.has(state)).map(([state, said]) => {
        const item = make("li");
        item.append(make("span", "text", "piece", state), said);
        return item;
      }),
    );
    drawCauses();
    const left = data.cut ? [`${data.cut} characters of long texts are not shown here.`] : [];
    at("notes").replaceChildren(...[...(data.notes || []).map(plain), ...left].map((note) => make("li", note)));
    at("hint").hidden = !pieces.length;
    const first = pieces.find((piece) => piece.data.state === "proven") || pieces[0];
    if (first) first.element.tabIndex = 0;
  };

  const failed = (said) => {
    at("report").setAttribute("aria-busy", "false");
    at("answer").textContent = said;
  };

  const held = at("data");
  if (held) {
    draw(JSON.parse(held.textContent));
    return;
  }

  // The host: JSON-RPC over postMessage with the window that embeds this one.
  const waiting = new Map();
  let last = 0;
  const post = (message) => parent.postMessage({ jsonrpc: "2.0", ...message }, "*");
  const tell = (method, params) => post({ method, params });
  const ask = (method, params) =>
    new Promise((resolve, reject) => {
      waiting.set(++last, { resolve, reject });
      post({ id: last, method, params });
    });

  const dress = (context) => {
    if (context && ["light", "dark"].includes(context.theme)) document.documentElement.dataset.theme = context.theme;
  };

  const receive = async (result) => {
    const answer = result && result.structuredContent;
    if (!answer) return failed("There is no report in this answer.");
    draw(answer); // the numbers at once; the texts when the host lets this page read them
    try {
      const read = await ask("resources/read", { uri: `runtape://view/${answer.job}` });
      draw(JSON.parse(read.contents[0].text));
    } catch (error) {
      at("counts").textContent += " This host does not hand over the context; the report in the chat quotes the texts.";
    }
  };

  addEventListener("message", (event) => {
    const message = event.data;
    if (event.source !== parent || !message || message.jsonrpc !== "2.0") return;
    if (message.method === undefined) {
      const pending = waiting.get(message.id);
      waiting.delete(message.id);
      if (pending) message.error ? pending.reject(message.error) : pending.resolve(message.result);
    } else if (message.method === "ui/notifications/tool-result") receive(message.params);
    else if (message.method === "ui/notifications/tool-cancelled") failed("The call was cancelled.");
    else if (message.method === "ui/notifications/host-context-changed") dress(message.params);
    else if (message.id !== undefined) post({ id: message.id, result: {} });
  });

  ask("ui/initialize", {
    protocolVersion: VERSION,
    appInfo: { name: "runtape-why", version: "1" },
    appCapabilities: { availableDisplayModes: ["inline", "fullscreen"] },
  }).then((result) => {
    dress(result.hostContext);
    tell("ui/notifications/initialized", {});
    new ResizeObserver(() => {
      const { scrollWidth: width, scrollHeight: height } = document.documentElement;
      tell("ui/notifications/size-changed", { width, height });
    }).observe(document.body);
  });
})();
