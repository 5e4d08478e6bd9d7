"""The baseline file of one test: its record here, and its record at the reference commit."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_rankcheck.baselines.check import Mode
from pytest_rankcheck.baselines.record import Record
from pytest_rankcheck.baselines.record_file import with_line_feeds
from pytest_rankcheck.errors import BaselineError
from pytest_rankcheck.files.text_files import text_of
from pytest_rankcheck.remedies import Place, Remedy

if TYPE_CHECKING:
    from pytest_rankcheck.baselines.reference_commit import Reference
    from pytest_rankcheck.baselines.seal import Seal
    from pytest_rankcheck.baselines.syrupy_store import SnapshotStore


@dataclass(eq=False)
class BaselineFile:
    """The file of one test in a store, and the same file at the reference commit.

    Args:
        store: where the record is kept.
        test: the arguments of pytest that run its test.
        mode: what the test session may do. An update compares with the record that it writes; one
            with a reason may replace a record that cannot be read.
        reference: the commit whose baselines count; None: those of the working tree.
        seal: of the golden set, if it is sealed.
    """

    store: SnapshotStore
    test: str
    """The arguments of pytest that run its test."""
    mode: Mode
    reference: Reference | None = None
    seal: Seal | None = None

    @property
    def path(self) -> Path:
        """The file."""
        return self.store.path

    @property
    def place(self) -> Place:
        """Where the record that counts is."""
        return self._place(is_there=self.is_from_reference)

    def _place(self, *, is_there: bool) -> Place:
        name = self.reference.name if self.reference else None
        return Place(self.store.shown_path, self.test, name, is_there)

    @property
    def is_from_reference(self) -> bool:
        """Whether the record that counts is the one at the reference commit."""
        return not self.mode.update and self.reference_record is not None

    @property
    def record(self) -> Record | None:
        """The approved record; None before the first update.

        It is the one at the reference commit, if that has one. A record that only this branch has
        is compared nevertheless, and reported as added by the branch.

        Raises:
            BaselineError: the file is not a record, or has another format version.
        """
        return self.reference_record if self.is_from_reference else self.working_record

    @cached_property
    def working_record(self) -> Record | None:
        """The record in the working tree; None without a file."""
        if self._text_now is None:
            return None
        try:
            return self._opened(
                Record.from_text(self._text_now, self.store.shown_path, self._mending)
            )
        except BaselineError:
            if self.mode.approval is None:
                raise
            return None

    def _opened(self, record: Record) -> Record:
        return self.seal.opened(record) if self.seal else record

    def _mending(self) -> Remedy:
        """Return how to get a readable record again.

        It is restored from the commit that counts, or recorded again if that has no readable one.
        """
        place = self._place(is_there=False)
        text = self._committed_text
        if text is not None and readable_record(text):
            return place.restore(self._commit)
        from pytest_rankcheck.files.git_commands import git_line

        is_tracked = git_line(self.path.parent, "ls-files", "--", self.path.name) is not None
        if text is None and is_tracked:
            return place.remove()
        return place.approve()

    @property
    def _commit(self) -> str:
        """The commit that has the approved record, in git's terms.

        It is the reference; without one, what is being merged, usually main; or else HEAD.
        """
        if self.reference is not None:
            return self.reference.name
        from pytest_rankcheck.files.git_commands import git_line

        merges = git_line(self.path.parent, "rev-parse", "--quiet", "--verify", "MERGE_HEAD")
        return "MERGE_HEAD" if merges else "HEAD"

    @property
    def _committed_text(self) -> str | None:
        """The file's text at the commit that has the approved record; None without one."""
        if self.reference is not None:
            return self._reference_text
        from pytest_rankcheck.files.git_commands import git_line

        return git_line(self.path.parent, "show", f"{self._commit}:./{self.path.name}")

    @property
    def is_unreadable(self) -> bool:
        """Whether the file that counts holds no readable record; a reason replaces it."""
        if self._reference_text is not None:
            return not readable_record(self._reference_text)
        return self._text_now is not None and self.working_record is None

    @cached_property
    def reference_record(self) -> Record | None:
        """The record at the reference commit; None without one, or if it lacks the file.

        Also None for an unreadable one that this branch has recorded again with a reason.
        """
        if self._reference_text is None:
            return None
        place = self._place(is_there=True)
        try:
            if self._obstacle is not None:
                raise BaselineError(f"{self._obstacle}, not the record\n  {place.approve()}")
            return self._opened(Record.from_text(self._reference_text, str(place), place.approve))
        except BaselineError:
            here = self.working_record
            keys = [key.name for a in (here.approvals if here else ()) for key in a.keys]
            if "unreadable" in keys or self.mode.approval is not None:
                return None
            raise

    @property
    def is_behind(self) -> bool:
        """Whether the reference has a newer record, and this branch has not touched its own."""
        return (
            self.reference is not None
            and self._text_now != self._reference_text
            and self.reference.is_behind(self.path, self._text_now)
        )

    @property
    def merged_approvals(self) -> int:
        """How many of the first approvals are merged, that is, in the approved record."""
        merged = readable_record(self._committed_text)
        return len(merged.approvals) if merged else 0

    def read_again(self) -> bool:
        """Return whether the file has changed since the test read it; its new content counts."""
        text = self._read_text()
        if text == self._text_now:
            return False
        vars(self).update(_text_now=text)
        vars(self).pop("working_record", None)
        return True

    def write(self, record: Record) -> bool:
        """Write a record, in a context of `locked`. Return whether the text of the file changes.

        Raises:
            BaselineError: the file cannot be written.
        """
        text = (self.seal.closed(record) if self.seal else record).text
        self.store.submit(text)
        return text != self._text_now

    def keep(self) -> None:
        """Leave the file as it is, and count it as used."""
        if self._text_now is not None:
            self.store.submit(self._text_now)

    def refuse(self, why: str) -> None:
        """Leave the file as it is, and report why it must not be written."""
        self.store.submit(self._text_now or "", why)

    @cached_property
    def _reference_text(self) -> str | None:
        """The file at the reference commit; None without one, or if it lacks the file.

        Raises:
            ConfigurationError: the file is not in the repository of the reference.
        """
        if self.reference is None:
            return None
        self.reference.refuse_elsewhere(self.path)
        text = self.reference.text(self.path)
        return "" if text is None and self._obstacle is not None else text

    @cached_property
    def _obstacle(self) -> str | None:
        """What the reference commit has instead of the file, such as a link to its folder."""
        return self.reference.obstacle(self.path) if self.reference else None

    @cached_property
    def _text_now(self) -> str | None:
        """The text of the file when the test read it; None without a file."""
        return self._read_text()

    def _read_text(self) -> str | None:
        if self.path.exists():
            return with_line_feeds(text_of(self.path, BaselineError))
        return None


def readable_record(text: str | None) -> Record | None:
    """Return the record in the text of a baseline file; None if it cannot be read."""
    try:
        return None if text is None else Record.from_text(text)
    except BaselineError:
        return None
