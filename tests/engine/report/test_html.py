"""Reports as HTML: the same words as in the text, and nothing recorded acts as markup."""

from __future__ import annotations

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from runtape.cli.main import run
from runtape.report.document import Bullets, Document, Heading, Paragraph, Quote, Recorded, Table
from runtape.report.html import to_html
from runtape.text import visible

EXAMPLES = Path(__file__).parents[3] / "examples"


class Read(HTMLParser):
    """The elements of a page with their attributes, and its text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.text += data


@given(st.text(st.sampled_from("<>&\"'`ab/ \u202e\x1b"), max_size=40))
def test_recorded_text_is_text_wherever_it_stands(text: str) -> None:
    document: Document = (
        Heading(("Why ", Recorded(text)), level=1),
        Paragraph((Recorded(text),)),
        Quote(text),
        Bullets(((Recorded(text),),)),
        Table(("a",), (((Recorded(text),),),)),
    )
    read = Read("".join(to_html(document)))
    assert visible(text) in read.text  # of the quote; elsewhere white space is folded
    assert read.text.count(" ".join(visible(text).split())) >= 4
    assert set(read.tags) <= {
        *("h1", "p", "pre", "ul", "li", "table", "thead", "tbody", "tr", "th", "td", "code", "bdi")
    }
    assert read.attributes <= {"scope"}
    assert not {"\u202e", "\x1b"} & set(read.text)


def test_a_page_of_why_holds_the_words_of_the_report_and_draws_its_counts(tmp_path: Path, monkeypatch, capsys) -> None:
    subprocess.run([sys.executable, EXAMPLES / "inbox_agent.py"], cwd=tmp_path, check=True, capture_output=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RUNTAPE_DIR", raising=False)
    model = ["--model-fn", str(EXAMPLES / "stand_ins.py:inbox")]
    assert run(["why", "last", "tool:forward_email", *model, "--html", "why.html"]) == 0
    printed = capsys.readouterr().out
    html = (tmp_path / "why.html").read_text(encoding="utf-8")
    read = Read(html)
    flat = " ".join(read.text.split())
    sentences = [line for line in printed.splitlines() if line.endswith((".", ":")) and not line.startswith(" ")]
    assert len(sentences) > 4
    for sentence in sentences:
        assert sentence in flat
    assert "script" not in read.tags
    assert not {"style", "href", "src", "onclick"} & read.attributes
    assert "default-src 'none'" in html
    plot, strip = re.findall(r"<svg.*?</svg>", html)
    assert [re.sub("<.*?>", "", one) for one in re.findall(r'<text class="axis"[^>]*>(\d+ of \d+)', plot)] == [
        "10 of 10",
        "0 of 6",
        "0 of 3",
    ]
    widths = [float(width) for width in re.findall(r'<rect class="\w+" x="[\d.]+" y="1" width="([\d.]+)"', strip)]
    assert 719 < sum(widths) < 760
    assert strip.count('class="proven"') == 2
    assert "10 of 10 reruns with it, 0 of 6 without it" in strip
