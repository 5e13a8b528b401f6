"""Calls to the API before chat are recorded, played back, and can be made again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import openai
import pytest
from loopback import Answer, Loopback, Received, sse
from provider import bodies, the_reply
from sdk_http import only_new

import runtape
from runtape import aio

HEAD = {"id": "cmpl-1", "object": "text_completion", "created": 1, "model": "m"}


def choice(text: str, reason: str | None, index: int = 0) -> dict[str, Any]:
    return {"text": text, "index": index, "logprobs": None, "finish_reason": reason}


def complete(received: Received) -> Answer:
    if received.path.endswith("/embeddings"):
        return Answer({"object": "list", "data": [], "model": "m", "usage": {"prompt_tokens": 1, "total_tokens": 1}})
    if received.body.get("stream"):
        pieces = [choice("upon ", None), choice("a time", None), choice("", "stop")]
        return Answer(chunks=sse(*({**HEAD, "choices": [piece]} for piece in pieces)))
    several = range(received.body.get("n", 1))
    usage = {"prompt_tokens": 1, "completion_tokens": 3, "total_tokens": 4}
    return Answer({**HEAD, "choices": [choice("upon a time", "stop", index) for index in several], "usage": usage})


def tell(client: openai.OpenAI, *, stream: bool) -> str:
    if not stream:
        return client.completions.create(model="m", prompt="Once", max_tokens=9).choices[0].text
    events = client.completions.create(model="m", prompt="Once", max_tokens=9, stream=True)
    return "".join(event.choices[0].text for event in events)


@pytest.mark.parametrize("stream", [False, True])
def test_a_completion_is_recorded_and_played_back(tmp_path: Path, stream: bool) -> None:
    with Loopback(complete) as server, runtape.record(tmp_path / "t.jsonl") as rec:
        with openai.OpenAI(base_url=server.url, api_key="k", max_retries=0) as client:
            assert tell(rec.wrap(client), stream=stream) == "upon a time"
            client.embeddings.create(model="m", input="x", encoding_format="float")
        assert bodies(rec.path) == [server.requests[0].body]
    reply = the_reply(rec.path)
    assert (reply.payload["text"], reply.payload["stop_reason"]) == ("upon a time", "stop")
    with (
        openai.OpenAI(base_url="http://127.0.0.1:9/v1", api_key="k", max_retries=0) as client,
        runtape.replay(rec.path) as replayed,
    ):
        assert tell(replayed.wrap(client), stream=stream) == "upon a time"


@pytest.mark.anyio
@only_new
async def test_a_completion_can_be_made_again(tmp_path: Path) -> None:
    with Loopback(complete) as server:
        with runtape.record(tmp_path / "t.jsonl") as rec, openai.OpenAI(base_url=server.url, api_key="k") as client:
            tell(rec.wrap(client), stream=False)
        await aio.rerun(rec.path, "last", runs=2, cache_dir=None)
        again = server.requests[1:]
    assert {request.path for request in again} == {"/v1/completions"}
    assert sum(request.body.get("n", 1) for request in again) == 2
    assert all(request.body["prompt"] == "Once" for request in again)
