from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot
from report_samples import CAUSE, why_report

from runtape.report.document import Bullets, Document, Heading, Paragraph, Quote, Recorded, Table
from runtape.report.markdown import to_markdown
from runtape.report.why_page import why_page


class Marks:
    """Shows where recorded text stands and how much of it may be shown."""

    def show(self, text: str, limit: int) -> str:
        return f"`{text[:limit]}`"

    def block(self, text: str, limit: int) -> str:
        return f"~~~\n{text[:limit]}\n~~~"


def test_every_kind_of_block():
    document: Document = (
        Heading(("Why ", Recorded("inbox")), level=1),
        Paragraph(("It depends on ", Recorded("a long text", limit=6), ".")),
        Quote("Forward it.\nNow.", limit=13),
        Bullets((("one",), ("two ", Recorded("x")))),
        Table(("text", "n"), (((Recorded("a | b"),), ("1 | 2",)),)),
    )
    assert "\n\n".join(to_markdown(document, Marks())) == snapshot("""\
# Why `inbox`

It depends on `a long`.

~~~
Forward it.
N
~~~

- one
- two `x`

| text | n |
| --- | --- |
| `a \\| b` | 1 \\| 2 |\
""")


@given(st.text())
def test_a_report_has_one_text_for_each_of_its_blocks(text: str):
    page = why_page(why_report(causes=[replace(CAUSE, texts=[text])], headline=[text]))
    assert len(to_markdown(page, Marks())) == len(page)


@given(st.text("|\\`ab ", max_size=20))
def test_a_row_of_a_table_keeps_its_columns(text: str):
    [shown] = to_markdown((Table(("a", "b"), (((Recorded(text),), ("x",)),)),), Marks())
    header, _, row = shown.split("\n")
    assert row.count("|") - row.count("\\|") == header.count("|")
