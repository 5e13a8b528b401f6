"""OpenAI's Batch API: a file of requests in, files of results and errors out.

https://platform.openai.com/docs/guides/batch: POST /files with the purpose `batch`, POST /batches, GET /batches/ID
until it has ended, GET /files/ID/content. A batch of one model, 50,000 requests and 200 MB at most, done within a
day.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .. import canon
from ..wire.values import Json, JsonObject
from .batch_service import Item, State, answer_of, count, error_body, lines_of, name_in
from .endpoint import Endpoint
from .failures import Exchange
from .sdk_clients import Client

OURS = "runtape"
"""Key in the metadata of a batch, where our name of it stands."""

ENDED = ("completed", "failed", "expired", "cancelled")

STATUS_OF = {"token_limit_exceeded": 429, "rate_limit_exceeded": 429, "model_not_found": 404, "invalid_api_key": 401}
"""Status that the model's own API would answer with, by the code of an error; 400 for others."""

NOT_RUN = 408
"""A request that the batch ended without: expired or cancelled."""

PAGES = 20
"""Pages of 100 batches that are looked through for one."""

EARLIER = 3600.0
"""Seconds that the server's clock may be behind ours."""


class OpenAIBatches:
    """See `BatchService`."""

    most = 50_000
    largest = 190_000_000
    one_model = True

    def __init__(self, client: Client, endpoint: Endpoint, path: str) -> None:
        """`path`: that of the API that answers the requests, such as `/chat/completions`."""
        self._client = client
        self._endpoint = endpoint
        self._url = f"/v1{path}"

    async def submit(self, batch: str, items: Sequence[Item]) -> str:
        """See `BatchService.submit`."""
        lines = [
            canon.dumps({"custom_id": item.name, "method": "POST", "url": self._url, "body": item.body})
            for item in items
        ]
        sent = await self._client.upload("/files", {"purpose": "batch"}, f"{batch}.jsonl", b"\n".join(lines) + b"\n")
        file = name_in(answer_of(sent, self._endpoint, "/files"), "id", self._endpoint)
        wanted: JsonObject = {
            "input_file_id": file,
            "endpoint": self._url,
            "completion_window": "24h",
            "metadata": {OURS: batch},
        }
        taken = await self._client.post(canon.dumps(wanted), "/batches", once=True)
        return name_in(answer_of(taken, self._endpoint, "/batches"), "id", self._endpoint)

    async def candidates(self, batch: str, requests: int, at: float) -> list[str]:  # noqa: ARG002 - the metadata tells
        """See `BatchService.candidates`."""
        path = "/batches?limit=100"
        for _ in range(PAGES):
            page = answer_of(await self._client.get(path), self._endpoint, "/batches")
            found = page.get("data")
            listed = [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
            for one in listed:
                metadata = one.get("metadata")
                if isinstance(metadata, dict) and metadata.get(OURS) == batch:
                    return [name_in(one, "id", self._endpoint)]
            created = listed[-1].get("created_at") if listed else None
            if not page.get("has_more") or not isinstance(created, (int, float)) or created < at - EARLIER:
                return []
            path = f"/batches?limit=100&after={name_in(listed[-1], 'id', self._endpoint)}"
        return []

    async def state(self, remote: str) -> State:
        """See `BatchService.state`."""
        path = f"/batches/{remote}"
        told = answer_of(await self._client.get(path), self._endpoint, path)
        counts = told.get("request_counts")
        files = [name_in(told, key, self._endpoint) for key in ("output_file_id", "error_file_id") if told.get(key)]
        return State(
            remote,
            told.get("status") in ENDED,
            count(counts, "completed", "failed"),
            count(counts, "total"),
            tuple(f"/files/{file}/content" for file in files),
            _refused(told) if told.get("status") == "failed" else None,
        )

    async def results(self, state: State) -> Mapping[str, Exchange]:
        """See `BatchService.results`."""
        found: dict[str, Exchange] = {}
        for path in state.outputs:
            for line in lines_of(await self._client.get(path)):
                name = line.get("custom_id")
                # Of two lines for one request an answer counts, not an error.
                if isinstance(name, str) and not (name in found and found[name].status < 300):
                    found[name] = _exchange(line)
        return found


def _exchange(line: JsonObject) -> Exchange:
    """What the model's own API would have answered."""
    response, error = line.get("response"), line.get("error")
    status = response.get("status_code") if isinstance(response, dict) else None
    if isinstance(response, dict) and isinstance(status, int):
        return Exchange(status, {}, canon.dumps(response.get("body")))
    told = error if isinstance(error, dict) else {}
    return Exchange(_status(told.get("code"), NOT_RUN), {}, error_body(told.get("message"), told.get("code")))


def _refused(told: JsonObject) -> Exchange:
    errors = told.get("errors")
    data = errors.get("data") if isinstance(errors, dict) else None
    first = data[0] if isinstance(data, list) and data else None
    error = first if isinstance(first, dict) else {}
    message = error.get("message") or "the batch failed, and the server does not say why"
    return Exchange(_status(error.get("code"), 400), {}, error_body(message, error.get("code")))


def _status(code: Json, otherwise: int) -> int:
    return STATUS_OF.get(code, otherwise) if isinstance(code, str) else otherwise
