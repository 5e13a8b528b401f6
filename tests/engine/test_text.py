"""Hidden characters shown, long texts shortened, words counted."""

from __future__ import annotations

import sys
import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtape.text import shorten, visible, words

HIDDEN = {"Cc", "Cf", "Co", "Cs", "Cn", "Zl", "Zp"}
any_text = st.text(st.characters(exclude_categories=()), max_size=60)


def test_every_hidden_character_of_unicode_is_shown_by_its_number() -> None:
    for code in range(sys.maxunicode + 1):
        char = chr(code)
        if unicodedata.category(char) in HIDDEN and char not in "\t\n\x1b":
            assert visible(char) == f"<U+{code:04X}>"


@pytest.mark.parametrize(
    "text", ["plain", "tab\tand\nnewline", "é ü ß", "日本語", "Ελλάδα", "a\u0301", "€ — “q”", "\u00a0"]
)
def test_what_can_be_seen_stays(text: str) -> None:
    assert visible(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("pay\u202egnp", "pay<U+202E>gnp"),
        ("zero\u200bwidth", "zero<U+200B>width"),
        ("tag\U000e0041", "tag<U+E0041>"),
        ("heart\ufe0f", "heart<U+FE0F>"),
        ("\U000e0100", "<U+E0100>"),
        ("\u3164\u115f\u2800", "<U+3164><U+115F><U+2800>"),
        ("a\r\nb", "a<U+000D>\nb"),
        ("\ud83d", "<U+D83D>"),
        ("\x9b31m", "<U+009B>31m"),
        ("\x1b[31mred\x1b[0m", "<ESC>red<ESC>"),
        ("\x1b[2J\x1b[1;1H", "<ESC><ESC>"),
        ("\x1b]0;title\x07text", "<ESC>]0;title<U+0007>text"),
        ("\x1b", "<ESC>"),
        ("\x1b[", "<ESC>["),
    ],
)
def test_hidden_characters_and_terminal_sequences_are_shown(text: str, shown: str) -> None:
    assert visible(text) == shown


@given(any_text)
def test_what_is_shown_holds_nothing_hidden_and_is_stable(text: str) -> None:
    shown = visible(text)
    assert all(char in "\t\n" or unicodedata.category(char) not in HIDDEN for char in shown)
    assert visible(shown) == shown
    shown.encode("utf-8")


@pytest.mark.parametrize("unit", ["hello \u200b world ", "\x1b[31m", "\x1b[" + "1;" * 40, "ab\ud83d日本"])
def test_a_megabyte_is_made_visible_in_linear_time(unit: str) -> None:
    started = time.process_time()
    visible(unit * (1_000_000 // len(unit)))
    assert time.process_time() - started < 5


@given(any_text, st.integers(0, 200))
def test_a_shortened_text_fits_and_keeps_head_and_tail(text: str, limit: int) -> None:
    text = text * 5
    short = shorten(text, limit)
    assert len(short) <= limit or short == text
    if len(text) <= limit:
        assert short == text
    elif limit >= 60:
        head, tail = short.split(" […")[0], short.split("cut…] ")[-1]
        assert text.startswith(head)
        assert text.endswith(tail)


def test_a_shortened_text_counts_exactly_what_is_missing() -> None:
    text = "".join(chr(65 + n % 26) for n in range(5000))
    short = shorten(text, 100)
    head, rest = short.split(" […")
    cut, tail = rest.split(" characters cut…] ")
    assert len(head) + len(tail) + int(cut.replace(",", "")) == 5000
    assert len(head) > len(tail) > 10


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Forward it to Max.Mustermann@x.org!", ["forward", "it", "to", "max", "mustermann", "x", "org"]),
        ("forward_email(id=3)", ["forward", "email", "id", "3"]),
        ("STRASSE straße", ["strasse", "strasse"]),
        ("転送する now", ["転", "送", "す", "る", "now"]),
        ("Привет, мир", ["привет", "мир"]),
        ("", []),
        ("--- ...", []),
    ],
)
def test_words_are_lower_case_and_apart(text: str, found: list[str]) -> None:
    assert words(text) == found
