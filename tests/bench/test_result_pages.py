"""What the README and the pages of results say is what the committed lines say."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from bench.catalogue import BENCHES
from bench.pages import README, pages
from bench.scale.chart import Panel, chart
from bench.scale.tables import table

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("path", pages(), ids=lambda path: path.name)
def test_no_figure_is_typed_by_hand(path: Path) -> None:
    assert path.read_text(encoding="utf-8") == pages()[path], "run `python -m bench --write`"


def test_the_readme_links_to_pages_that_exist() -> None:
    linked = re.findall(r"\]\((bench/results/[^)]+)\)", README.read_text(encoding="utf-8"))
    assert linked
    assert [target for target in linked if not (ROOT / target).exists()] == []


def test_every_benchmark_is_listed_with_its_time_and_needs() -> None:
    single = {
        path.stem for path in (ROOT / "bench").glob("[a-z]*.py") if "__main__" in path.read_text(encoding="utf-8")
    }
    packages = {path.parent.name for path in (ROOT / "bench").glob("*/__main__.py")}
    assert {bench.name for bench in BENCHES} == single | packages
    done = subprocess.run(
        [sys.executable, "-m", "bench", "--help"], cwd=ROOT, check=True, capture_output=True, text=True
    )
    for bench in BENCHES:
        assert re.search(
            rf"^  {bench.name} .*{re.escape(bench.takes)}; needs {re.escape(bench.needs)}$", done.stdout, re.MULTILINE
        )


def test_one_command_prints_the_block_of_the_readme() -> None:
    done = subprocess.run([sys.executable, "-m", "bench"], cwd=ROOT, check=True, capture_output=True, text=True)
    assert done.stdout.strip() in README.read_text(encoding="utf-8")


def test_a_chart_places_larger_values_higher_and_names_its_points() -> None:
    drawn = ET.fromstring(chart([Panel("calls <all>", "size", [(10, 30), (1000, 60)])], 'said "so"'))
    circles = [node for node in drawn.iter() if node.tag.endswith("circle")]
    first, second = ((float(node.attrib["cx"]), float(node.attrib["cy"])) for node in circles)
    assert first[0] < second[0]
    assert first[1] > second[1]
    assert [node[0].text for node in circles] == ["10: 30", "1000: 60"]
    assert drawn.attrib["aria-label"] == 'said "so"'


def test_the_table_of_sizes_gives_medians() -> None:
    rows = [
        {
            "what": "pieces",
            "size": 10,
            "seed": n,
            "calls": n,
            "contexts": n,
            "exact": n > 1,
            "cpu": 0.1,
            "megabytes": 2.0,
        }
        for n in (1, 2, 30)
    ]
    assert "| 10 | 3 | 2 | 2 | 2 | 0.1 | 2 |" in table(
        [*rows, {"what": "trace", "size": 1, "cpu": 0.5, "megabytes": 3.0}]
    )
