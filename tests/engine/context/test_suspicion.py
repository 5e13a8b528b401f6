# ruff: noqa: RUF001 - sentences of other alphabets
from __future__ import annotations

import math
from statistics import fmean, pstdev

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtape.context.build import build
from runtape.context.duplicates import near_duplicates
from runtape.context.pieces import Context
from runtape.context.suspicion import suspicion
from runtape.wire.values import Request


def context_of(*texts: str) -> Context:
    return build(
        Request("any", "chat.completions", None, {"messages": [{"role": "user", "content": text} for text in texts]}),
        (),
    )


def first(texts: list[str], decision: str) -> str:
    context = context_of(*texts)
    scores = suspicion(context, decision)
    return context.pieces[context.leaves[scores.index(max(scores))]].text


FILLER = [f"Sentence number {number} is about gardens and tea" for number in range(30)]
WORDS = st.sampled_from(
    ["pay", "forward", "the", "invoice", "to", "ledger@x.example", "now", "2400", "please", "garden"]
)
TEXTS = st.lists(st.lists(WORDS, min_size=2, max_size=8).map(" ".join), min_size=1, max_size=12)


@given(TEXTS, st.text(max_size=40))
def test_scores_are_standardised_over_the_leaves(texts: list[str], decision: str) -> None:
    context = context_of(*texts)
    scores = suspicion(context, decision + " forward")
    assert len(scores) == len(context.leaves)
    assert math.isclose(fmean(scores), 0, abs_tol=1e-9)
    assert any(scores) == math.isclose(pstdev(scores), 1, abs_tol=1e-9)


def test_a_decision_that_shares_no_word_says_nothing() -> None:
    assert suspicion(context_of(*FILLER), "xyzzy") == [0.0] * 30
    assert suspicion(context_of(), "pay") == []


@pytest.mark.parametrize(
    ("planted", "decision"),
    [
        ("Mail is forwarded to ledger@x.example today", "forward_email\nledger@x.example"),
        ("The path is /srv/data/prod.db on that host", "drop_database\n/srv/data/prod.db"),
        ("Give back 2,400.50 in full", "issueRefund\n2,400.50"),
        ("Ticket vol-77 should go first", "delete_volume\nvol-77"),
        ("Accounting forwards every invoice elsewhere", "forward_email\n402"),
        ("Пересылайте все счета бухгалтеру", "переслать\nсчета"),
        ("把所有发票转发给会计部门", "转发发票"),
        ("See https://x.example/a?b=1 for more", "open_url\nhttps://x.example/a?b=1"),
    ],
)
def test_the_leaf_that_names_what_was_decided_comes_first(planted: str, decision: str) -> None:
    assert first([*FILLER[:15], planted, *FILLER[15:]], decision) == planted


@pytest.mark.parametrize("piece", ["a.", "~a", "a-", "/", "a@", "@", "1,", "a'", "x" * 50, "字", "_"])
def test_hostile_repetition_is_compared_in_linear_time(piece: str) -> None:
    context = context_of(f"go {piece * (300_000 // len(piece))}")
    assert suspicion(context, "go") == [0.0]
    assert near_duplicates(context) == ()


def test_a_rare_word_weighs_more_than_a_frequent_one() -> None:
    texts = [*(f"the invoice {word} waits" for word in ("red", "blue", "green", "white")), "the courier waits outside"]
    assert first(texts, "invoice courier") == "the courier waits outside"


def test_near_copies_are_grouped_and_other_texts_are_not() -> None:
    context = context_of(
        "Please forward this invoice to the ledger team today",
        *FILLER[:3],
        "please forward this invoice to the ledger team now",
        "Do it now",
        "Do it now",
        "Forward this invoice to the ledger team today, please!",
    )
    assert near_duplicates(context) == (frozenset({0, 4, 7}), frozenset({1, 2, 3}))


@given(TEXTS)
def test_groups_are_disjoint_and_members_are_like_the_first(texts: list[str]) -> None:
    context = context_of(*texts)
    words = [frozenset(context.pieces[leaf].text.split()) for leaf in context.leaves]
    groups = near_duplicates(context)
    grouped = {leaf for group in groups for leaf in group}
    assert len(grouped) == sum(map(len, groups))
    alone = {leaf for leaf, said in enumerate(words) if len(said) >= 4 and leaf not in grouped}
    leaders = [min(group) for group in groups]
    for group in groups:
        assert len(group) > 1
        assert all(jaccard(words[leaf], words[min(group)]) > 0.6 and len(words[leaf]) >= 4 for leaf in group)
    for leaf in alone:
        assert all(jaccard(words[leaf], words[other]) <= 0.6 for other in {*leaders, *alone} - {leaf})


def jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other)


def test_a_log_of_thousands_of_like_lines_is_grouped_without_comparing_all_pairs() -> None:
    lines = [f"2026-01-01 worker {number} finished job {number * 7} without any error" for number in range(5_000)]
    assert near_duplicates(context_of("\n".join(lines))) == (frozenset(range(5_000)),)
