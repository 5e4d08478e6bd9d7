"""The folder that keeps answers until a run is complete, in JSON files written atomically."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import nan
from pathlib import Path
from typing import Any

from pytest_rankcheck.errors import ConfigurationError, RunError, quoted
from pytest_rankcheck.files.folder_lock import FolderBusyError, locked_folder
from pytest_rankcheck.files.whole_files import write_whole
from pytest_rankcheck.rankers.execution.plain_answers import FORMS, PlainAnswer
from pytest_rankcheck.rankers.execution.resume_key import ResumeKey, differences

__all__ = ["KeptAnswer", "KeptAnswers"]

_FORMAT = 1
_KEY = "key.json"
_PART = "part-*.json"
_MOST_AGE = timedelta(days=1)
_CLOCKS = timedelta(hours=1)
"""How far the clocks of two machines may differ."""


@dataclass(frozen=True, slots=True)
class KeptAnswer:
    """An answer that was ranked earlier, and how long that took."""

    answer: PlainAnswer
    seconds: float


class KeptAnswers:
    """The answers of one incomplete ranking, in a folder of its own."""

    def __init__(self, folder: Path, key: ResumeKey) -> None:
        self.folder = folder
        self._key = key
        self.answers: dict[str, KeptAnswer] = {}
        """The answers of earlier sessions, by query id."""
        self.times: list[datetime] = []
        """When they were ranked, according to the times at which the files were written."""
        self._number = 0
        self._lock = ExitStack()

    def open(self) -> None:
        """Lock the folder until `close`, and read its answers.

        Raises:
            ConfigurationError: another process uses the folder; its answers have another key or
                are too old; it has other files; or it is not a folder.
                RunError: a file was cut off or edited, or two files contradict each other.
        """
        __tracebackhide__ = True
        with self._writing():
            self._make_folder()
        try:
            self._lock.enter_context(locked_folder(self.folder, wait=False))
        except FolderBusyError:
            raise ConfigurationError(
                f"resume={quoted(self.folder, 200)}: another process is ranking into this folder; "
                "wait for it, or give another folder"
            ) from None
        try:
            self._read()
        except BaseException:
            self.close()
            raise

    def _make_folder(self) -> None:
        __tracebackhide__ = True
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError):
            places = (self.folder, *self.folder.parents)
            file = next((path for path in places if path.is_file()), self.folder)
            raise ConfigurationError(
                f"resume={quoted(self.folder, 200)}: '{quoted(file, 200)}' is not a folder; give a "
                "folder that is empty or does not exist"
            ) from None

    def close(self) -> None:
        """Release the folder for other processes."""
        self._lock.close()

    def _read(self) -> None:
        __tracebackhide__ = True
        parts = sorted(self.folder.glob(_PART))
        file = self.folder / _KEY
        if not parts:
            self._refuse_other_files()
            text = json.dumps({"format": _FORMAT, "key": self._key.values}, indent=1)
            with self._writing():
                write_whole(file, text)
            return
        if not file.exists():
            raise RunError(f"{quoted(self.folder, 200)} has parts, but no {_KEY}; {_REMEDY}")
        self._check_key(file)
        read_from: dict[str, Path] = {}
        for part in parts:
            self._read_part(part, read_from)

    def _check_key(self, file: Path) -> None:
        __tracebackhide__ = True
        found = _json_object(file)
        if found.get("format") != _FORMAT:
            raise ConfigurationError(
                f"{quoted(file, 200)} was written by another version of pytest-rankcheck; {_REMEDY}"
            )
        changed = list(differences(found.get("key") or {}, self._key.values))
        if changed:
            listing = "\n  ".join(changed)
            raise ConfigurationError(
                f"resume={quoted(self.folder, 200)}: its answers were ranked under other "
                f"conditions:\n  {listing}\n{_REMEDY}"
            )

    def _refuse_other_files(self) -> None:
        others = sorted(path.name for path in self.folder.iterdir() if path.name != _KEY)
        if others:
            raise ConfigurationError(
                f"resume={quoted(self.folder, 200)} has other files, such as "
                f"'{quoted(others[0], 80)}'; give a folder that is empty or does not exist"
            )

    def _read_part(self, part: Path, read_from: dict[str, Path]) -> None:
        """Add the answers of a file to those of earlier files, by query."""
        __tracebackhide__ = True
        found = _json_object(part)
        if found.pop("checksum", None) != _checksum(found):
            raise _invalid(part)
        try:
            digest, when = found["key"], datetime.fromisoformat(found["ranked"])
            answers = {
                query_id: _answer(*entry) for query_id, entry in dict(found["answers"]).items()
            }
            number = int(part.stem.removeprefix("part-"))
        except (KeyError, TypeError, ValueError, AttributeError):
            raise _invalid(part) from None
        if digest != self._key.digest:
            raise ConfigurationError(
                f"{quoted(part, 200)} and {_KEY} beside it belong to different rankings; {_REMEDY}"
            )
        self._refuse_old(part, when)
        for query_id, answer in answers.items():
            first = self.answers.setdefault(query_id, answer)
            if first.answer != answer.answer:
                raise RunError(
                    f"{quoted(read_from[query_id], 200)} and {quoted(part.name, 80)} have "
                    f"different answers to query '{quoted(query_id)}'; {_REMEDY}"
                )
            read_from.setdefault(query_id, part)
        self.times.append(when)
        self._number = max(self._number, number)

    def _refuse_old(self, part: Path, when: datetime) -> None:
        age = datetime.now(UTC) - when
        if self._key.resume_key is None and not -_CLOCKS <= age <= _MOST_AGE:
            raise ConfigurationError(
                f"{quoted(part, 200)} was ranked at {when:%Y-%m-%d %H:%M} UTC, more than a day "
                f"ago; {_REMEDY}, and give resume_key= (--rankcheck-resume-key) if it takes "
                "longer: a text that changes whenever the rankings may"
            )

    def keep(self, answers: Mapping[str, KeptAnswer]) -> None:
        """Write some answers to a file of their own."""
        self._number += 1
        entries = {
            query_id: (
                kept.answer.form,
                kept.answer.doc_ids,
                kept.answer.scores,
                None if kept.seconds != kept.seconds else kept.seconds,
            )
            for query_id, kept in answers.items()
        }
        ranked = datetime.now(UTC).isoformat(timespec="seconds")
        content = {"key": self._key.digest, "ranked": ranked, "answers": entries}
        signed = {**content, "checksum": _checksum(content)}
        with self._writing():
            write_whole(self.folder / f"part-{self._number:06d}.json", json.dumps(signed))

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Name the folder if a file cannot be written, such as on a full disk."""
        __tracebackhide__ = True
        try:
            yield
        except OSError as error:
            raise ConfigurationError(
                f"resume={quoted(self.folder, 200)}: answers cannot be written there: "
                f"{quoted(error.strerror or error)}; make room or give another folder. The "
                "existing files are complete, and are used when you start again"
            ) from None

    def delete(self) -> None:
        """Delete all files of a complete ranking, and the folder if it is then empty."""
        for path in (*self.folder.glob(_PART), self.folder / _KEY):
            path.unlink(missing_ok=True)
        with suppress(OSError):
            self.folder.rmdir()


_REMEDY = "delete the folder to rank again"


def _checksum(content: Mapping[str, Any]) -> str:
    """Return a digest of everything in a part, to detect edits."""
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:32]


def _json_object(file: Path) -> dict[str, Any]:
    try:
        found = json.loads(file.read_text("utf-8"))
    except (ValueError, RecursionError):
        raise _invalid(file) from None
    if not isinstance(found, dict):
        raise _invalid(file)
    return found


def _invalid(file: Path) -> RunError:
    return RunError(
        f"{quoted(file, 200)} was cut off or edited after it was written; delete it, and its "
        "queries are ranked again"
    )


def _answer(
    form: Any, doc_ids: Sequence[Any], scores: Sequence[Any] | None, seconds: Any
) -> KeptAnswer:
    """Return a stored answer.

    Raises:
        ValueError: it is invalid.
    """
    are_ids = isinstance(doc_ids, list) and all(type(doc_id) is str for doc_id in doc_ids)
    are_scores = scores is None or (
        isinstance(scores, list)
        and len(scores) == len(doc_ids)
        and all(type(score) is float for score in scores)
    )
    if form not in FORMS or not are_ids or not are_scores or (form == "scores" and scores is None):
        raise ValueError
    duration = nan if seconds is None else float(seconds)
    return KeptAnswer(PlainAnswer(form, doc_ids, scores), duration)
