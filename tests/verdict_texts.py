"""The whole text of a verdict, as an assertion would fail with it."""

from pytest_rankcheck.comparison.comparison import Comparison
from pytest_rankcheck.explanation.explained_failures import explained_falls
from pytest_rankcheck.gates.verdict import Verdict
from pytest_rankcheck.reports.text.failure_text import failure_lines
from pytest_rankcheck.reports.text.wording import caveats


def verdict_lines(verdict: Verdict, comparison: Comparison) -> list[str]:
    """Return the lines, with the evidence."""
    told = caveats(comparison.evaluation)
    explanation = explained_falls(comparison, {verdict.metric: verdict}, 1, caveats=told)
    return [*failure_lines(explanation, in_full=True)]
