"""The syrupy extension. The only module that knows syrupy.

How syrupy behaves, and what follows for us; tests check each fact on every supported version:

1. An update deletes snapshots that it considers unused, also those of tests that failed early or
   never ran. So `BaselineExtension.discover_snapshots` returns nothing.
2. Single-file extensions ignore ``snapshot_dirname``. So we decide the whole location.
3. A write can only be vetoed by an exception in ``matches()``.
4. The write hook grows arguments between majors, writes in place, and from version 6 on at once
   instead of at the end of the session. So we take ``**kwargs``, replace the file as a whole, and
   flush older versions ourselves.
5. Its failure text does not survive ``--assert=plain``. So a test never asserts on a snapshot.
6. Extensions get no context. So what is compared carries it: a text, and why it is refused.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, ClassVar

import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.data import SnapshotCollection, SnapshotCollections
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode
from syrupy.location import PyTestLocation

from pytest_rankcheck.baselines.baseline_path import baseline_folder
from pytest_rankcheck.baselines.check import Mode
from pytest_rankcheck.errors import BaselineError, ConfigurationError
from pytest_rankcheck.files.whole_files import locked_folder, write_whole


class RefusedError(Exception):
    """The veto on a write; syrupy catches it and writes nothing."""


class BaselineExtension(SingleFileSnapshotExtension):
    """Stores the record of a test as one JSON file beside the test module."""

    _write_mode = WriteMode.TEXT
    file_extension = "json"
    # Syrupy writes through class methods, so their state belongs to the class.
    awaited: ClassVar[set[str]] = set()
    """The files that may be written now. An interrupted write is not repeated later."""
    failed_writes: ClassVar[dict[str, OSError]] = {}
    _refusal: str | None = None

    def serialize(self, data: Any, **kwargs: Any) -> str:
        """Return the submitted text; the reason for a refusal is kept for `matches`."""
        text, self._refusal = data
        return str(text)

    def matches(self, *, serialized_data: Any, snapshot_data: Any) -> bool:
        """Return whether the file has this text; veto the write if it was refused."""
        if self._refusal is not None:
            raise RefusedError(self._refusal)
        return bool(serialized_data == snapshot_data)

    @classmethod
    def get_location(cls, *, test_location: PyTestLocation, index: Any) -> str:
        """Return the path of the test's baseline file."""
        assert isinstance(test_location, _Location)
        return str(test_location.path)

    @classmethod
    def dirname(cls, *, test_location: PyTestLocation) -> str:
        """Return the folder of a test file's baselines; syrupy asks for any file."""
        return str(baseline_folder(Path(test_location.filepath)))

    @classmethod
    def get_snapshot_name(cls, *, test_location: PyTestLocation, index: Any = 0) -> str:
        """Return the name of the snapshot in syrupy's summary."""
        return Path(cls.get_location(test_location=test_location, index=index)).stem

    def discover_snapshots(self, **kwargs: Any) -> SnapshotCollections:
        """Return nothing, so that syrupy finds nothing to delete."""
        return SnapshotCollections()

    def delete_snapshots(self, **kwargs: Any) -> None:
        """Delete nothing: only a person removes a baseline."""

    @classmethod
    def write_snapshot_collection(
        cls, *, snapshot_collection: SnapshotCollection, **kwargs: Any
    ) -> None:
        """Write the file as a whole; a failure is kept for `SnapshotStore`, which reports it."""
        location = snapshot_collection.location
        if location not in cls.awaited:
            return
        text = str(next(iter(snapshot_collection)).data)
        try:
            write_whole(Path(location), text)
        except OSError as failure:
            cls.failed_writes[location] = failure


class _Location(PyTestLocation):
    """The file of a test's baseline; syrupy's matching of names and tests does not fit it."""

    path: Path
    """The file, which depends on the golden set, not on the test alone."""

    def __init__(self, item: pytest.Item, path: Path) -> None:
        super().__init__(item)
        object.__setattr__(self, "path", path)

    def matches_snapshot_name(self, snapshot_name: str) -> bool:
        return True

    def matches_snapshot_location(self, snapshot_location: str) -> bool:
        return True


def syrupy_session(config: pytest.Config) -> Any:
    """Return what syrupy keeps of the test session.

    Raises:
        ConfigurationError: syrupy's plugin is not loaded.
    """
    session = getattr(config, "_syrupy", None)
    if session is None:
        raise ConfigurationError(
            "the baseline fixture needs syrupy's plugin, which this session does not load; remove "
            "-p no:syrupy"
        )
    return session


class SnapshotStore:
    """The baseline file of one test, as a syrupy snapshot.

    Args:
        item: the test.
        path: the file.
        mode: what the test session may do to baselines.
    """

    def __init__(self, item: pytest.Item, path: Path, mode: Mode) -> None:
        self._may_write = mode.update
        self._assertion = SnapshotAssertion(
            session=syrupy_session(item.config),
            extension_class=BaselineExtension,
            test_location=_Location(item, path),
            update_snapshots=mode.update,
        )
        self.path = path
        self.shown_path = str(path)
        with suppress(ValueError):  # on another drive
            relative = os.path.relpath(path, item.config.invocation_params.dir)
            self.shown_path = min(relative, str(path), key=len)

    def submit(self, text: str, refusal: str | None = None) -> None:
        """Let syrupy compare, count and, in an update, write; nothing is written if refused.

        Raises:
            BaselineError: the file cannot be written. It is unchanged.
        """
        location = str(self.path)
        BaselineExtension.failed_writes.pop(location, None)
        updating = self._may_write and refusal is None
        if updating:
            BaselineExtension.awaited.add(location)
        try:
            accepted = bool(self._assertion == (text, refusal))
            if accepted and updating:
                # Before version 6, syrupy waits for the end of the test session.
                self._assertion.session.flush_snapshot_write_queue()
        finally:
            BaselineExtension.awaited.discard(location)
        failure: BaseException | None = BaselineExtension.failed_writes.pop(location, None)
        if failure is None and updating and not accepted:
            results = self._assertion.executions
            failure = results[max(results)].exception if results else None
        if failure is not None:
            raise self._unwritable(failure)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the lock of the folder of baselines.

        Raises:
            BaselineError: the folder cannot be made, or the lock cannot be taken.
        """
        with ExitStack() as stack:
            try:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                stack.enter_context(locked_folder(self.path.parent))
            except OSError as failure:
                raise self._unwritable(failure) from None
            yield

    def _unwritable(self, failure: BaseException) -> BaselineError:
        why = getattr(failure, "strerror", None) or failure
        return BaselineError(
            f"{self.shown_path}: the baseline cannot be written: {why}. The file is unchanged; "
            "make the folder writable and update again"
        )
