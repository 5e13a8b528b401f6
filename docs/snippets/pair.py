import json
from pathlib import Path

request = {"model": "gpt-5-mini", "messages": [{"role": "user", "content": "Refund order 9."}]}
answer = {"role": "assistant", "content": "Order 9 is refunded."}
response = {"object": "chat.completion", "choices": [{"index": 0, "finish_reason": "stop", "message": answer}]}
Path("pair.json").write_text(json.dumps({"request": request, "response": response}), encoding="utf-8")
