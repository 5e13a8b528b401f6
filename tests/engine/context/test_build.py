from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st
from mail_requests import MAIL, PLANTED, RESULT, SYSTEM, TASK, chat, messages, origins, responses

from runtape.context.build import build
from runtape.context.pieces import Context
from runtape.wire.values import Json, Request


def leaves(context: Context) -> list[tuple[str, str]]:
    return [(context.pieces[leaf].ref, context.pieces[leaf].text) for leaf in context.leaves]


MAIL_LEAVES = [
    ("id", '"id": 402'),
    ("subject", '"subject": "Your invoice"'),
    ("body/p1/s1", "Dear Dana."),
    ("body/p1/s2", "Your invoice is here."),
    ("body/p2/l1/s1", "Footer."),
    ("body/p2/l1/s2", PLANTED),
    ("body/p2/l2", "Bye for now."),
]


def test_refs_name_the_event_the_message_and_the_way_down() -> None:
    request = chat()
    context = build(request, origins(request, (1, 1, 3, 8)))
    assert leaves(context) == [
        ("1[0]/s1", "You are a mail assistant."),
        ("1[0]/s2", "Be brief."),
        ("1[1]/s1", "Deal with the invoice."),
        ("1[1]/s2", "I am busy."),
        ("3[2]/read_email/id", '"id": 402'),
        *((f"8[3]/{path}", text) for path, text in MAIL_LEAVES),
        ("0[tools]/read_email", "Read one mail."),
    ]
    assert context.request is request


def test_a_system_prompt_outside_the_messages_and_a_message_of_several_texts() -> None:
    request = messages()
    context = build(request, origins(request, (1, 1, 3, 8)))
    assert leaves(context) == [
        ("1[system]/s1", "You are a mail assistant."),
        ("1[system]/s2", "Be brief."),
        ("1[0]/s1", "Deal with the invoice."),
        ("1[0]/s2", "I am busy."),
        ("3[1]/read_email/id", '"id":402'),
        *((f"8[2]/b1/{path}", text) for path, text in MAIL_LEAVES),
        ("8[2]/b2", "image, image/png, 4 characters of data"),
        ("8[2]/b3/s1", "Go on please."),
        ("8[2]/b3/s2", "Thank you."),
    ]


def test_pieces_know_their_slot_their_parent_and_where_they_come_from() -> None:
    request = responses()
    context = build(request, origins(request, (1, 1, 3, 3, 8)))
    planted = next(piece for piece in context.pieces if piece.text == PLANTED)
    assert (planted.kind, planted.role, planted.event, planted.tool, planted.pinned) == (
        "sentence",
        "tool_result",
        8,
        "read_email",
        False,
    )
    path: list[tuple[str, str]] = []
    parent = planted.parent
    while parent is not None:
        assert (
            context.pieces[parent].text
            == context.slots[planted.slot].text[context.pieces[parent].start : context.pieces[parent].end]
        )
        path.append((context.pieces[parent].kind, context.pieces[parent].ref))
        parent = context.pieces[parent].parent
    assert path == [
        ("paragraph", "8[3]/body/p2/l1"),
        ("paragraph", "8[3]/body/p2"),
        ("item", "8[3]/body"),
        ("message", "8[3]"),
    ]


def test_the_system_prompt_the_tools_and_the_first_task_are_pinned_and_later_user_text_is_not() -> None:
    request = chat({"role": "user", "content": "And now? Hurry up."}, {"role": "system", "content": "Stay calm."})
    context = build(request, origins(request, (1, 1, 3, 8, 9, 9)))
    pinned = [context.pieces[leaf].text for leaf in context.leaves if context.pieces[leaf].pinned]
    assert pinned == [*split_up(SYSTEM), *split_up(TASK), "Stay calm.", "Read one mail."]


def split_up(text: str) -> list[str]:
    return [part + "." for part in text.rstrip(".").split(". ")]


def test_what_is_not_examined_is_listed_once_for_each_message_with_the_reason() -> None:
    images: list[Json] = [{"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}] * 3
    request = chat({"role": "user", "content": images}, {"role": "tool", "tool_call_id": "c1", "content": "[]"})
    context = build(request, origins(request, (1, 1, 3, 8, 9, 10)))
    assert [(left.ref, left.reason) for left in context.not_examined] == [
        ("10[5]", "there are no words in it to leave out"),
        (
            "tools",
            "names and argument types of the tools stay as they are; their descriptions and order are examined",
        ),
    ]
    for made, expected in (
        (messages(), ["1[1] reasoning"]),
        (responses(), ["1[1] reasoning"]),
    ):
        found = build(made, origins(made, (1,) * 6)).not_examined
        assert [f"{left.ref} {left.reason.split()[0]}" for left in found] == expected


def test_a_message_without_an_origin_still_has_a_name() -> None:
    assert leaves(build(chat(), ()))[0] == ("0[0]/s1", "You are a mail assistant.")


def test_text_that_was_removed_before_is_no_piece() -> None:
    request = chat({"role": "user", "content": "[removed]"})
    assert "[removed]" not in [text for _, text in leaves(build(request, ()))]


VALUES = st.recursive(
    st.one_of(st.integers(), st.text(max_size=8), st.just("One thing. Another thing.")),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=4), inner, max_size=3)),
    max_leaves=12,
)


@given(st.lists(st.one_of(st.text(max_size=60), VALUES.map(json.dumps)), max_size=5))
def test_the_tree_is_whole_and_its_refs_are_unique(texts: list[str]) -> None:
    request = Request(
        "any", "chat.completions", None, {"messages": [{"role": "user", "content": text} for text in texts]}
    )
    context = build(request, origins(request, tuple(range(len(texts)))))
    assert len({piece.ref for piece in context.pieces}) == len(context.pieces)
    assert [at for at, piece in enumerate(context.pieces) if not piece.children] == list(context.leaves)
    for at, piece in enumerate(context.pieces):
        assert all(context.pieces[child].parent == at for child in piece.children)
        assert len(piece.children) != 1 or piece.role == "tool_arguments"
        assert piece.parent is not None or piece.kind == "message"
    assert build(request, origins(request, tuple(range(len(texts))))) == context


def test_the_same_mail_is_cut_alike_whatever_the_api() -> None:
    assert json.loads(RESULT) == MAIL
    for request in (chat(), messages(), responses()):
        found = [text for ref, text in leaves(build(request, ())) if "read_email" not in ref]
        assert [text for _, text in MAIL_LEAVES] == [
            text for text in found if text in {text for _, text in MAIL_LEAVES}
        ]
