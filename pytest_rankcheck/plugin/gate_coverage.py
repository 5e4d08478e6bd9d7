"""The end of a test session: did the gates of all baselines run?"""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from pytest_rankcheck.errors import ConfigurationError, quoted
from pytest_rankcheck.files.git_error import GitError
from pytest_rankcheck.plugin.configured_baselines import configured_reference
from pytest_rankcheck.plugin.expected_gates import ExpectedGates
from pytest_rankcheck.plugin.watched_tests import WatchedTests
from pytest_rankcheck.reports.baseline_findings import RecordFinding
from pytest_rankcheck.reports.findings import ReportedFinding
from pytest_rankcheck.reports.notes import Note, Topic

__all__ = ["coverage_findings"]

_ENDED = (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.NO_TESTS_COLLECTED)


def coverage_findings(
    config: pytest.Config,
    watched: WatchedTests,
    findings: Sequence[ReportedFinding],
    exit_status: int,
) -> Sequence[ReportedFinding]:
    """Return which baselines the test session saw, and what people must know about the others.

    Args:
        config: of the test session.
        watched: which tests were collected and run.
        findings: of all tests.
        exit_status: of the test session, so far.
    """
    does_not_run = any(
        getattr(config.option, name, False) for name in ("collectonly", "setuponly", "setupplan")
    )
    if does_not_run or exit_status not in _ENDED or not watched.uses_baselines:
        return []
    try:
        reference = configured_reference(config)
        expected = ExpectedGates(config, watched, reference)
        if expected.mode == "ignore" and reference is None:
            return []
        ran = {
            config.rootpath / finding.file
            for finding in findings
            if isinstance(finding, RecordFinding)
        }
        if reference is None and ran.issuperset(expected.record_paths()):
            return []
        from pytest_rankcheck.plugin.coverage_findings import Coverage
        from pytest_rankcheck.plugin.unrun_gates import UnrunGates

        search = UnrunGates(expected)
        unrun = list(search.found(ran, exit_status))
        return Coverage(expected, search, unrun, reference, ran).findings()
    except ConfigurationError:
        return []  # it has failed the tests that needed it
    except GitError as error:
        text = f"git cannot list the approved baselines: {quoted(error, 200)}"
        return [Note(Topic.NOT_RUN, text, failure=text)]
