"""Cassettes of VCR.py and of libraries that write its form, in YAML or JSON."""

from __future__ import annotations

import base64
import importlib
from collections.abc import Iterator
from typing import Any, Final

from ...canon import dumps
from ...errors import BadInput
from ...jsonable import jsonable
from ...wire.reading import members
from ...wire.values import Json, JsonObject
from .. import raw
from ..each_file import one_by_one
from ..imported import ImportedCall, ImportedRun, Skipped
from ..moments import seconds
from ..registry import Format
from ..source import Sample, Source

_INTERACTIONS: Final = ("interactions", "http_interactions")
"""As VCR.py and as VCR of Ruby call their list."""
_HEADINGS: Final = tuple(f"{name}:".encode() for name in _INTERACTIONS)
_HOLDER: Final = 3
"""Most members of an object that holds a body; one with more is the JSON of a body itself."""


def recognise(sample: Sample) -> str | None:
    """See `Format`."""
    head = sample.head.lstrip()
    if head[:1] == b"{":
        if any(name in value for value in sample.objects[:1] for name in _INTERACTIONS):
            return "it is an object with `interactions`"
        return None
    if any(line.startswith(_HEADINGS) for line in head.split(b"\n")[:200]):
        return "it is YAML with `interactions`"
    return None


def read_one(source: Source) -> Iterator[ImportedRun | Skipped]:
    """See `Format`: a cassette is a run, in the order of its interactions."""
    calls: list[ImportedCall] = []
    for number, value in enumerate(_interactions(source), 1):
        found = value if isinstance(value, Skipped) else _interaction(f"interaction {number}", members(value))
        if isinstance(found, Skipped):
            yield found
        else:
            calls.append(found)
    if calls:
        yield ImportedRun(source.name.rpartition("/")[2], calls, calls[0].started)


def _interactions(source: Source) -> Iterator[Json | Skipped]:
    if source.sample.head.lstrip()[:1] == b"{":
        for record in source.records(_INTERACTIONS):
            if record.problem is not None:
                yield Skipped(f"{source.name}, {record.place}", record.problem)
            elif record.within in _INTERACTIONS:
                yield record.value
        return
    for document in _yaml(source):
        for name in _INTERACTIONS:
            listed = document.get(name) if isinstance(document, dict) else None
            yield from listed if isinstance(listed, list) else ()


def _yaml(source: Source) -> list[Json]:
    try:
        yaml: Any = importlib.import_module("yaml")
    except ImportError as error:
        raise BadInput(
            f"{source.name!r} is YAML, which needs PyYAML: pip install 'runtape-mcp[yaml]', then import it again"
        ) from error
    try:
        return [jsonable(document) for document in yaml.safe_load_all(source.text())]
    except yaml.YAMLError as error:
        raise BadInput(f"{source.name!r} is no YAML that can be read: {error}") from error


def _interaction(place: str, interaction: JsonObject) -> ImportedCall | Skipped:
    request, response = members(interaction.get("request")), members(interaction.get("response"))
    url = request.get("uri") or request.get("url")
    if not isinstance(url, str) or str(request.get("method", "POST")).upper() != "POST":
        return Skipped(place, raw.NO_CALL, notable=False)
    status = response.get("status")
    code = members(status).get("code") if isinstance(status, dict) else response.get("status_code", status)
    return raw.exchange(
        place,
        url,
        _body(request),
        _body(response),
        status=code if isinstance(code, int) else None,
        started=seconds(interaction.get("recorded_at")),
    )


def _body(message: JsonObject) -> bytes:
    """The body of a request or a response; `parsed_body` is how pydantic-ai's cassettes hold JSON."""
    return next((_bytes(message[key]) for key in ("body", "content", "parsed_body") if message.get(key)), b"")


def _bytes(body: Json) -> bytes:
    """A body as text, as `{string}`, as `{base64_string}`, or as the JSON that it spelled."""
    if isinstance(body, dict) and len(body) <= _HOLDER:
        for key in ("string", "base64_string", "$bytes"):
            held = body.get(key)
            if isinstance(held, str):
                data = held.encode("utf-8", "surrogatepass") if key == "string" else base64.b64decode(held)
                return raw.unzipped(data)
            if isinstance(held, dict):
                return _bytes(held)
    if isinstance(body, str):
        return body.encode("utf-8", "surrogatepass")
    return b"" if body is None else dumps(body)


FORMAT = Format("vcr", "VCR cassette", "`interactions` in YAML or JSON", recognise, one_by_one(read_one))
