"""The Markdown report: what it has, that it fits a comment, that foreign text is only text."""

import re
from dataclasses import replace

import pytest
from hostile import HOSTILE
from hypothesis import assume, example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from pytest_rankcheck.errors import markdown_text, quoted
from pytest_rankcheck.explanation.explanation import Explanation
from pytest_rankcheck.reports.findings import Note, Topic
from pytest_rankcheck.reports.markdown_report import LONGEST_COMMENT, markdown_of
from pytest_rankcheck.reports.report_data import Report

HEAD = """\
## ❌ Ranking quality: 3 of 5 gates failed

- nDCG@10 regressed on golden set 'golden set' (60 queries): 0.9639 -> 0.7833, -0.1806; allowed -0.0100
  - tests/test_it.py::test_it
- RR regressed on golden set 'golden set' (60 queries): 1.0000 -> 0.7778, -0.2222; more than chance \
explains, and a fall of 0.0010 is not ruled out (p < 0.0001, alpha 0.05)
  - tests/test_it.py::test_it

To reproduce:

```sh
pytest -q
```

|  | metric | golden set | baseline | now | change | verdict | test |
|---|---|---|---|---|---|---|---|
| ❌ | nDCG@10 | golden set | 0.9639 | 0.7833 | -0.1806 | regressed | tests/test_it.py::test_it |
| ❌ | nDCG@10\\[locale=de] | golden set | 0.9639 | 0.5967 | -0.3672 | regressed | tests/test_it.py::test_it |
| ❌ | RR | golden set | 1.0000 | 0.7778 | -0.2222 | regressed | tests/test_it.py::test_it |
| ✅ | nDCG@10\\[locale=en] | golden set | 0.9639 | 0.9699 | +0.0060 | passed | tests/test_it.py::test_it |
| ✅ | P@1 | golden set | - | 0.6667 |  | at least 0.1000 | tests/test_it.py::test_it |

<details open><summary>Full text 1 of 2</summary>

**nDCG@10 on golden set, tests/test_it.py::test_it**
"""


def test_it_leads_with_what_blocks_and_what_to_type_and_is_readable_as_it_is(
    report: Report,
) -> None:
    text = markdown_of(report)
    assert text.startswith(HEAD)
    lines = text.splitlines()
    assert any(line.startswith("  locale=de (30 queries, regressed)  ") for line in lines)
    assert "  the queries that fell most, of 20" in lines
    assert lines[-2].startswith("pytest -q · python ")
    shown = re.sub("<details.*?</details>", "", text, flags=re.DOTALL)
    assert "that fell most" not in shown  # everything else is folded
    assert "<" not in shown.replace("p < 0.0001", "")


@pytest.mark.parametrize(
    ("gates", "notes", "exit_status", "title"),
    [
        (1, 0, 0, "✅ Ranking quality: 1 gate passed"),
        (0, 2, 0, "✅ Ranking quality: 2 checks passed"),
        (0, 0, 0, "❌ Ranking quality: no gate ran"),
        (0, 0, 5, "❌ Ranking quality: no gate ran, but the test session failed"),
        (1, 0, 1, "❌ Ranking quality: 1 gate passed, but the test session failed"),
    ],
)
def test_a_title_is_green_only_if_the_session_was(
    report: Report, gates: int, notes: int, exit_status: int, title: str
) -> None:
    passed = [gate for gate in report.gates if not gate.failed][:gates]
    checks = [Note(Topic.EXPECTATIONS, f"{number} hold", is_check=True) for number in range(notes)]
    ended = replace(report, gates=tuple(passed), notes=tuple(checks), exit_status=exit_status)
    problems = tuple(f"test_{number}: error" for number in range(12))
    lines = markdown_of(replace(ended, problems=problems)).splitlines()
    assert lines[0] == f"## {title}"
    assert (lines[2], lines[12]) == ("- test_0: error", "- and 2 more")


def test_the_title_counts_what_did_not_simply_pass(report: Report) -> None:
    passed = [gate for gate in report.gates if not gate.failed]
    [unsure] = [gate for gate in report.gates if gate.metric == "RR"]
    assert unsure.numbers is not None
    numbers = replace(unsure.numbers, outcome="inconclusive")
    inconclusive = replace(unsure, failed=False, numbers=numbers)
    others = (Note(Topic.NO_SLICE_GATED, "none of 3"), Note(Topic.NOT_RUN, "x.json (RR)"))
    notes = (*report.notes, *others)
    text = markdown_of(replace(report, gates=(inconclusive, passed[-1]), notes=notes))
    assert text.startswith(
        "## ⚠️ Ranking quality: 2 gates passed with warnings: 1 inconclusive, "
        "1 without a gated slice, 1 not run\n"
    )
    assert "| ❔ |" in text
    assert "| ✅ |" in text


def test_the_report_is_never_longer_than_a_comment(report: Report) -> None:
    text = markdown_of(replace(report, gates=report.gates[:1] * 300))
    assert len(text) < LONGEST_COMMENT
    assert "sections omitted to keep this short; the HTML and JSON reports are complete" in text
    assert "_and 200 more gates_" in text


def test_failed_behaviour_checks_are_shown_in_full(report: Report) -> None:
    passed = tuple(gate for gate in report.gates if not gate.failed)
    note = Note(Topic.EXPECTATIONS, "one", failure=Explanation(headline="one", facts=("```two",)))
    text = markdown_of(replace(report, gates=passed, notes=(*report.notes, note)))
    assert text.startswith("## ❌ Ranking quality: 0 of 2 gates and 1 other check failed\n")
    assert "\n\n- expectations: one\n\n" in text
    assert "\n``````text\none\n  ```two\n``````\n" in text
    assert "  - one" not in text


def test_untrusted_text_stays_text() -> None:
    for text in HOSTILE:
        table = f"| a |\n|---|\n| {markdown_text(text)} |\n"
        rendered = MarkdownIt("gfm-like", {"linkify": False}).render(table)
        assert rendered.count("<td>") == 1
        inside = rendered.partition("<td>")[2].partition("</td>")[0].replace("<!-- -->", "")
        assert "<" not in inside
        for linked in ("@everyone", "www.evil", "https://", "#1"):
            assert linked not in markdown_text(text)


MARKS = st.text(
    st.sampled_from([*"\\\\`*_{}[]()<>#+-.!|~$^&\"':=/ @1a0bx", "\t", "é"]), max_size=20
)
PLACES = ["- {}", "  - {}", "a\n\n{}", "| a |\n|---|\n| {} |"]


@given(MARKS, st.sampled_from(PLACES))
@example("1. x", "- {}")
@example("<!--", "- {}")
@example("_it_ __init__ a_b", "- {}")
def test_any_text_is_shown_as_it_is(text: str, place: str) -> None:
    """Also in the raw form where that is possible: names and numbers are not escaped."""
    expected = " ".join(quoted(text).split())
    assume(expected)
    parser = MarkdownIt("gfm-like", {"linkify": False})
    tokens = parser.parse(place.format(markdown_text(text)))
    assert [token.type for token in tokens] == [
        token.type for token in parser.parse(place.format("x"))
    ]
    children = [child for token in tokens for child in token.children or ()]
    assert all(child.type.startswith("text") or child.content == "<!-- -->" for child in children)
    shown = "".join(child.content for child in children if child.type.startswith("text"))
    assert " ".join(shown.removeprefix("a").split()) in (expected, expected.removeprefix("a"))


def test_a_hostile_report_has_no_tag_and_no_link(hostile: Report) -> None:
    text = markdown_of(hostile)
    tokens = MarkdownIt("gfm-like", {"linkify": False}).parse(text)
    every = [child for token in tokens for child in (token, *(token.children or ()))]
    assert not {token.type for token in every} & {"image", "link_open"}
    html = " ".join(token.content for token in every if token.type.startswith("html_"))
    assert not re.sub(r"</?(details|summary)( open)?>|<!-- -->|[^<>]+", "", html)
    assert "\x1b" not in text


def test_for_markdown_alone_only_what_it_shows_is_made(report: Report, brief: Report) -> None:
    now = {"created": report.created}
    assert markdown_of(replace(brief, **now)) == markdown_of(report)
    explained = [gate.failure for gate in brief.gates if gate.failure]
    worst = {query.id for each in explained for query in each.worst}
    shown = {query["id"] for measurement in brief.measurements for query in measurement["queries"]}
    assert shown == worst
    passed = [gate.numbers for gate in brief.gates if not gate.failed]
    assert not any(numbers.unjudged for numbers in passed if numbers)
