"""At the end of a test session: did the gates of all baselines run, and what must people know?"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_rankcheck.baselines.baseline_file import readable_record
from pytest_rankcheck.baselines.change import Change
from pytest_rankcheck.baselines.record import Record
from pytest_rankcheck.errors import ConfigurationError, GitError, quoted
from pytest_rankcheck.plugin.baseline_settings import baseline_settings
from pytest_rankcheck.plugin.configuration import idle_option
from pytest_rankcheck.plugin.item_identity import path_from, shared_text
from pytest_rankcheck.plugin.unrun_gates import ExpectedGates, Loss, Unrun
from pytest_rankcheck.plugin.watched_tests import WatchedTests
from pytest_rankcheck.remedies import delete, retire
from pytest_rankcheck.reports.findings import Note, RecordFinding, ReportedFinding, Topic

_ENDED = (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.NO_TESTS_COLLECTED)


def coverage_findings(
    config: pytest.Config,
    watched: WatchedTests,
    findings: Sequence[ReportedFinding],
    exit_status: int,
) -> Sequence[ReportedFinding]:
    """Return the baselines that the test session did not compare with, and what replaces them.

    Args:
        config: of the test session.
        watched: which tests were collected and run.
        findings: of all tests.
        exit_status: of the test session, so far.
    """
    if idle_option(config) or exit_status not in _ENDED or not watched.uses_baselines:
        return []
    settings = baseline_settings(config)
    compared = [finding for finding in findings if isinstance(finding, RecordFinding)]
    shared = list(_shared(compared))
    if settings.mode.approval is not None and not compared:
        shared.append(Note(Topic.UNUSED_APPROVAL, "no test that passed compares with a baseline"))
    if settings.reference is None and settings.unrun == "ignore":
        return shared
    try:
        return [*shared, *_Coverage(config, watched, compared, exit_status).findings()]
    except (ConfigurationError, GitError) as error:
        text = f"git cannot list the approved baselines: {quoted(error, 200)}"
        return [_failed(Topic.NOT_RUN, text)]


class _Coverage:
    """Which gates ran in a test session, and what that means.

    Args:
        config: of the test session.
        watched: which tests were collected and run.
        compared: the baselines that tests compared with.
        exit_status: of the test session, so far.
    """

    def __init__(
        self,
        config: pytest.Config,
        watched: WatchedTests,
        compared: Sequence[RecordFinding],
        exit_status: int,
    ) -> None:
        self._settings = baseline_settings(config)
        self._reference = self._settings.reference
        self._worse: dict[Path, str] = {}
        """For each baseline whose test is gone, the new one too bad to replace it, and why."""
        self._expected = ExpectedGates(config, watched, exit_status)
        place = {each: Path(os.path.normpath(self._settings.top / each.file)) for each in compared}
        judges = self._reference is not None
        self._ran = {place[each] for each in compared if not (each.why_not and judges)}
        self._caught = {*place.values()} - self._ran
        # A test that failed may be the missing one, renamed and without a baseline yet.
        is_red = exit_status == pytest.ExitCode.TESTS_FAILED
        self._lists_all = judges and not self._settings.mode.update
        fails = self._settings.unrun == "fail"
        self._fails = {
            Loss.UNSEEN: fails,
            Loss.GONE: fails and not is_red,
            Loss.SKIPPED: fails and not self._settings.may_skip,
            Loss.LEFT_OUT: fails and not self._settings.may_skip,
        }

    def findings(self) -> Iterator[ReportedFinding]:
        """Yield the baselines whose gates did not run, and what replaces them."""
        unrun = list(self._expected.unrun(self._ran, self._caught))
        replaced = self._replaced(unrun) if self._reference else {}
        for each in unrun:
            file = quoted(_typed(each.path), 200)
            retirement = _retirement(each.path) if self._reference else None
            if retirement is not None:
                yield Note(Topic.RETIRED, f"{file}: {retirement}")
            elif each.path in replaced:
                new = quoted(_typed(replaced[each.path]), 200)
                text = f"{new} takes the place of {file} ({each.why.text})"
                to_do = f"; {delete(_typed(each.path))}" if each.path.exists() else ""
                yield Note(Topic.RENAMED, f"{text}{to_do}")
            else:
                yield from self._of_unrun(each)
        if self._reference is not None:
            for obstacle in self._reference.obstacles(self._expected.folders):
                text = f"{obstacle}, so the baselines behind it cannot be read there"
                yield _failed(Topic.NOT_RUN, text)

    def _of_unrun(self, unrun: Unrun) -> Iterator[ReportedFinding]:
        loss, why, detail = unrun.why
        gated, reference = unrun.record.gated if unrun.record else (), self._reference
        place = self._settings.shown(unrun.path)
        yield RecordFinding(place, unrun.golden_name, gated, why, loss is not Loss.NOT_MERGED)
        if loss is Loss.FAILED or (loss is Loss.NOT_CHOSEN and not self._lists_all):
            return
        metrics = f" ({', '.join(gated)})" if gated else ""
        text = f"{quoted(_typed(unrun.path), 200)}{metrics}: {why}"
        text += f": {quoted(detail, 200)}" if detail else ""
        if not self._fails.get(loss):
            yield Note(Topic.NOT_RUN, text)
            return
        remedies = [retire(_typed(unrun.path), reference.name if reference else None)]
        text += f"; {self._worse[unrun.path]}" if unrun.path in self._worse else ""
        rule = "What was gated must stay gated: run the test again, or retire the baseline"
        if reference and not unrun.path.exists() and reference.missing_history:
            remedies = [reference.missing_history]
            rule = "A shallow clone does not show what the reference has added since"
        elif loss is Loss.LEFT_OUT:
            remedies = []
            rule = "set the environment variable, or accept it: --rankcheck-unrun=warn"
        note = _failed(Topic.NOT_RUN, text, facts=(rule,), remedies=tuple(remedies))
        yield replace(note, text="; ".join((text, *map(str, remedies or (rule,)))))

    def _replaced(self, unrun: Sequence[Unrun]) -> dict[Path, Path]:
        """Return the baselines of tests that are gone, with the new ones that replace them.

        A new baseline replaces at most one other, of the same golden set and the same test
        parameters, if it breaks none of its promises.
        """
        assert self._reference is not None
        added = {
            change.path: readable_record(change.after)
            for change in self._reference.changes()
            if change.before is None and change.path in self._ran
        }
        replaced: dict[Path, Path] = {}
        for each in unrun:
            is_gone = each.why.loss is Loss.GONE and _retirement(each.path) is None
            if not is_gone or each.record is None:
                continue
            # Of several that are worse, the likely one gates the same metrics.
            own = {*each.record.gated}
            lacks = {path: len(own.difference(a.gated if a else ())) for path, a in added.items()}
            for new in sorted(added, key=lacks.__getitem__):
                problems = self._problems(each.record, new, added[new])
                if problems == ():
                    replaced[each.path] = new
                    del added[new]
                    break
                if problems and each.path not in self._worse:
                    texts = "; ".join(quoted(change.text, 200) for change in problems)
                    worse = f"{quoted(_typed(new), 200)} would take its place: {texts}"
                    self._worse[each.path] = worse
        return replaced

    def _problems(
        self, before: Record, path: Path, after: Record | None
    ) -> tuple[Change, ...] | None:
        """Return the promises of a record that a new one for the same test cases breaks.

        None for one of another golden set or of other parameters.
        """
        from pytest_rankcheck.baselines.succession import broken_promises, new_approvals

        if after is None or not (
            before.golden_set.name == after.golden_set.name
            or before.golden_set.fingerprint == after.golden_set.fingerprint
        ):
            return None
        tests = self._expected.tests_of(path, after.golden_set.name)
        own = before.test.partition("[")[2]
        if before.test and not any(test.key.partition("[")[2] == own for test in tests):
            return None
        if new_approvals(before, after) is None:  # a new record has approvals of its own
            before = replace(before, approvals=())
        return tuple(broken_promises(before, after))


def _shared(compared: Sequence[RecordFinding]) -> Iterator[Note]:
    """Yield the baselines that two tests share; workers of pytest-xdist see only their own."""
    owners: dict[str, str] = {}
    for each in sorted(compared, key=lambda found: found.test):
        owner = owners.setdefault(each.file, each.test)
        if owner.partition("::")[2] != each.test.partition("::")[2]:
            text = shared_text(owner, each.test, each.golden_set)
            yield _failed(Topic.SHARED, text)


def _failed(topic: Topic, text: str, **known: Any) -> Note:
    """Return a note that fails the test session, with further fields of its explanation."""
    from pytest_rankcheck.explanation.explanation import Explanation

    return Note(topic, text, failure=Explanation(headline=text, **known))


def _typed(path: Path) -> str:
    return path_from(Path.cwd(), path)


def _retirement(path: Path) -> str | None:
    """Return the reason why this branch retired a baseline; None if it is not retired."""
    record = readable_record(path.read_text("utf-8", "replace")) if path.is_file() else None
    retired = record.retired if record else None
    if retired is None or not retired.reason.strip():
        return None
    author = f" by {quoted(retired.author)}" if retired.author else ""
    return f'"{quoted(retired.reason)}"{author}'
