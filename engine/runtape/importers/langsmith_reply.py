"""The outputs of one LangSmith run as a response body."""

from __future__ import annotations

from collections.abc import Iterator

from ..wire.reading import members
from ..wire.values import Json, JsonObject
from .messages import heard
from .replies import Choice, reply_body, usage_of


def reply_of(outputs: JsonObject, api: str, model: Json, index: int = 0) -> Json:
    """The reply to one request of a run, with every choice that it has."""
    prompts = outputs.get("generations")
    generations: Json = None
    if isinstance(prompts, list) and index < len(prompts):
        generations = prompts[index] if isinstance(prompts[index], list) else prompts
    told = [members(generation) for generation in generations] if isinstance(generations, list) else []
    answers = [answer for each in told for answer in _answers(each.get("message") or each.get("text"), each)]
    if not answers:
        whole = outputs.get("message") or (outputs if "content" in outputs or "role" in outputs else None)
        answers = list(_answers(whole, {}))
    if not answers:
        return None
    inner = members(members(told[0].get("message")).get("kwargs")) if told else {}
    about = members(inner.get("response_metadata")) or (members(told[0].get("generation_info")) if told else {})
    usage = members(inner.get("usage_metadata"))
    return reply_body(
        api,
        *answers,
        model=about.get("model_name") or about.get("model") or model,
        id=about.get("id"),
        usage=usage_of(api, usage.get("input_tokens"), usage.get("output_tokens")),
    )


def _answers(message: Json, generation: JsonObject) -> Iterator[Choice]:
    if message is None:
        return
    inner = members(members(message).get("kwargs"))
    about = members(inner.get("response_metadata")) or members(generation.get("generation_info"))
    for answer in heard([message]).messages[-1:]:
        yield Choice({**answer, "role": "assistant"}, about.get("finish_reason") or about.get("stop_reason"))
