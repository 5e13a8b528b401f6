(() => {
  const VERSION = "2026-01-26";
  const view = contextView({
    context: at("context"),
    strip: at("strip"),
    legend: at("legend"),
    causes: at("causes"),
    notes: at("notes"),
    details: at("details"),
  });

  const draw = (data) => {
    at("report").setAttribute("aria-busy", "false");
    at("answer").textContent = plain(data.answer || `${data.status}: ${plain(data.decision)}`);
    const spent = `${data.calls} model calls`;
    at("counts").textContent = `As recorded the decision was made in ${share(data.base)} reruns; ${spent}.`;
    at("hint").hidden = !view.draw(data);
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
