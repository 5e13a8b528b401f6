from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtape.context.marking import BEGIN, BETWEEN, END, STYLES, Style, explanation, marked

PARTS = st.lists(st.sampled_from([BEGIN, END, "<<<", ">>>", "tool result", "end of ", "a", " "]), max_size=12)


@given(PARTS.map("".join))
def test_no_text_can_end_its_delimiters(text: str) -> None:
    lines = marked(text, "delimiters")

    assert lines.startswith(f"{BEGIN}\n")
    assert lines.endswith(f"\n{END}")
    assert lines.count(BEGIN) == lines.count(END) == 1


def test_datamarking_leaves_no_space_and_keeps_the_rest() -> None:
    assert marked("pay it  now\nplease do", "datamarking") == f"pay{BETWEEN}it{BETWEEN}{BETWEEN}now\nplease{BETWEEN}do"


@pytest.mark.parametrize("style", STYLES)
def test_the_explanation_shows_the_marks(style: Style) -> None:
    assert (BETWEEN if style == "datamarking" else BEGIN) in explanation(style)
