"""Dicts that tests build themselves, broken: made into golden sets, runs and logs, and reported."""

import json
import unicodedata
from typing import Any

import pytest
from bounds import few, loads_or_refuses
from hypothesis import given
from mutations import STEPS, Step, mutated_tree
from samples import GRADES, TEXTS

from pytest_rankcheck import GoldenSet, Run, assert_at_least, assert_not_regressed, evaluate, rank
from pytest_rankcheck.reports.ledger import collecting
from pytest_rankcheck.reports.report_data import report_of
from pytest_rankcheck.reports.report_formats import REPORT_FORMATS
from pytest_rankcheck.reports.text.summary_table import summary_lines

INPUTS: dict[str, Any] = {
    "grades": GRADES,
    "texts": TEXTS,
    "attributes": {query: {"locale": "en", "tags": ["a", "b"]} for query in GRADES},
    "before": {"q1": ["d1", "d2"], "q2": ["d9", "d2"], "q3": ["d3"]},
    "now": {"q1": ["d8", "d2", "d1"], "q2": {"d2": 2.5, "d9": 1}, "q3": [("d3", 0.5)]},
}


def show(inputs: Any, formats: list[str]) -> None:
    """Measure what the inputs describe, and write it in some formats."""
    golden = GoldenSet.from_dict(inputs["grades"], inputs["texts"], attributes=inputs["attributes"])
    then = evaluate(Run.from_dict(inputs["before"]), golden)
    now = evaluate(Run.from_dict(inputs["now"]), golden)
    with collecting(detail=True) as ledger:
        for check in (
            lambda: assert_not_regressed(now, then, "nDCG@10", abs=0.99, by="locale"),
            lambda: assert_at_least(now, "RR", 0.9),
        ):
            try:
                check()
            except AssertionError as failure:
                str(failure).encode("utf-8")
    findings = [finding.with_test("test_it.py::test_it") for finding in ledger]
    assert all(is_harmless(line.text) for line in summary_lines(findings, 80))
    report = report_of(findings, "pytest")
    for name in formats:
        text = REPORT_FORMATS[name].text(report)
        text.encode("utf-8")
        assert is_harmless(text) or name == "html"
        if name == "html":
            json.loads(text.partition('id="report-data">')[2].partition("</script>")[0])


def is_harmless(text: str) -> bool:
    """Whether a text has no character that acts on a terminal or an editor, but line feeds."""
    kinds = {unicodedata.category(char) for char in text.replace("\n", "")}
    return kinds.isdisjoint({"Cc", "Cs", "Zl", "Zp"})


@pytest.mark.parametrize("name", INPUTS)
@given(steps=STEPS)
@few()
def test_broken_dicts_are_read_or_refused(name: str, steps: list[Step]) -> None:
    formats = [name for name in REPORT_FORMATS if name != "html" or steps[0][0] % 8 == 0]
    with loads_or_refuses():
        show({**INPUTS, name: mutated_tree(INPUTS[name], steps)}, formats)


ANSWERS: list[Any] = [
    ["d1", "d2"],
    [["d1", 2.5], ["d2", 1]],
    {"d1": 2.5, "d2": 1},
    [{"id": "d1", "score": 2.5}, {"id": "d2", "score": 1}],
    {"hits": {"hits": [{"_id": "d1", "_score": 2.5}]}},
]


@pytest.mark.parametrize("whole", ANSWERS, ids=str)
@given(steps=STEPS)
@few()
def test_broken_answers_of_rankers_are_read_or_refused(whole: Any, steps: list[Step]) -> None:
    answer = mutated_tree(whole, steps)
    with loads_or_refuses():
        golden = GoldenSet.from_dict(GRADES, queries=TEXTS)
        evaluate(rank(lambda text: answer, golden, concurrency=1), golden).mean("nDCG@10")
