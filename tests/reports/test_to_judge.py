"""What to judge next, and reading it back."""

import csv
import io
import unicodedata
from pathlib import Path

import pytest
from hostile import HOSTILE

from pytest_rankcheck import GoldenSet, GoldenSetError, Metric, Run, evaluate
from pytest_rankcheck.explanation.documents_to_judge import DocumentToJudge, to_judge
from pytest_rankcheck.reports.findings import JudgingFinding
from pytest_rankcheck.reports.judging_list import csv_of
from pytest_rankcheck.reports.report_data import Report, report_of

GOLDEN = GoldenSet.from_dict(
    {"a": {"x": 3}, "b": {"y": 1}}, queries={"a": "=HYPERLINK(1)", "b": "two"}
)
EVALUATION = evaluate(Run.from_dict({"a": ["-new", "x"], "b": ["y", "other"]}), GOLDEN)


def report_to_judge() -> Report:
    documents = tuple(to_judge(EVALUATION, [Metric.parse("RR")]))
    return report_of([JudgingFinding(documents)], "pytest")


def test_the_most_influential_document_comes_first() -> None:
    found = list(to_judge(EVALUATION, [Metric.parse("RR")]))
    assert [(one.query_id, one.doc_id, one.rank) for one in found] == [
        ("a", "-new", 1),
        ("b", "other", 2),
    ]
    # RR of a would be 1 and not 1/2, of two queries; that of b is 1 already.
    assert [one.influence for one in found] == [0.25, 0.0]


def test_a_document_is_listed_once_with_the_metric_it_moves_most() -> None:
    metrics = [Metric.parse("P@10"), Metric.parse("RR")]
    first, second = to_judge(EVALUATION, metrics)
    assert (first.metric, first.influence) == ("RR", 0.25)
    assert (second.metric, second.influence) == ("P@10", pytest.approx(0.05))


def test_a_judging_list_is_read_once_grades_are_filled_in(tmp_path: Path) -> None:
    text = csv_of(report_to_judge())
    assert "'=HYPERLINK(1)" in text
    assert "'-new" in text
    cells = list(csv.DictReader(io.StringIO(text)))
    file = tmp_path / "judged.csv"
    file.write_text(text, "utf-8")
    with pytest.raises(GoldenSetError, match="no row has a grade in the column relevance yet"):
        GoldenSet.load(file)
    cells[0]["relevance"] = "2"
    with file.open("w", encoding="utf-8", newline="") as out:
        writer = csv.DictWriter(out, cells[0])
        writer.writeheader()
        writer.writerows(cells)
    judged = GoldenSet.load(file)
    assert judged.query("a").text == "=HYPERLINK(1)"
    whole = GOLDEN.merge(judged)
    assert whole.grades("a") == {"x": 3, "-new": 2}
    assert not whole.contents.candidates


def test_nothing_is_left_to_judge_if_all_is_judged() -> None:
    evaluation = evaluate(Run.from_dict({"a": ["x"]}), GOLDEN)
    assert list(to_judge(evaluation, [Metric.parse("RR")])) == []


ODD = [
    *("a\nb", "\ta", "\x1b[2J", "\x00", "\x85", "\u2028", "\u202egnp", "\ud800"),
    *('"quoted"', '"', "'", "'\"", "\\n", "C:\\new", "=1+1", "a,b"),
    "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",  # Persian has a zero-width non-joiner
    *HOSTILE,
]


def list_of(ids: list[str]) -> Report:
    documents = tuple(
        DocumentToJudge(
            **dict.fromkeys(("query_id", "query", "doc_id", "title"), name),
            golden_set="web",
            rank=1,
            metric="RR",
            influence=0.5,
        )
        for name in dict.fromkeys(ids)
    )
    return report_of([JudgingFinding(documents)], "pytest")


def filled_in(text: str) -> str:
    """Grade every row, as a person does in a spreadsheet."""
    rows = list(csv.DictReader(io.StringIO(text)))
    out = io.StringIO()
    writer = csv.DictWriter(out, rows[0])
    writer.writeheader()
    writer.writerows({**row, "relevance": "2"} for row in rows)
    return out.getvalue()


def test_a_judging_list_has_no_control_characters_and_gives_all_ids_back(tmp_path: Path) -> None:
    text = csv_of(list_of(ODD))
    is_raw = {char for char in text if unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp")}
    assert is_raw == {"\n"}
    assert text.count("\n") == 1 + len(set(ODD))
    assert "\u202e" not in text
    file = tmp_path / "judged.csv"
    file.write_bytes(filled_in(text).encode("utf-8"))
    judged = GoldenSet.load(file)
    assert {name: judged.grades(name) for name in judged.query_ids} == {
        name: {name: 2} for name in ODD
    }
    assert all(judged.query(name).text == name for name in ODD)
    assert all(judged.title(name) == name for name in ODD)


def test_the_top_10_is_to_be_judged_unless_more_is_asked_for() -> None:
    long = evaluate(Run.from_dict({"a": [f"d{n}" for n in range(60)], "b": ["y"]}), GOLDEN)
    for metric, top, count in (("R@50", 10, 10), ("RR", 10, 10), ("R@50", 70, 50), ("P@5", 10, 5)):
        found = list(to_judge(long, [Metric.parse(metric)], top))
        assert sorted(document.rank for document in found) == list(range(1, count + 1))
    assert len(list(to_judge(long, [Metric.parse("R@50")]))) == 10
