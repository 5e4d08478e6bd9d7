"""The whole text of a verdict, as an assertion would fail with it."""

from pytest_rankcheck.comparison.comparison import Comparison
from pytest_rankcheck.explanation.explained_failures import explained_falls
from pytest_rankcheck.gates.verdict import Verdict
from pytest_rankcheck.reports.text.failure_text import failure_lines
from pytest_rankcheck.statistics.run_noise import RunNoise


def verdict_lines(verdict: Verdict, comparison: Comparison) -> list[str]:
    """Return the lines, with the evidence."""
    evaluation = comparison.evaluation
    caveats = () if evaluation.of_rankings is evaluation else (RunNoise.of_first,)
    explanation = explained_falls(comparison, {verdict.metric: verdict}, 1, caveats=caveats)
    return [*failure_lines(explanation, in_full=True)]
