"""The lint rules for one query or one document that outweighs the others, and for ids as numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from pytest_rankcheck import GoldenSet, LintFinding
from pytest_rankcheck.golden.lint.lint_options import LintOptions
from pytest_rankcheck.golden.lint.linter import findings_of


def finding(golden: GoldenSet, rule: str) -> LintFinding | None:
    found = golden.lint(rules=[rule])
    return found[0] if found else None


def with_counts(counts: Sequence[int]) -> GoldenSet:
    """Return a set whose queries have so many judgments."""
    return GoldenSet.from_dict(
        {f"q{n}": {f"d{n}-{i}": i % 3 for i in range(count)} for n, count in enumerate(counts)}
    )


def test_a_query_with_two_thousand_judgments_among_queries_with_ten() -> None:
    found = finding(with_counts([10] * 20 + [2000] + [10] * 19), "overjudged-query")
    assert found is not None
    assert (found.level, found.query_ids) == ("warning", ("q20",))
    assert found.what == (
        "1 query (q20) with 2,000 judgments, 84% of all; the median is 10, and no other query has "
        "more than 10"
    )


def test_several_queries_of_many() -> None:
    found = finding(with_counts([2000, 3000] + [10] * 198), "overjudged-query")
    assert found is not None
    assert found.query_ids == ("q0", "q1")
    assert "2 queries (q0, q1) with 2,000 to 3,000 judgments each, 72% of all" in found.what
    found = finding(with_counts([2000, 2000] + [10] * 198), "overjudged-query")
    assert found is not None
    assert "(q0, q1) with 2,000 judgments each, 67% of all" in found.what


@pytest.mark.parametrize(
    "counts",
    [
        [10] * 40,
        [150] + [10] * 39,  # more than others, but 15 times
        [99] + [1] * 39,  # few
        [2000, 10, 10],  # too few queries to say what is usual
        [1000 // rank for rank in range(1, 200)],  # falls off as clicks do
        [int(n) for n in np.random.default_rng(1).lognormal(2, 1.5, 1000)],
        [2000] * 20 + [10] * 20,  # two ways of judging
        [1000] * 5,
    ],
)
def test_usual_numbers_of_judgments(counts: list[int]) -> None:
    assert finding(with_counts([count for count in counts if count]), "overjudged-query") is None


def test_a_document_that_is_relevant_everywhere() -> None:
    judged = {f"q{n}": {f"d{n}": 2, "home": 1, f"x{n}": 0} for n in range(20)}
    judged["q20"] = {"home": 0, "d20": 1}
    found = finding(GoldenSet.from_dict(judged), "relevant-everywhere")
    assert found is not None
    assert found.level == "warning"
    assert found.what == (
        "1 document is relevant to most of 21 queries: 'home' (20); any other is relevant to at "
        "most 1"
    )


@pytest.mark.parametrize(
    "judged",
    [
        {f"q{n}": {f"d{n}": 1, "home": 0} for n in range(20)},  # judged, but not relevant
        {f"q{n}": {f"d{n}": 1, **({"home": 1} if n % 2 else {})} for n in range(20)},  # just half
        {f"q{n}": {f"d{n}": 1, "home": 1} for n in range(9)},  # few queries
        {f"q{n}": {f"d{i}": 1 for i in range(5)} for n in range(20)},  # all about one thing
        {f"q{n}": {f"h{i}": 1 for i in range(3) if n % 5 > i} for n in range(20)},  # few documents
        {f"q{n}": {f"{i}": (n + i) % 2 for i in range(9)} for n in range(20)},  # ids within a query
    ],
)
def test_documents_that_are_relevant_often(judged: dict[str, dict[str, int]]) -> None:
    assert finding(GoldenSet.from_dict(judged), "relevant-everywhere") is None


def with_ids(doc_ids: Sequence[str]) -> GoldenSet:
    return GoldenSet.from_dict({f"q{n}": {doc: 1} for n, doc in enumerate(doc_ids)})


@pytest.mark.parametrize(
    ("doc_ids", "says"),
    [
        ([f"{n}.0" for n in range(5)], "document ids: 5 end with '.0', such as '0.0'"),
        ([f"{n}.0" for n in range(5)] + ["7", "8"], "5 end with '.0'"),
        (["a", "1.23457E+12"], "document ids: 1 in the form of '1.23457E+12'"),
        ([f"0{n:04d}" for n in range(5)] + ["17"], "begin with 0 and have 5 characters, such as "),
        ([f"08044295{n}X" for n in range(5)] + ["804429573"], "but 1 are shorter numbers"),
    ],
)
def test_ids_that_were_changed_as_numbers(doc_ids: list[str], says: str) -> None:
    found = finding(with_ids(doc_ids), "number-id")
    assert found is not None
    assert says in found.what
    assert len(found.query_ids) == 1


@pytest.mark.parametrize(
    "doc_ids",
    [
        [str(n) for n in range(200)],
        [f"{n:04d}" for n in range(200)],
        [f"{n}.0" for n in range(4)],  # few
        [f"{n}.{n % 3}" for n in range(30)],  # versions
        [f"v{n}.0" for n in range(30)],
        [f"{n:03d}" for n in range(0, 2000, 7)],  # padded to three digits, and beyond
        [f"{n:04d}" for n in range(9)] + [f"{n:05d}" for n in range(9)] + ["7"],  # two sources
        [f"{n:x}E5" for n in range(9)],
        [f"{n:04d}" for n in range(9)] + ["7", "12345"],  # numbers, padded here and there
        ["1E5", "3E+5", "doc-007", "doc-7", "0", "1"],
    ],
)
def test_usual_ids(doc_ids: list[str]) -> None:
    assert finding(with_ids(doc_ids), "number-id") is None


def test_ids_of_queries_that_were_changed_as_numbers() -> None:
    golden = GoldenSet.from_dict({f"{n}.0": {f"d{n}": 1} for n in range(7)})
    found = finding(golden, "number-id")
    assert found is not None
    assert found.what == "query ids: 7 end with '.0', such as '0.0'"


def test_fewer_than_thirty_queries_without_a_tolerance() -> None:
    """1.6449 + 0.8416 = 2.4865; 2.4865 * 0.1 / sqrt(25) = 0.050."""
    options = LintOptions(spread=0.1)
    (found,) = findings_of(with_counts([10] * 25), options, ["few-queries"])
    assert found.what == "25 queries, fewer than 30"
    assert (
        "is 0.050, and a single query that falls from 1 to 0 moves the mean by 0.0400" in found.why
    )
    assert finding(with_counts([10] * 30), "few-queries") is None
    assert with_counts([10] * 25).lint(rules=["few-queries"], tolerance=0.5) == []
    assert with_counts([10] * 25).lint(rules=["few-queries"], min_queries=20) == []
