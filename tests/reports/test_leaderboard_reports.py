"""The leaderboard in the reports: its order, its marks, and names that are only text."""

import json

import pytest
from hostile import HOSTILE
from markdown_it import MarkdownIt
from schemas import report_schema

from pytest_rankcheck import GoldenSet, Run, compare_runs
from pytest_rankcheck.reports.html_report import html_of
from pytest_rankcheck.reports.json_report import json_of
from pytest_rankcheck.reports.leaderboard import LeaderboardFinding
from pytest_rankcheck.reports.markdown_report import markdown_of
from pytest_rankcheck.reports.report_data import report_of
from pytest_rankcheck.reports.text.summary_table import summary_lines

QUERIES = [f"q{index}" for index in range(30)]
GOLDEN = GoldenSet.from_dict({query: {"d": 1} for query in QUERIES}, name="web")
FIRST = {query: ["d", "x"] for query in QUERIES}
SECOND = {query: ["x", "d"] if index % 3 else ["d"] for index, query in enumerate(QUERIES)}
THIRD = {query: ["x", "d"] if index == 7 else ["d"] for index, query in enumerate(QUERIES)}


def finding(*metrics: str) -> LeaderboardFinding:
    given = {"second": SECOND, "third": THIRD, "first": FIRST}
    runs = {name: Run.from_dict(rankings) for name, rankings in given.items()}
    return LeaderboardFinding(
        compare_runs(runs, GOLDEN, metrics, against="first"), {"lost": "gone"}
    )


def test_only_what_is_beyond_chance_is_marked() -> None:
    # 20 of 30 queries fall from 1 to 1/2, or only one of them does.
    assert finding("RR", "Success@1").cells == [
        ["ranker", "RR", "Success@1", "judged"],
        ["first (ships)", "1.0000", "1.0000", "0.5000"],
        ["third", "0.9833 -0.0167", "0.9667 -0.0333", "0.9833"],
        ["second", "0.6667 -0.3333*", "0.3333 -0.6667*", "0.6667"],
    ]


def test_the_lowest_comes_first_where_lower_is_better() -> None:
    rows = finding("unj@1", "RR").cells[1:]
    assert [row[0] for row in rows] == ["first (ships)", "third", "second"]
    assert [row[1] for row in rows] == ["0.0000", "0.0333 +0.0333", "0.6667 +0.6667*"]


def test_the_summary_has_a_row_for_each_ranker_and_a_line_for_what_is_missing() -> None:
    lines = [line.text for line in summary_lines([finding("RR")], 60, most=3)]
    assert lines[1:] == [
        "  ranker         RR               judged",
        "  first (ships)  1.0000           0.5000",
        "  third          0.9833 -0.0167   0.9833",
        "  second         0.6667 -0.3333*  0.6667",
        "  lost: gone",
    ]


@pytest.mark.parametrize("name", HOSTILE)
def test_names_of_candidates_are_only_text(name: str) -> None:
    runs = {"first": Run.from_dict(FIRST), name: Run.from_dict(SECOND)}
    board = LeaderboardFinding(compare_runs(runs, GOLDEN, "RR"), {name: "gone"})
    report = report_of([board], "pytest")
    tokens = MarkdownIt("commonmark", {"html": True}).enable("table").parse(markdown_of(report))
    kinds = {inline.type for token in tokens for inline in token.children or ()}
    assert kinds <= {"text", "text_special", "html_inline", "softbreak"}
    html = html_of(report)
    section = html[html.index('<section id="leaderboard"') : html.index('<section id="slices"')]
    assert "<img" not in section
    assert "<script" not in section
    assert "\x1b" not in section
    report_schema().validate(json.loads(json_of(report)))
    assert all(line.text.isprintable() for line in summary_lines([board]))
