"""Sealed golden sets: nothing that pytest reports about their tests names a query or a document."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Generator, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain

import pytest

from pytest_rankcheck.errors import plural, quoted
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.explanation.explanation import Explanation
from pytest_rankcheck.files.packed_files import shown_name
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.plugin.fixtures import BASELINE, fixtures_of, golden_path
from pytest_rankcheck.plugin.session_findings import CARRIED
from pytest_rankcheck.reports.findings import (
    GateFinding,
    JudgingFinding,
    MeasurementFinding,
    Note,
    ReportedFinding,
    Topic,
)
from pytest_rankcheck.reports.text.evidence_text import fell_word
from pytest_rankcheck.reports.text.failure_text import failure_lines
from pytest_rankcheck.reports.text.wording import gate_words, means_change, number_text

_SAYS_MEANS_ONLY = frozenset(
    {
        *(Topic.CAN_BE_RAISED, Topic.NOISE_FLOOR, Topic.NOT_RUN, Topic.LOOSER_GATE),
        *(Topic.FAMILIES, Topic.NO_LONGER_GATED, Topic.NO_SLICE_GATED, Topic.DECIDES_NOTHING),
        *(Topic.RUN_NOISE, Topic.KEPT, Topic.UNUSED_APPROVAL, Topic.WRITTEN),
        *(Topic.UNCERTAIN_GAINS, Topic.EXPECTATIONS),
    }
)
"""The notes that name no query and no document."""
_UNSEAL = "--rankcheck-unseal shows what else is known"


class SealedTests:
    """A plugin that removes what reports of sealed tests must not say.

    The code of a ranker can raise and print anything, also outside of assertions.

    Args:
        sealed: the names of the sealed golden sets.
    """

    def __init__(self, sealed: Collection[str]) -> None:
        self._sealed = sealed
        self._tests: dict[str, str] = {}
        """The sealed golden set of each test that measured on one, by the id of the test."""

    def _name(self, item: pytest.Item, findings: Iterable[ReportedFinding] = ()) -> str | None:
        """Return the sealed golden set that a test measures on; None if there is none.

        The answer is kept: when a test ends, its fixtures may be gone, but its output is reported
        again.
        """
        names = chain([self._tests.get(item.nodeid)], _names(item, findings))
        name = next((name for name in names if name in self._sealed), None)
        if name is not None:
            self._tests[item.nodeid] = name
        return name

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[object]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Remove what a test printed and what it raised."""
        report = yield
        findings: Sequence[ReportedFinding] = getattr(report, CARRIED, [])
        name = self._name(item, findings)
        if name is not None:
            # Without an error, the test passed though a strict xfail says that it fails.
            error = type(call.excinfo.value).__name__ if call.excinfo else "XPASS(strict)"
            _seal(report, findings, f"{error} on {_sealed_set(name)}")
        return report

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Remove the name and the output of a subtest, which are added to its report late."""
        context = getattr(report, "context", None)
        if context is not None and report.nodeid in self._tests:
            vars(report)["context"] = type(context)(msg=None, kwargs={})
            report.sections.clear()

    @pytest.hookimpl(tryfirst=True)
    def pytest_warning_recorded(
        self, warning_message: warnings.WarningMessage, nodeid: str
    ) -> None:
        """Replace the text of a warning."""
        if nodeid in self._tests:
            text = f"{warning_message.category.__name__} of a test of a sealed golden set"
            warning_message.message = UserWarning(text)


def _seal(report: pytest.TestReport, findings: Sequence[ReportedFinding], other: str) -> None:
    """Remove what a report must not say.

    Args:
        report: of a phase of a test, or of a subtest.
        findings: of the test.
        other: what to say of an error that is no finding, or of a reason to skip the test.
    """
    sealed = [*_sealed(findings)]
    setattr(report, CARRIED, sealed)
    report.sections.clear()
    if report.failed:
        explained = (each.failure for each in sealed if isinstance(each, GateFinding | Note))
        texts = [failure_lines(each, in_full=True) for each in explained if each is not None]
        report.longrepr = "\n".join(chain.from_iterable(texts or [[other]]))
    elif hasattr(report, "wasxfail"):
        report.longrepr = other  # --xfail-tb shows it
        report.wasxfail = other
    elif isinstance(report.longrepr, tuple):
        report.longrepr = (*report.longrepr[:2], f"Skipped: {other}")


def _names(item: pytest.Item, findings: Iterable[ReportedFinding]) -> Iterator[str | None]:
    """Yield the names of the golden sets that a test measures on, or lints.

    Its fixtures have made them, or measured on them, or could not read them.
    """
    for definitions in fixtures_of(item).values():
        made = definitions[-1].cached_result
        value = made[0] if made else None
        golden = value.golden if isinstance(value, Evaluation) else value
        if isinstance(golden, GoldenSet):
            yield golden.name
    yield from map(shown_name, filter(None, (golden_path(item), item.path)))
    if BASELINE in item.stash:
        yield item.stash[BASELINE].golden_name
    yield from (getattr(finding, "golden_set", None) for finding in findings)


def _sealed(findings: Sequence[ReportedFinding]) -> Iterator[ReportedFinding]:
    """Yield what may be shown: means, counts and verdicts."""
    for each in findings:
        if isinstance(each, GateFinding):
            numbers = each.numbers and replace(each.numbers, query_drops=())
            failure = each.failure and _sealed_explanation(each.failure, findings)
            yield replace(each, numbers=numbers, failure=failure)
        elif isinstance(each, MeasurementFinding):
            data = {**each.data, "queries": [], "titles": {}, "missing": [], "extra": []}
            yield replace(each, data=data, values={metric: [] for metric in each.values})
        elif isinstance(each, Note):
            if each.topic in _SAYS_MEANS_ONLY:
                yield replace(each, failure=each.failure and _sealed_check(each.failure))
        elif not isinstance(each, JudgingFinding):
            yield each


def _sealed_set(name: str) -> str:
    return f"golden set '{quoted(name)}', which is sealed; {_UNSEAL}"


def _sealed_check(failure: Explanation) -> Explanation:
    """Return an explanation of a failed check that has only its headline, which has counts."""
    remarks = (f"it is sealed; {_UNSEAL}",)
    return Explanation(golden_set=failure.golden_set, headline=failure.headline, remarks=remarks)


def _values(row: GateFinding) -> str:
    if row.baseline is None:
        return number_text(row.now)
    return means_change(row.baseline, row.now)


def _sealed_explanation(failure: Explanation, findings: Sequence[ReportedFinding]) -> Explanation:
    """Return an explanation of the same failure that has only means and counts."""
    failed = [each for each in findings if isinstance(each, GateFinding) and each.failed]
    rows = [f"{each.subject}  {_values(each)}  {gate_words(each)}" for each in failed]
    is_fall = any(each.baseline is not None for each in failed)
    verb = fell_word(*(each.metric for each in failure.failures))
    fell = f"{failure.fallen:,} of {failure.kind.counted(failure.queries)} {verb}"
    return Explanation(
        kind=failure.kind,
        golden_set=failure.golden_set,
        queries=failure.queries,
        of=failure.of,
        fallen=failure.fallen,
        headline=f"{plural(len(failed), 'gate')} failed on {_sealed_set(failure.golden_set)}",
        remarks=(*rows, *([fell] if failure.fallen and is_fall else [])),
        remedies=failure.remedies,
    )
