import json
from pathlib import Path

span = {
    "name": "chat gpt-4o-mini",
    "context": {"trace_id": "0x1", "span_id": "0x2"},
    "parent_id": None,
    "start_time": "2025-01-01T00:00:00.000000Z",
    "end_time": "2025-01-01T00:00:01.000000Z",
    "attributes": {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "gpt-4o-mini",
        "gen_ai.input.messages": '[{"role": "user", "parts": [{"type": "text", "content": "Hello."}]}]',
        "gen_ai.output.messages": '[{"role": "assistant", "parts": [{"type": "text", "content": "Hi."}]}]',
    },
}
Path("spans.jsonl").write_text(json.dumps(span) + "\n", encoding="utf-8")
