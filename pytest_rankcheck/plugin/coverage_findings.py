"""What people must know of the baselines whose gates did not run, and what takes their place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_rankcheck.baselines.baseline_path import former_test_file, test_file_of
from pytest_rankcheck.baselines.record import Record
from pytest_rankcheck.errors import BaselineError, plural, quoted
from pytest_rankcheck.plugin.expected_gates import ExpectedGates
from pytest_rankcheck.plugin.unrun_baseline import ExpectedRecord, Unrun, Why
from pytest_rankcheck.plugin.unrun_gates import UnrunGates
from pytest_rankcheck.reports.baseline_findings import RecordFinding
from pytest_rankcheck.reports.findings import ReportedFinding
from pytest_rankcheck.reports.notes import Note, Topic

if TYPE_CHECKING:
    from pytest_rankcheck.baselines.reference_commit import Reference
    from pytest_rankcheck.plugin.renamed_tests import Replacement

__all__ = ["Coverage"]

_MOST_NAMES = 3


@dataclass
class Coverage:
    """What is known of the baselines at the end of a test session."""

    expected: ExpectedGates
    search: UnrunGates
    unrun: Sequence[Unrun]
    reference: Reference | None
    ran: set[Path]
    retired: dict[Path, str] = field(default_factory=dict)
    """Why a baseline was retired by this branch."""

    def findings(self) -> Sequence[ReportedFinding]:
        """Return all findings: one for each baseline, and notes."""
        unrun = [each for each in self.unrun if not self._is_retired(each.expected)]
        pairs = self._replacements(unrun)
        replaced = [pair.old.path for pair in pairs]
        unrun = [each for each in unrun if each.expected.path not in replaced]
        is_complete = all(each.is_listed or each.is_failure for each in unrun)
        fails = self.expected.mode == "fail" and is_complete and self.expected.is_whole
        found: list[ReportedFinding] = [_record_finding(each) for each in unrun]
        found += [Note(Topic.RETIRED, text) for text in self.retired.values()]
        found += [_replacement_note(pair) for pair in pairs]
        if self.expected.mode != "ignore":
            found += self._notes([each for each in unrun if self._is_listed(each)], fails)
        return found

    def _is_listed(self, unrun: Unrun) -> bool:
        """Whether people should know; a reviewer also of what the command line leaves out."""
        return unrun.is_listed or (self.reference is not None and unrun.why is Why.DESELECTED)

    # --- retired -----------------------------------------------------------------------------

    def _is_retired(self, expected: ExpectedRecord) -> bool:
        """Whether a baseline was given up on purpose; note a retirement by this branch."""
        if expected.record is not None and expected.record.retired is not None:
            return True
        if self.reference is None:
            return False
        here = _record_at(expected.path)
        if here is None or here.retired is None or not here.retired.reason.strip():
            return False
        reason = f'"{quoted(here.retired.reason)}"'
        author = f" by {quoted(here.retired.author)}" if here.retired.author else ""
        self.retired[expected.path] = f"{quoted(expected.shown_path, 200)}: {reason}{author}"
        return True

    # --- renamed -----------------------------------------------------------------------------

    def _replacements(self, unrun: Sequence[Unrun]) -> Sequence[Replacement]:
        """Return the new baselines that take the place of those of tests that are gone."""
        if self.reference is None:
            return []
        added = [
            self.search.record_in(change.path, change.after)
            for change in self.reference.changes(self.expected.root)
            if change.before is None and change.after is not None and change.path in self.ran
        ]
        if not added:
            return []
        gone = [each.expected for each in unrun if each.is_gone]
        known = {each.expected.path for each in self.unrun}
        # If the user chose some files, tests of other files may be gone as well.
        gone += [
            self.search.record_in(path, self.reference.text(path))
            for path in self.reference.baselines(self.expected.root)
            if path not in known and path not in self.ran and test_file_of(path) is None
        ]
        from pytest_rankcheck.plugin.renamed_tests import replacements

        return replacements(gone, added)

    # --- not run -----------------------------------------------------------------------------

    def _notes(self, unrun: Sequence[Unrun], fails: bool) -> Iterator[Note]:
        """Yield a note for each baseline, or for many with the same reason."""
        groups: dict[tuple[str, str, Path], list[Unrun]] = {}
        for each in unrun:
            groups.setdefault((each.why.value, each.detail, each.expected.path.parent), []).append(
                each
            )
        for group in groups.values():
            for each in group if len(group) <= _MOST_NAMES else group[:1]:
                text = each.text
                if len(group) > _MOST_NAMES:
                    text += f" (and {plural(len(group) - 1, 'other baseline')} beside it)"
                is_failure = fails and not each.is_excused and not self._was_unused(each)
                yield Note(Topic.NOT_RUN, text, failure=_failure(text) if is_failure else None)

    def _was_unused(self, unrun: Unrun) -> bool:
        """Whether the test of a baseline was already gone at the reference."""
        if self.reference is None or not unrun.is_gone or unrun.expected.record is None:
            return False
        from pytest_rankcheck.plugin.renamed_tests import is_defined

        source = self.reference.text(former_test_file(unrun.expected.path))
        return source is None or not is_defined(source, unrun.expected.record.test)


def _record_finding(unrun: Unrun) -> RecordFinding:
    expected = unrun.expected
    return RecordFinding(
        expected.shown_path,
        expected.golden_name,
        expected.gated,
        why_not=unrun.why.value,
        is_expected=not unrun.is_excused,
    )


def _replacement_note(pair: Replacement) -> Note:
    new, old = quoted(pair.new.shown_path, 200), quoted(pair.old.shown_path, 200)
    text = f"{new} takes the place of {old}, whose test is gone"
    if not pair.problems:
        return Note(Topic.RENAMED, text)
    text += f", and is worse: {'; '.join(quoted(problem.text, 200) for problem in pair.problems)}"
    return Note(
        Topic.RENAMED,
        text,
        failure=f"{text}\nTo rename a test with its approvals: python -m pytest_rankcheck retire "
        f'{old} --to TEST --reason "why it is renamed"\nTo give up its baseline: python -m '
        f'pytest_rankcheck retire {old} --reason "why it is no longer needed"',
    )


def _failure(text: str) -> str:
    return (
        f"{text}\nWhat was gated must stay gated: let the test run again, or give up the baseline "
        'with python -m pytest_rankcheck retire FILE --reason "why it is no longer needed"'
    )


def _record_at(path: Path) -> Record | None:
    try:
        return Record.load(path)
    except BaselineError:
        return None
