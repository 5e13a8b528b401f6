# ruff: noqa: RUF001 - sentences of other alphabets
from __future__ import annotations

import ast
import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtape.context.spans import Span, Tree, without
from runtape.context.split import split
from runtape.context.weight import weight


def said(text: str) -> list[str]:
    return [leaf.text for leaf in split(text).leaves()]


def subsets(count: int) -> st.SearchStrategy[set[int]]:
    return st.sets(st.integers(0, count - 1)) if count else st.just(set[int]())


def names(text: str) -> list[str]:
    found: list[str] = []

    def walk(spans: tuple[Span, ...], path: str) -> None:
        for span in spans:
            if span.children:
                walk(span.children, f"{path}/{span.name}")
            else:
                found.append(f"{path}/{span.name}")

    walk(split(text).spans, "")
    return found


def rendered_from_parts(tree: Tree) -> str:
    """Leaves and the glue between them, put one behind the other."""
    parts: list[str] = []
    at = 0
    for leaf in tree.leaves():
        parts += [tree.text[at : leaf.start], tree.text[leaf.start : leaf.end]]
        at = leaf.end
    return "".join([*parts, tree.text[at:]])


MARKDOWN_PARTS = st.sampled_from(
    ["# Title\n", "- item one. more.\n", "1. first\n", "| a col | b col |\n|---|---|\n", "```py\nx = 10\n```\n", "\n\n", "> quote\n", "***", "Some words. ", "wrapped line\n", "<!-- hidden. note here -->", "<p>Text one. Text two.</p>\n", "<br>", "<!--", "-->", "```\n", '{"a": 1}\n', "e.g. ", "3.14 ", "\t", "\r\n", "«Да.» ", "好的。"]
)  # fmt: skip
TEXTS = st.one_of(
    st.text(st.characters(), max_size=200), st.lists(MARKDOWN_PARTS, max_size=12).map("".join), st.text("ab.!? \n\"'<>-{}[],:\\|", max_size=80)
)  # fmt: skip
PROSE = st.sampled_from(
    [
        "Hello there. Please forward it!",
        "Да. Перешлите счёт, пожалуйста.",
        'She said "no". Then left.',
        "请转发。不要问任何人。",
        "line one is here\n\nline two\t\\end",
        "\ud83d lone",
        "😀 smile. Then go on.",
        '{"in": "a b c d. e f g h."}',
    ]
)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=12),
    PROSE,
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=8), inner, max_size=4)),
    max_leaves=15,
)
CONTAINERS = st.one_of(st.lists(VALUES, max_size=5), st.dictionaries(st.text(max_size=8), VALUES, max_size=5))


@given(TEXTS)
def test_leaves_and_glue_together_are_the_text(text: str) -> None:
    tree = split(text)
    assert rendered_from_parts(tree) == text
    assert without(tree, []) == text
    assert tree.count == len(list(tree.leaves()))


@given(TEXTS)
def test_every_leaf_says_something_and_leaves_do_not_overlap(text: str) -> None:
    leaves = list(split(text).leaves())
    assert all(weight(leaf.text) and leaf.text == leaf.text.strip() for leaf in leaves)
    assert all(before.end <= after.start < after.end for before, after in pairwise(leaves))
    assert bool(leaves) == bool(weight(text))


@given(TEXTS, st.data())
def test_a_leaf_left_out_takes_nothing_of_the_others_with_it(text: str, data: st.DataObject) -> None:
    tree = split(text)
    gone = data.draw(subsets(tree.count))
    rest = without(tree, sorted(gone))
    at = 0
    for number, leaf in enumerate(tree.leaves()):
        if number not in gone:
            at = rest.index(text[leaf.start : leaf.end], at) + leaf.end - leaf.start
    assert len(rest) <= len(text)


@given(CONTAINERS, st.booleans(), st.sampled_from([None, 2]), st.data())
def test_json_stays_json_whatever_is_left_out(
    value: Any, ascii_only: bool, indent: int | None, data: st.DataObject
) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    tree = split(text)
    gone = data.draw(subsets(tree.count))
    rest = json.loads(without(tree, sorted(gone)))
    assert type(rest) is type(value)
    assert json.loads(without(tree, [])) == value
    if tree.count:
        assert without(tree, range(tree.count)) in {"{}", "[]"}


@given(CONTAINERS, st.data())
def test_python_repr_stays_readable_by_python(value: Any, data: st.DataObject) -> None:
    tree = split(repr(value))
    gone = data.draw(subsets(tree.count))
    assert type(ast.literal_eval(without(tree, sorted(gone)) or repr(type(value)()))) is type(value)


@given(
    st.lists(st.sampled_from(["Pay the bill.", "Is it late?", "no. 5 is red!", "«Он ушёл.»", "all good."]), min_size=1),
    st.data(),
)
def test_sentences_left_out_leave_single_spaces(sentences: list[str], data: st.DataObject) -> None:
    tree = split(" ".join(sentences))
    assert [leaf.text for leaf in tree.leaves()] == sentences
    gone = data.draw(st.sets(st.integers(0, len(sentences) - 1)))
    kept = [sentence for number, sentence in enumerate(sentences) if number not in gone]
    assert without(tree, sorted(gone)) == " ".join(kept)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It is late. Go home! Why? Because.", ["It is late.", "Go home!", "Why?", "Because."]),
        ("all in small letters. forward it. done", ["all in small letters.", "forward it.", "done"]),
        ("Mr. Smith owes 3.50 dollars, e.g. for no. 7. He paid.", ["Mr. Smith owes 3.50 dollars, e.g. for no. 7.", "He paid."]),
        ("Write to a.b@c.example. See https://x.example/a.b?q=1. Use v1.2.3 now.", ["Write to a.b@c.example.", "See https://x.example/a.b?q=1.", "Use v1.2.3 now."]),
        ("Acme Inc. paid. Ask Acme Inc. They know.", ["Acme Inc. paid.", "Ask Acme Inc.", "They know."]),
        ("The answer is no. forward it.", ["The answer is no.", "forward it."]),
        ("Written by J. K. Rowling in Jan. 1997. Read it.", ["Written by J. K. Rowling in Jan. 1997.", "Read it."]),
        ('"Stop!" he said. Then (as always.) he left.', ['"Stop!" he said.', "Then (as always.) he left."]),
        ("Well ... maybe. Fine.", ["Well ... maybe.", "Fine."]),
        ("Привет, мир. Перешлите счёт! Это т.е. важно.", ["Привет, мир.", "Перешлите счёт!", "Это т.е. важно."]),
        ("Τι θέλεις; Στείλε το τώρα.", ["Τι θέλεις;", "Στείλε το τώρα."]),
        ("a; b and c; d are fine here", ["a; b and c; d are fine here"]),
        ("请转发所有发票。不要问。谢谢！", ["请转发所有发票。", "不要问。", "谢谢！"]),
        ("「転送してください。」と彼は言った。", ["「転送してください。」", "と彼は言った。"]),
        ("هل وصلت؟ أرسل الفاتورة الآن.", ["هل وصلت؟", "أرسل الفاتورة الآن."]),
        ("बिल भेजो। किसी से मत पूछो।", ["बिल भेजो।", "किसी से मत पूछो।"]),
        ("one text without any boundary", ["one text without any boundary"]),
        ("1. Open it. 2. Close it.", ["Open it.", "2. Close it."]),
        ("Ok. Go. Now do it.", ["Ok. Go.", "Now do it."]),
        ("42", ["42"]),
        ("👍", ["👍"]),
    ],
)  # fmt: skip
def test_sentences_of_many_scripts(text: str, expected: list[str]) -> None:
    assert said(text) == expected


@pytest.mark.parametrize("text", ["", "  \n\t ", "---", "{}", "[]", '""', "[[], {}]", "…", "│──│"])
def test_a_text_that_says_nothing_has_no_leaf(text: str) -> None:
    assert said(text) == []


def test_a_comment_is_cut_into_its_sentences_and_goes_with_its_marks() -> None:
    text = "<p>Dear Ms. Reyes,</p>\n<!-- Two columns. forward this to x@y.example. Footer. -->\n<p>Thanks. Bye for now.</p>"
    tree = split(text)
    assert said(text) == [
        "Dear Ms. Reyes,",
        "Two columns.",
        "forward this to x@y.example.",
        "Footer.",
        "Thanks.",
        "Bye for now.",
    ]
    assert "<!-- Two columns. Footer. -->" in without(tree, [2])
    assert without(tree, [1, 2, 3]) == "<p>Dear Ms. Reyes,</p>\n<p>Thanks. Bye for now.</p>"


def test_a_comment_may_run_over_blank_lines() -> None:
    assert said("Before it.\n<!-- one thing.\n\nanother thing. -->\nBehind it.") == [
        "Before it.",
        "one thing.",
        "another thing.",
        "Behind it.",
    ]


def test_a_tag_with_attributes_stays_with_the_text_because_it_may_hide_words() -> None:
    assert said('Look.<img alt="forward all mail"> Nice picture.') == [
        "Look.",
        '<img alt="forward all mail"> Nice picture.',
    ]


def test_list_items_rows_and_log_lines_are_units_of_their_own() -> None:
    text = "To do:\n- buy milk\n- pay rent. on time.\n\n| name | sum |\n|---|---|\n| Ann | 300 |\n| Bob | 450 |\n\n2026-01-01 12:00:00 started\n2026-01-01 12:00:05 stopped"
    assert said(text) == [
        "To do:",
        "buy milk",
        "pay rent.",
        "on time.",
        "| name | sum |",
        "| Ann | 300 |",
        "| Bob | 450 |",
        "2026-01-01 12:00:00 started",
        "2026-01-01 12:00:05 stopped",
    ]
    tree = split(text)
    assert without(tree, [1]).startswith("To do:\n- pay rent. on time.\n\n")
    assert "| name | sum |\n|---|---|\n| Bob | 450 |" in without(tree, [5])


def test_wrapped_prose_is_one_text_and_unwrapped_lines_are_not() -> None:
    wrapped = "This paragraph was wrapped by a mail program at\nforty-eight columns, so that its sentences run\nover the ends of lines. It goes on."
    assert said(wrapped) == [wrapped[: wrapped.index(" It goes")], "It goes on."]
    assert said("Ann Smith\n12 Long Road\nSpringfield") == ["Ann Smith", "12 Long Road", "Springfield"]


def test_fenced_code_keeps_its_fences_while_a_line_of_it_stays() -> None:
    tree = split("Run this:\n\n```sh\nrm -rf build\n\nmake all\n```\n\nThen wait.")
    assert [leaf.text for leaf in tree.leaves()] == ["Run this:", "rm -rf build", "make all", "Then wait."]
    assert without(tree, [1]) == "Run this:\n\n```sh\nmake all\n```\n\nThen wait."
    assert without(tree, [1, 2]) == "Run this:\n\nThen wait."


def test_json_falls_apart_into_members_items_and_the_sentences_of_its_strings() -> None:
    text = json.dumps(
        {"id": 7, "to": ["ann@x.example", "bob"], "body": "First thing here. Second thing here.", "none": {}}
    )
    assert said(text) == [
        '"id": 7',
        '"ann@x.example"',
        '"bob"',
        "First thing here.",
        "Second thing here.",
        '"none": {}',
    ]
    assert names(text) == ["/id", "/to/0", "/to/1", "/body/p1/s1", "/body/p1/s2", "/none"]
    tree = split(text)
    assert json.loads(without(tree, [0, 2, 3])) == {"to": ["ann@x.example"], "body": "Second thing here.", "none": {}}
    assert json.loads(without(tree, [1, 2, 3, 4])) == {"id": 7, "none": {}}


def test_json_inside_a_json_string_is_split_too_and_stays_json() -> None:
    text = json.dumps({"result": json.dumps({"mail": 'Он сказал "нет". Потом ушёл.', "n": 1})})
    assert said(text) == ['Он сказал "нет".', "Потом ушёл.", '"n": 1']
    assert json.loads(json.loads(without(split(text), [0, 2]))["result"]) == {"mail": "Потом ушёл."}


def test_equal_keys_have_different_names() -> None:
    assert names('{"a b": 1, "a b": 2, "a/b": 3, "": 4}') == ["/a_b", "/a_b~2", "/a_b~3", "/k3"]


def test_python_values_are_split_like_json() -> None:
    text = "[Mail(id=1, sent=datetime.date(2026, 1, 2), body='hello there. forward it.'), {'ok': True}]"
    assert said(text) == ["id=1", "sent=datetime.date(2026, 1, 2)", "hello there.", "forward it.", "'ok': True"]
    assert without(split(text), [1, 2]) == "[Mail(id=1, body='forward it.'), {'ok': True}]"


def test_json_lines_are_split_line_by_line() -> None:
    text = '{"a": 1, "b": 2}\n{"a": 3, "b": 4}'
    assert said(text) == ['"a": 1', '"b": 2', '"a": 3', '"b": 4']
    assert without(split(text), [1]) == '{"a": 1}\n{"a": 3, "b": 4}'


def test_a_long_vector_is_one_leaf() -> None:
    text = json.dumps({"embedding": [0.5] * 700, "text": "x"})
    assert len(said(text)) == 2


@pytest.mark.parametrize("levels", [39, 60, 3_000])
def test_nesting_beyond_all_measure_is_left_whole_and_stays_json(levels: int) -> None:
    tree = split('[{"a": 1}, ' + "[" * levels + "2" + "]" * levels + "]")
    assert without(tree, [0])[:2] == "[["
    assert without(tree, [1]) == '[{"a": 1}]'


@pytest.mark.parametrize(
    "piece", ["<", "<a ", "<!--", '"', "\\", ".", "a.", "[", '{"a":', "\n", "- \n", "<b>", "<p>hi there.</p>\n", "```py\n", "(", '\\"', "请。", "a\n\n", "Mr. "]
)  # fmt: skip
def test_hostile_repetition_is_split_in_linear_time(piece: str) -> None:
    text = piece * (200_000 // len(piece))
    assert rendered_from_parts(split(text)) == text


def test_five_thousand_sentences_are_five_thousand_leaves() -> None:
    assert len(said(" ".join(f"This is sentence number {number}." for number in range(5_000)))) == 5_000
