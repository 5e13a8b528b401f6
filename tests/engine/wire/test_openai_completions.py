"""Completions, the API before chat: one prompt is a text that can be changed, anything else is sent as it was."""

from __future__ import annotations

from typing import Any

import pytest

from runtape import canon
from runtape.wire.dialect import UnreadableReply
from runtape.wire.dialects import dialect_for
from runtape.wire.values import Parts

COMPLETIONS = dialect_for("completions")


def test_a_prompt_of_one_text_is_the_only_slot() -> None:
    body: dict[str, Any] = {"model": "m", "prompt": "Once", "suffix": "end", "echo": True}
    (slot,) = COMPLETIONS.slots(body)
    assert (slot.kind, slot.text, slot.path) == ("user", "Once", ("prompt",))
    assert COMPLETIONS.put(body, slot, "Twice") == {**body, "prompt": "Twice"}
    assert COMPLETIONS.with_system(body, "Be brief.")["prompt"] == "Be brief.\n\nOnce"


@pytest.mark.parametrize("prompt", [["a", "b"], [1, 2], [[1], [2]], [], None])
def test_other_prompts_stay_as_they_are(prompt: Any) -> None:
    body: dict[str, Any] = {"model": "m", "prompt": prompt}
    assert COMPLETIONS.slots(body) == []
    assert COMPLETIONS.with_system(body, "Be brief.") == body
    assert COMPLETIONS.with_samples(body, 3) is None
    assert COMPLETIONS.join(COMPLETIONS.split(body)) == body


def test_several_answers_are_asked_for_with_n() -> None:
    assert COMPLETIONS.with_samples({"prompt": "a"}, 3) == {"prompt": "a", "n": 3}
    assert COMPLETIONS.with_samples({"prompt": "a"}, 1) == {"prompt": "a"}
    assert COMPLETIONS.with_samples({"prompt": "a", "best_of": 2}, 3) is None


def test_messages_logged_by_hand_become_the_prompt() -> None:
    parts = Parts("m", None, [{"role": "user", "content": "a"}, {"role": "user", "content": "b"}], None, {})
    assert COMPLETIONS.join(parts) == {"model": "m", "prompt": "a\n\nb"}


def test_texts_and_log_probabilities_grow_over_a_stream() -> None:
    def chunk(text: str, reason: str | None) -> Any:
        logprobs = {"tokens": [text], "token_logprobs": [-0.5]}
        return {"choices": [{"index": 0, "text": text, "logprobs": logprobs, "finish_reason": reason}]}

    assembled = COMPLETIONS.assemble([chunk("a", None), chunk("b", "length"), "[DONE]"])
    body: Any = assembled.body
    (choice,) = body["choices"]
    assert choice == {
        "index": 0,
        "text": "ab",
        "finish_reason": "length",
        "logprobs": {"tokens": ["a", "b"], "token_logprobs": [-0.5, -0.5]},
    }


@pytest.mark.parametrize(
    "body", ["{}", '{"choices": []}', '{"choices": [{}]}', '{"choices": ["x"]}', '{"choices": [{"text": null}]}', "[]"]
)
def test_a_broken_answer_is_no_reply(body: str) -> None:
    with pytest.raises(UnreadableReply):
        COMPLETIONS.replies(canon.loads(body))


def test_an_error_in_a_stream_is_kept() -> None:
    error: Any = {"error": {"message": "overloaded"}}
    assert COMPLETIONS.assemble([error]).complete is False
    cut = COMPLETIONS.assemble([{"choices": [{"index": 0, "text": "a"}]}, error])
    assert (cut.body["stream_error"], cut.complete) == (error["error"], False)
    assert COMPLETIONS.streamed(cut.body, complete=False)[-1] == error
