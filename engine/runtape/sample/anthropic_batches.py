"""Anthropic's Message Batches API.

https://docs.claude.com/en/docs/build-with-claude/batch-processing: POST /v1/messages/batches, GET the same path
and the id until `processing_status` is `ended`, then its `/results`. A batch of 100,000 requests and 256 MB at most,
done within 24 hours; a `custom_id` has at most 64 characters (anthropics/anthropic-sdk-python#984).

A batch carries no metadata, so one whose submission was not confirmed is known by the names of its requests, which
stand in its results.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from .. import canon
from ..wire.values import Json
from .batch_service import Item, State, answer_of, count, error_body, lines_of, name_in
from .endpoint import Endpoint
from .failures import Exchange
from .sdk_clients import Client

PATH = "/v1/messages/batches"

DONE = ("succeeded", "errored", "canceled", "expired")

STATUS_OF = {
    "invalid_request": 400,
    "authentication": 401,
    "billing": 402,
    "permission": 403,
    "not_found": 404,
    "request_too_large": 413,
    "rate_limit": 429,
    "timeout": 504,
    "api": 500,
    "overloaded": 529,
}
"""Status that the model's own API would answer with, by the type of an error without its ending `_error`
(https://docs.claude.com/en/api/errors)."""

NOT_RUN = 408
"""A request that the batch ended without: expired or cancelled."""

PAGES = 20
"""Pages of 100 batches that are looked through for one."""

AROUND = 3600.0
"""Seconds that the server's clock and ours may be apart."""


class AnthropicBatches:
    """See `BatchService`."""

    most = 100_000
    largest = 240_000_000
    one_model = False

    def __init__(self, client: Client, endpoint: Endpoint) -> None:
        self._client = client
        self._endpoint = endpoint

    async def submit(self, batch: str, items: Sequence[Item]) -> str:  # noqa: ARG002 - the items carry its name
        """See `BatchService.submit`."""
        requests: Json = [{"custom_id": item.name, "params": item.body} for item in items]
        taken = await self._client.post(canon.dumps({"requests": requests}), PATH, once=True)
        return name_in(answer_of(taken, self._endpoint, PATH), "id", self._endpoint)

    async def candidates(self, batch: str, requests: int, at: float) -> list[str]:  # noqa: ARG002 - results tell
        """See `BatchService.candidates`."""
        names: list[str] = []
        path = f"{PATH}?limit=100"
        for _ in range(PAGES):
            page = answer_of(await self._client.get(path), self._endpoint, PATH)
            found = page.get("data")
            listed = [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
            created = [_time(one.get("created_at")) for one in listed]
            names += [
                name_in(one, "id", self._endpoint)
                for one, when in zip(listed, created, strict=True)
                if abs(when - at) < AROUND and count(one.get("request_counts"), "processing", *DONE) == requests
            ]
            if not page.get("has_more") or not listed or created[-1] < at - AROUND:
                break
            path = f"{PATH}?limit=100&after_id={name_in(listed[-1], 'id', self._endpoint)}"
        return names

    async def state(self, remote: str) -> State:
        """See `BatchService.state`."""
        path = f"{PATH}/{remote}"
        told = answer_of(await self._client.get(path), self._endpoint, path)
        counts = told.get("request_counts")
        return State(
            remote,
            told.get("processing_status") == "ended",
            count(counts, *DONE),
            count(counts, "processing", *DONE),
            # Not the results_url of the answer: the key goes to no address that a server names.
            (f"{path}/results",),
        )

    async def results(self, state: State) -> Mapping[str, Exchange]:
        """See `BatchService.results`."""
        found: dict[str, Exchange] = {}
        for path in state.outputs:
            for line in lines_of(await self._client.get(path)):
                name = line.get("custom_id")
                # Of two lines for one request an answer counts, not an error.
                if isinstance(name, str) and not (name in found and found[name].status < 300):
                    found[name] = _exchange(line.get("result"))
        return found


def _exchange(result: Json) -> Exchange:
    """What the model's own API would have answered."""
    told = result if isinstance(result, dict) else {}
    if told.get("type") == "succeeded":
        return Exchange(200, {}, canon.dumps(told.get("message")))
    outer = told.get("error")
    inner = outer.get("error") if isinstance(outer, dict) else None
    error = inner if isinstance(inner, dict) else outer if isinstance(outer, dict) else None
    if error is None:
        return Exchange(NOT_RUN, {}, error_body(f"this request of the batch is {told.get('type')}", None))
    kind = error.get("type")
    status = STATUS_OF.get(kind.removesuffix("_error"), 500) if isinstance(kind, str) else 500
    return Exchange(status, {}, error_body(error.get("message"), kind))


def _time(created: Json) -> float:
    """Seconds since 1970; 0 where it is not said."""
    try:
        return datetime.fromisoformat(str(created).replace("Z", "+00:00")).timestamp()
    except ValueError:
        return 0.0
