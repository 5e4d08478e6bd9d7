"""Checking the expectations on single queries: ``assert_expectations``."""

from __future__ import annotations

from collections.abc import Iterable

from pytest_rankcheck.assertions.entered_findings import enter_question, fail_with
from pytest_rankcheck.behaviour.expectation_check import check_expectations
from pytest_rankcheck.errors import ConfigurationError, quoted
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.evaluation.ranked_run import ranked_run
from pytest_rankcheck.explanation.answered_queries import unexpected_rankings
from pytest_rankcheck.explanation.explanation import Explanation
from pytest_rankcheck.golden.expectation import Expectation
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.rankers.run import Run
from pytest_rankcheck.reports.ledger import enter, wanted
from pytest_rankcheck.reports.text.golden_text import (
    EXPECTATION_ADVICE,
    expectation_facts,
    expectation_headline,
    expectation_notes,
)


def assert_expectations(
    ranking_run: Run,
    golden_set: GoldenSet,
    expectations: Expectation | Iterable[Expectation] | None = None,
) -> None:
    """Fail if a query is not ranked as expected; the text shows all violations at once.

    An expectation with ``known_failure`` is a strict xfail: it is listed while it fails, and fails
    the test once it holds; the summary warns when it gets worse than its ``known_rank``. One with
    ``severity="warn"`` is shown in the summary only.

    Args:
        ranking_run: the rankings.
        golden_set: the queries.
        expectations: what is expected; without it, the expectations in the golden set.

    Raises:
        AssertionError: an expectation is violated, or a known failure holds.
        GoldenSetError: an expectation is about an unknown query, or some contradict each other.
        ConfigurationError: there is nothing to check, or an expectation looks further down than
            the rankings go.
        RunError: no ranked document is judged in any of at least 5 queries, and no expectation
            names one.
    """
    if isinstance(expectations, Expectation):
        expectations = [expectations]
    given = golden_set.expectations if expectations is None else tuple(expectations)
    if not given:
        raise ConfigurationError(
            f"no expectations: give them to the queries of golden set '{quoted(golden_set.name)}', "
            '"expect": [{"in_top": 3, "documents": ["d1"]}], or as a list to the assertion'
        )
    results = check_expectations(ranking_run, golden_set, given)
    if wanted().proves and not golden_set.by_text:
        from pytest_rankcheck.proof.gate_questions import expectation_question

        evaluation = Evaluation(ranked_run(ranking_run, golden_set))
        enter_question(expectation_question(evaluation, golden_set, results))
    explanation = None
    if any(result.fails for result in results):
        violated = [each for each in results if each.fails and not each.holds]
        explanation = Explanation(
            golden_set=golden_set.name,
            headline=expectation_headline(golden_set, results),
            facts=(*expectation_facts(golden_set, results),),
            to_fix=EXPECTATION_ADVICE if violated else "",
            **unexpected_rankings(golden_set, ranking_run, violated),
        )
    for note in expectation_notes(golden_set, results, explanation):
        enter(note)
    fail_with(explanation)
