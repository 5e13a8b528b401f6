"""OpenAI completions, the API before chat, which servers of local models still offer."""

from __future__ import annotations

from collections.abc import Iterable

from .bodies import Keys, objects, put_together, sent_again, take_apart
from .content import PARAGRAPH, Place
from .dialect import Assembled, UnreadableReply
from .editing import put
from .reading import answer_in, count, members, spelled, stop_of, text_or_none
from .sse import DONE
from .values import Json, JsonObject, Parts, Reply, Slot, Usage

_KEYS = Keys(messages="prompt", text_input=True)
_IN_ONE = ("id", "created", "model", "system_fingerprint")
"""Keys that every chunk of a stream repeats."""


class OpenAICompletions:
    """`POST /completions`.

    A prompt of one text is the only message, and the only slot. Several prompts in one request, and prompts of token
    numbers, are recorded and sent again as they are, and have no text that can be changed. There is no system prompt:
    one that is set stands as the first paragraph of the prompt.
    """

    api: str = "completions"
    path: str = "/completions"

    def split(self, body: JsonObject) -> Parts:
        """See `Dialect`."""
        if isinstance(body.get("prompt"), str):
            return take_apart(body, _KEYS)
        parts = take_apart({key: value for key, value in body.items() if key != "prompt"}, _KEYS)
        kept: JsonObject = {"prompt": body["prompt"]} if "prompt" in body else {}
        return Parts(parts.model, parts.system, parts.messages, parts.tools, {**parts.params, **kept})

    def join(self, parts: Parts) -> JsonObject:
        """See `Dialect`; messages of a call logged by hand become the paragraphs of the prompt."""
        said = [text for _, message in objects(parts.messages) if isinstance(text := message.get("content"), str)]
        messages: list[Json] = [PARAGRAPH.join(said)] if said and len(said) == len(parts.messages) else parts.messages
        return put_together(Parts(parts.model, parts.system, messages, parts.tools, parts.params), _KEYS)

    def slots(self, body: JsonObject) -> list[Slot]:
        """See `Dialect`."""
        prompt = body.get("prompt")
        return [Place(("prompt",), "user", 0).slot(0, prompt)] if isinstance(prompt, str) else []

    def put(self, body: JsonObject, slot: Slot, text: str) -> JsonObject:
        """See `Dialect`."""
        return put(body, slot, text)

    def system_text(self, body: JsonObject) -> str | None:  # noqa: ARG002 -- as in `Dialect`
        """See `Dialect`."""
        return None

    def with_system(self, body: JsonObject, text: str) -> JsonObject:
        """See `Dialect`; a request of several prompts, or of token numbers, stays as it is."""
        prompt = body.get("prompt", "")
        if not isinstance(prompt, str):
            return dict(body)
        return {**body, "prompt": f"{text}{PARAGRAPH}{prompt}" if prompt else text}

    def replies(self, body: Json) -> list[Reply]:
        """See `Dialect`."""
        answer = answer_in(body)
        choices = answer.get("choices")
        if not isinstance(choices, list) or not choices:
            raise UnreadableReply("the response has no choices")
        return [_reply(choice, answer) for choice in choices]

    def assemble(self, events: Iterable[Json]) -> Assembled:
        """See `Dialect`."""
        body: JsonObject = {"object": "text_completion"}
        choices: dict[int, JsonObject] = {}
        done = False
        for event in events:
            done = done or event == DONE
            chunk = members(event)
            error = chunk.get("error")
            if error and not choices:
                return Assembled({**body, **chunk}, complete=False)
            if error:
                body["stream_error"] = error
            body.update({key: value for key, value in chunk.items() if key not in ("choices", "error")})
            for _, piece in objects(chunk.get("choices")):
                index = piece.get("index")
                _add(choices.setdefault(index if isinstance(index, int) else 0, {}), piece)
        body["choices"] = [
            {"text": "", "index": index, "finish_reason": None, **choices[index]} for index in sorted(choices)
        ]
        ended = done or bool(choices and all(choice.get("finish_reason") for choice in choices.values()))
        return Assembled(body, complete=ended and "stream_error" not in body)

    def streamed(self, body: JsonObject, *, complete: bool) -> list[Json]:
        """See `Dialect`."""
        head: JsonObject = {"object": "text_completion", **{key: body[key] for key in _IN_ONE if key in body}}
        rest = {key: value for key, value in body.items() if key not in (*head, "choices", "stream_error")}
        found: list[Json] = [{**head, "choices": [choice]} for _, choice in objects(body.get("choices"))]
        if rest:
            found.append({**head, "choices": [], **rest})
        if "stream_error" in body:
            found.append({"error": body["stream_error"]})
        return [*found, DONE] if complete else found

    def for_rerun(self, body: JsonObject) -> tuple[JsonObject, tuple[str, ...]]:
        """See `Dialect`."""
        return sent_again(body)

    def with_samples(self, body: JsonObject, n: int) -> JsonObject | None:
        """See `Dialect`; None for several prompts, and where only the best of several answers is asked for."""
        if n == 1 and "n" not in body:
            return dict(body)
        return {**body, "n": n} if isinstance(body.get("prompt", ""), str) and "best_of" not in body else None


def _add(choice: JsonObject, piece: JsonObject) -> None:
    for key, value in piece.items():
        before = choice.get(key)
        if key == "text" and isinstance(before, str) and isinstance(value, str):
            choice[key] = before + value
        elif key == "logprobs" and isinstance(before, dict) and isinstance(value, dict):
            choice[key] = {**before, **{name: _sum(before.get(name), more) for name, more in value.items()}}
        elif value is not None or key not in choice:
            choice[key] = value


def _sum(before: Json, more: Json) -> Json:
    return [*before, *more] if isinstance(before, list) and isinstance(more, list) else more


def _reply(choice: Json, answer: JsonObject) -> Reply:
    text = choice.get("text") if isinstance(choice, dict) else None
    if not isinstance(choice, dict) or not isinstance(text, str):
        raise UnreadableReply(f"a choice holds {spelled(text)} in place of a text")
    usage = members(answer.get("usage"))
    reason = choice.get("finish_reason")
    return Reply(
        text=text,
        stop=stop_of(reason),
        stop_reason=text_or_none(reason),
        model=text_or_none(answer.get("model")),
        id=text_or_none(answer.get("id")),
        usage=Usage(
            input=count(usage.get("prompt_tokens")),
            output=count(usage.get("completion_tokens")),
            cached=count(members(usage.get("prompt_tokens_details")).get("cached_tokens")),
        ),
    )
