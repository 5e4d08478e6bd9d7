"""The baseline file of one test: its record here, its record at the reference commit, its text."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from pytest_rankcheck.baselines.data_file import DataFiles, MissingDataError
from pytest_rankcheck.baselines.record import Record
from pytest_rankcheck.errors import BaselineError, quoted
from pytest_rankcheck.files.text_files import text_of

if TYPE_CHECKING:
    from pytest_rankcheck.baselines.best_history import BestHistory
    from pytest_rankcheck.baselines.reference_commit import Reference

__all__ = ["BaselineFile", "Proposal", "Store", "unwritable"]


@dataclass(frozen=True, slots=True)
class Proposal:
    """The text that a baseline file should have, or why it may not change."""

    text: str
    refusal: str | None = None


class Store(Protocol):
    """Where a record is kept."""

    path: Path
    shown_path: str
    """The path as messages show it."""

    def submit(self, proposal: Proposal) -> None:
        """Compare with the file and, in an update, write it."""

    def locked(self) -> AbstractContextManager[object]:
        """Return a context in which no other test session writes the file."""


def unwritable(shown_path: str, failure: BaseException) -> BaselineError:
    """Return the error for a baseline that cannot be written."""
    why = getattr(failure, "strerror", None) or failure
    return BaselineError(
        f"{shown_path}: the baseline cannot be written: {why}. What was there is unchanged; make "
        "the folder writable and update again"
    )


class BaselineFile:
    """The file of one test in a store, and the same file at the reference commit.

    Args:
        store: where the record is kept.
        reference: the commit whose baselines count; None: those of the working tree.
    """

    def __init__(self, store: Store, reference: Reference | None = None) -> None:
        self._store = store
        self._reference = reference

    @property
    def path(self) -> Path:
        """The file."""
        return self._store.path

    @property
    def shown_path(self) -> str:
        """The file as messages show it, with the reference if the record comes from there."""
        if self._reference is None or self._reference_text is None:
            return self._store.shown_path
        return f"{self._store.shown_path} at {quoted(self._reference.name)}"

    @cached_property
    def record(self) -> Record | None:
        """The approved record; None before the first update.

        It is the one at the reference commit, if that has one. A record that only this branch has
        is compared anyway, and reported as added by the branch.

        Raises:
            BaselineError: the file is not a record, or has a newer format version.
        """
        if self._reference_text is not None:
            assert self._reference is not None
            files = self._reference.data_files(self.path)
            return Record.from_text(self._reference_text, self.shown_path, files)
        return self.working_record

    @cached_property
    def working_record(self) -> Record | None:
        """The record in the working tree; None without a file."""
        if self._text_now is None:
            return None
        try:
            return Record.from_text(self._text_now, self._store.shown_path, DataFiles(self.path))
        except MissingDataError:
            if not self.was_changed_by_others():
                raise
            self.read_again()  # another test session has just replaced both files of the record
            return self.working_record

    @property
    def is_from_reference(self) -> bool:
        """Whether the record that counts is the one at the reference commit."""
        return self._reference_text is not None

    @property
    def is_behind(self) -> bool:
        """Whether the reference has a newer record, and this branch has not touched its own."""
        return (
            self._reference is not None
            and self._text_now != self._reference_text
            and self._reference.is_untouched(self.path, self._text_now)
        )

    @property
    def best_history(self) -> BestHistory:
        """The versions of the file up to the commit that counts."""
        from pytest_rankcheck.baselines.best_history import BestHistory

        return BestHistory(self.path, self._reference)

    def locked(self) -> AbstractContextManager[object]:
        """Return a context in which no other test session writes the file."""
        return self._store.locked()

    def was_changed_by_others(self) -> bool:
        """Return whether the file has changed since the test read it."""
        return self._text_now != self._read_text()

    def read_again(self) -> None:
        """Forget what the test has read."""
        for name in ("record", "working_record", "_text_now"):
            vars(self).pop(name, None)

    def write(self, record: Record) -> bool:
        """Write a record, in a context of `locked`. Return whether the text of the file changes.

        Raises:
            BaselineError: the file cannot be written.
        """
        from pytest_rankcheck.baselines.record_writer import record_texts, write_texts

        texts = record_texts(record)
        try:
            write_texts(self.path, texts, lambda: self._store.submit(Proposal(texts.header)))
        except OSError as failure:
            raise unwritable(self._store.shown_path, failure) from None
        return texts.header != self._text_now

    def keep(self) -> None:
        """Leave the file as it is, and count it as used."""
        if self._text_now is not None:
            self._store.submit(Proposal(self._text_now))

    def refuse(self, why: str) -> None:
        """Leave the file as it is, and report why it must not be written."""
        self._store.submit(Proposal(self._text_now or "", refusal=why))

    @cached_property
    def _reference_text(self) -> str | None:
        """The file at the reference commit; None without one, or if it lacks the file."""
        return self._reference.text(self.path) if self._reference else None

    @cached_property
    def _text_now(self) -> str | None:
        """The text of the file when the test read it; None without a file."""
        return self._read_text()

    def _read_text(self) -> str | None:
        return text_of(self.path, BaselineError) if self.path.exists() else None
