"""Long texts are stored once, and every payload comes back as it was."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtape import canon
from runtape.errors import BrokenRequest
from runtape.trace.packing import Packer, text_in, unpacked

PARAGRAPH = "".join(
    f"Rule {number}: the agent keeps to rule {number} in every case, whoever asks.\n" for number in range(40)
)


def written(payloads: list[Any]) -> tuple[list[Any], list[Any]]:
    """The payloads as they stand in a file, and as they are read back from it."""
    packer, stored = Packer(), []
    for event, payload in enumerate(payloads):
        packed, _ = packer.pack(payload)
        packer.remember(event)
        stored.append(canon.loads(canon.dumps(packed)))
    back: list[Any] = []

    def text_at(event: int, path: Any) -> str:
        return text_in(back[event], event, path)

    for packed in stored:
        back.append(unpacked(packed, text_at))  # noqa: PERF401 -- later ones read those before them
    return stored, back


words = st.lists(
    st.sampled_from([PARAGRAPH[:700], PARAGRAPH, "x" * 500, "é\ud83d\n" * 200, "A. ", "b\n"]), max_size=5
).map("".join)
payloads = st.recursive(
    words | st.integers() | st.none(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "b", "$text"]), inner, max_size=3)
    ),
    max_leaves=5,
)


@given(st.lists(st.dictionaries(st.sampled_from(["m", "n"]), payloads, max_size=2), max_size=8))
def test_any_payloads_come_back_as_they_were(sent: list[Any]) -> None:
    _, back = written(sent)
    assert canon.dumps(back) == canon.dumps(sent)


@given(st.lists(st.tuples(st.integers(0, 2800), st.integers(0, 60), st.text(max_size=30)), max_size=60))
def test_any_chain_of_edits_comes_back(edits: list[tuple[int, int, str]]) -> None:
    texts = [PARAGRAPH]
    for at, size, new in edits:
        texts.append(texts[-1][:at] + new + texts[-1][at + size :])
    sent = [{"system": text} for text in texts]
    _, back = written(sent)
    assert back == sent


def test_a_prompt_that_changes_every_turn_is_stored_as_its_changes() -> None:
    prompts = [{"system": f"The time is {turn}.\n{PARAGRAPH}Notes so far: {'x, ' * turn}\n"} for turn in range(300)]
    stored, back = written(prompts)
    assert back == prompts
    assert len(canon.dumps(stored)) < len(canon.dumps(prompts)) / 15


def test_an_image_is_stored_once() -> None:
    image = "data:image/png;base64," + "iVBORw0KGgo" * 10_000
    stored, back = written([{"messages": [{"content": [{"url": image}]}, turn]} for turn in range(20)])
    assert len(canon.dumps(stored)) < len(image) * 1.1
    assert back[19]["messages"][0]["content"][0]["url"] == image


@pytest.mark.parametrize(
    "reference",
    [[0, ["nothing"], [[0, 1]]], [0, ["a"], [[0, 10**9]]], [0, ["a"], [{}]], [0, ["a"], [[3, 1]]], [0, [], []]],
)
def test_a_reference_that_leads_nowhere_is_an_error(reference: Any) -> None:
    with pytest.raises(BrokenRequest):
        unpacked({"x": {"$text": reference}}, lambda event, path: text_in({"a": "text"}, event, path))
