"""One of the traced agents under an instrumentation of OpenTelemetry's own: python genai_agent.py INSTRUMENTOR AGENT FOLDER

Writes what was sent, the spans and the log records into the folder. A process of its own, because the instrumentations
read their settings from the environment once.
"""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from loopback import Loopback
from traced_agents import chat, messages, provider, responses

AGENTS: dict[str, Callable[[str], None]] = {
    "chat": chat,
    "image": lambda url: chat(url, image=True),
    "stream": lambda url: chat(url, stream=True),
    "responses": responses,
    "messages": messages,
}


def main(name: str, agent: str, folder: Path) -> None:
    tracing: Any = importlib.import_module("opentelemetry.sdk.trace")
    export: Any = importlib.import_module("opentelemetry.sdk.trace.export")
    logging: Any = importlib.import_module("opentelemetry.sdk._logs")
    log_export: Any = importlib.import_module("opentelemetry.sdk._logs.export")
    console = getattr(log_export, "ConsoleLogRecordExporter", None) or log_export.ConsoleLogExporter
    module, _, kind = name.rpartition(".")
    with (folder / "spans.txt").open("w") as spans, (folder / "logs.txt").open("w") as logs:
        tracer, logger = tracing.TracerProvider(), logging.LoggerProvider()
        tracer.add_span_processor(export.SimpleSpanProcessor(export.ConsoleSpanExporter(out=spans)))
        logger.add_log_record_processor(log_export.SimpleLogRecordProcessor(console(out=logs)))
        getattr(importlib.import_module(module), kind)().instrument(tracer_provider=tracer, logger_provider=logger)
        with Loopback(provider) as server:
            AGENTS[agent](server.url)
            sent = [received.body for received in server.requests]
        tracer.shutdown()
        logger.shutdown()
    (folder / "sent.json").write_text(json.dumps(sent), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]))
