"""The end of a test session: did the gates of all baselines run, and what must people know?"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_rankcheck.baselines.change import Change
from pytest_rankcheck.baselines.record import Record
from pytest_rankcheck.errors import BaselineError, ConfigurationError, GitError, quoted
from pytest_rankcheck.plugin.baseline_settings import BaselineSettings, baseline_settings
from pytest_rankcheck.plugin.configuration import idle_option
from pytest_rankcheck.plugin.item_identity import RANK_FILE, shared_text
from pytest_rankcheck.plugin.unrun_gates import ExpectedGates, Unrun, readable_record
from pytest_rankcheck.plugin.watched_tests import WatchedTests
from pytest_rankcheck.remedies import approve_all, delete, retire
from pytest_rankcheck.reports.findings import Note, RecordFinding, ReportedFinding, Topic

if TYPE_CHECKING:
    from pytest_rankcheck.baselines.reference_commit import Reference


_FIRST = ("rankcheck_ranker", "rankcheck_run", "rankcheck_doc_id")
"""What can hide a worse ranker is listed first."""
_ENDED = (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.NO_TESTS_COLLECTED)


def coverage_findings(
    config: pytest.Config,
    watched: WatchedTests,
    findings: Sequence[ReportedFinding],
    exit_status: int,
) -> Sequence[ReportedFinding]:
    """Return which baselines the test session did not compare with, and what takes their place.

    Args:
        config: of the test session.
        watched: which tests were collected and run.
        findings: of all tests.
        exit_status: of the test session, so far.
    """
    if idle_option(config) or exit_status not in _ENDED or not watched.uses_baselines:
        return []
    root, settings = config.rootpath, baseline_settings(config)
    compared = [finding for finding in findings if isinstance(finding, RecordFinding)]
    ran = {root / finding.file for finding in compared}
    shared = list(_shared(compared))
    try:
        if settings.reference is None and settings.unrun == "ignore":
            return shared
        unrun = list(ExpectedGates(config, watched).unrun(ran, exit_status))
        found = list(_findings(unrun, settings.reference, root, ran, settings.unrun))
        if settings.reference is not None:
            found += _option_notes(settings, settings.reference)
            files = {test.file for test in watched.collected if test.file.endswith(RANK_FILE)}
            for file in sorted(files):
                found += _option_notes(settings, settings.reference, root / file)
        return [*shared, *found]
    except (ConfigurationError, GitError) as error:
        text = f"git cannot list the approved baselines: {quoted(error, 200)}"
        return [Note(Topic.NOT_RUN, text, failure=text)]


def _findings(
    unrun: Sequence[Unrun], reference: Reference | None, root: Path, ran: set[Path], mode: str
) -> Iterator[ReportedFinding]:
    replaced = _replaced(unrun, reference, root, ran) if reference else {}
    for each in unrun:
        file = _shown(each.path, root)
        retirement = _retirement(each.path) if reference else None
        if retirement is not None:
            yield Note(Topic.RETIRED, f"{quoted(file, 200)}: {retirement}")
            continue
        if each.path in replaced:
            new = quoted(_shown(replaced[each.path], root), 200)
            text = f"{new} takes the place of {quoted(file, 200)} ({each.why.text})"
            to_do = f"; {delete(os.path.relpath(each.path))}" if each.path.exists() else ""
            yield Note(Topic.RENAMED, f"{text}{to_do}")
            continue
        gated, why = (each.record.gated if each.record else ()), each.why
        yield RecordFinding(file, each.golden_name, gated, why.text, why.is_expected)
        if why.is_listed and mode != "ignore":
            metrics = f" ({', '.join(gated)})" if gated else ""
            detail = f": {quoted(why.detail, 200)}" if why.detail else ""
            text = f"{quoted(file, 200)}{metrics}: {why.text}{detail}"
            if mode != "fail" or why.is_excused:
                yield Note(Topic.NOT_RUN, text)
                continue
            remedy = retire(os.path.relpath(each.path), reference.name if reference else None)
            rule = "What was gated must stay gated: let the test run again, or give it up"
            failure = f"{text}\n{rule}\n  {remedy}"
            yield Note(Topic.NOT_RUN, f"{text}; {remedy}", failure=failure, remedy=remedy)


def _shared(compared: Sequence[RecordFinding]) -> Iterator[Note]:
    """Yield the baselines that two tests share; each worker of pytest-xdist accepts one."""
    owners: dict[str, str] = {}
    for each in sorted(compared, key=lambda found: found.test):
        owner = owners.setdefault(each.file, each.test)
        if owner != each.test:
            text = shared_text(owner, each.test, each.golden_set)
            yield Note(Topic.SHARED, text, failure=text)


def _shown(path: Path, root: Path) -> str:
    return Path(os.path.relpath(path, root)).as_posix()


def _retirement(path: Path) -> str | None:
    """Return the reason for which this branch gave up a baseline; None if it is not retired."""
    try:
        retired = Record.load(path).retired
    except BaselineError:
        return None
    if retired is None or not retired.reason.strip():
        return None
    author = f" by {quoted(retired.author)}" if retired.author else ""
    return f'"{quoted(retired.reason)}"{author}'


def _replaced(
    unrun: Sequence[Unrun], reference: Reference, root: Path, ran: set[Path]
) -> dict[Path, Path]:
    """Return the baselines of tests that are gone, with the new ones that take their place.

    A new baseline takes the place of at most one other, of the same golden set, if it breaks none
    of its promises.
    """
    added = {
        change.path: readable_record(change.after, change.path)
        for change in reference.changes(root)
        if change.before is None and change.path in ran
    }
    replaced: dict[Path, Path] = {}
    for each in unrun:
        if not each.why.is_gone or each.record is None or _retirement(each.path) is not None:
            continue
        new = next((path for path in added if _continues(each.record, added[path])), None)
        if new is not None:
            del added[new]
            replaced[each.path] = new
    return replaced


def _continues(before: Record, after: Record | None) -> bool:
    """Whether a record is of the golden set of another one, and no worse."""
    from pytest_rankcheck.baselines.succession import broken_promises, new_approvals

    if after is None or not (
        before.golden_set.name == after.golden_set.name
        or before.golden_set.fingerprint == after.golden_set.fingerprint
    ):
        return False
    if new_approvals(before, after) is None:  # a new record has approvals of its own
        before = replace(before, approvals=())
    return not broken_promises(before, after)


# --- what a branch changes of the options --------------------------------------------------------


def _option_notes(
    settings: BaselineSettings, reference: Reference, file: Path | None = None
) -> Iterator[Note]:
    """Yield the options that this branch changes; a loosened one fails without a reason.

    Args:
        settings: of the test session.
        reference: the commit to compare with.
        file: a rank file, which sets options of its own; None: the configuration.
    """
    then, now = settings.of_rank_file(file) if file else (settings.at_reference, settings.here)
    place = f"{quoted(_shown(file, reference.folder), 200)}: " if file else ""
    names = [name for name in {**then, **now} if name.startswith("rankcheck_") or name == "addopts"]
    loosened = {key.subject: key for key in settings.loosened(file)}
    given = _new_keys(reference) if loosened else ()
    for name in sorted(names, key=lambda name: (name not in _FIRST, name)):
        if then.get(name) == now.get(name):
            continue
        text = f"{place}{name}: {_value_at(then, name)} -> {_value_at(now, name)}"
        failure = remedy = None
        key = loosened.get(name)
        if key is not None and not key.is_covered(given):
            text = f"{text}; the stricter one counts, and this needs a reason"
            remedy = approve_all(reference.name)
            failure = f"{text}\n  {remedy}"
        yield Note(Topic.OPTIONS, text, quoted(reference.name), failure, remedy)


def _value_at(values: Mapping[str, object], name: str) -> str:
    value = values.get(name, "not set")
    return quoted(" ".join(map(str, value)) if isinstance(value, list) else str(value), 200)


def _new_keys(reference: Reference) -> Sequence[Change]:
    """Return the keys that approvals of this branch give."""
    keys: list[Change] = []
    for change in reference.changes(reference.folder):
        before = readable_record(change.before, change.path)
        after = readable_record(change.after, change.path)
        merged = before.approvals if before else ()
        for approval in after.approvals if after else ():
            keys += approval.keys if approval not in merged else ()
    return keys
