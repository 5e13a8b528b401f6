from __future__ import annotations

import re
import warnings

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from runtape.decision.choose import choose
from runtape.decision.pattern import compiled, is_found
from runtape.errors import BadInput
from runtape.wire.values import Reply


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("(a", r"'\(a' is no regular expression: missing \) at position 2"),
        ("a[", "unterminated character set at position 2"),
        ("a**", "multiple repeat at position 2"),
        ("\\", "bad escape"),
        ("", "empty pattern matches everything"),
        ("(" * 5000 + ")" * 5000, "no regular expression"),
        ("a{99999999999}", "demands more than 100000 repetitions"),
        ("((a{1000}){1000}){1000}", "demands more than 100000 repetitions"),
    ],
)
def test_a_bad_pattern_is_refused_with_the_reason_and_the_place(pattern: str, reason: str) -> None:
    with pytest.raises(BadInput, match=reason):
        choose(Reply("aaa", stop="end"), match=pattern, event=9)


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("(a|a)+$", "a" * 60 + "!"),
        ("(a|aa)+$", "a" * 200 + "!"),
        ("(.*)\\1\\1\\1$", "a" * 100_000),
        ("(?s)<.*>.*</.*>", "<" * 200_000),
    ],
)
def test_a_search_that_would_go_on_is_ended_and_names_its_pattern(pattern: str, text: str) -> None:
    with pytest.raises(BadInput, match=rf"{re.escape(repr(pattern))} took more than 0\.25 seconds on a text of"):
        choose(Reply(text, stop="end"), match=pattern, event=9)


@pytest.mark.parametrize(
    "pattern",
    [
        "(foo|bar)+",
        "(a+)+",
        "(a+){10}|foo",
        "a+b*c{2,}",
        r"\d{10}.{0,200}\d{10}|foo",
        r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|foo",
    ],
)
def test_repetitions_are_accepted(pattern: str) -> None:
    assert is_found(compiled(pattern), "foo aabbcc (aa) aaaaaa ] (a")


PIECES = r"""a b é . x ( ) [ ] ^ $ | * + ? { } {2} {1,} {,2} {e} {i<=1} {s {, 1 , \{ \\ \d \b \N{DIGIT#ONE} (?: (?i) (?= - {"a":"""
pieces = st.sampled_from(PIECES.split())


@given(
    st.lists(pieces, min_size=1, max_size=7).map(lambda some: "".join(some).replace("#", " ")),
    st.text("aAbéx12{}e,<=is\\\"':-[]", max_size=12),
)
@example("x{e}", "x")
@example("{e}", "{e}")
@example(r"\\{e}", "\\{e}")
def test_a_pattern_means_what_it_means_in_re(pattern: str, text: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            expected = re.search(pattern, text) is not None
        except re.error:
            assume(False)
    assert is_found(compiled(pattern), text) is expected


def test_equal_patterns_are_equal_and_hashable() -> None:
    assert compiled("a+") == compiled("a+") != compiled("a")
    assert len({compiled("a+"), compiled("a+")}) == 1
