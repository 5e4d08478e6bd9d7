"""What was ranked, kept in files: answers of an interrupted ranking, and a run for all workers."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from pytest_rankcheck.errors import ConfigurationError, RunError, plural, quoted
from pytest_rankcheck.files.whole_files import locked_folder, write_whole
from pytest_rankcheck.golden.query import Query
from pytest_rankcheck.rankers.adapter_protocol import Adapter, OnAnswer, QueryAnswer, RankingTask
from pytest_rankcheck.rankers.ranking import Ranking
from pytest_rankcheck.rankers.ranking_forms import ScoredDocuments
from pytest_rankcheck.rankers.run import Run

_FILE = "answers.jsonl"
_REMEDY = "delete the folder to rank again"


class ResumedRanker(Adapter):
    """A ranker that is asked only the queries without a kept answer.

    The answers of one incomplete ranking are lines of JSON in a folder of its own. The first line
    has the key and the time when the ranking began; each further line an answer.
    """

    def __init__(self, ranker: Adapter, folder: Path, key: Mapping[str, str]) -> None:
        """Prepare to read and keep answers.

        Args:
            ranker: answers the other queries.
            folder: where they are kept, in a file of its own.
            key: what the rankings depend on, by its name in messages.
        """
        self._ranker = ranker
        self.name = ranker.name
        self.honours_timeout = ranker.honours_timeout
        self._folder = folder
        self._file = folder / _FILE
        self._key = dict(key)
        self._began = datetime.now(UTC)

    def ask(self, task: RankingTask, on_answer: OnAnswer) -> None:
        """Pass on the kept answers, and ask the other queries.

        Raises:
            ConfigurationError: another process uses the folder, its answers have another key, it
                is not a folder, or it cannot be written.
            RunError: a line that was complete has been edited.
        """

        def keep(answered: QueryAnswer) -> None:
            plain = answered.plain()
            if plain.failure is None:
                self._add(plain)
            on_answer(plain)

        with self._locked():
            answers = self._read()
            known = [query for query in task.golden if query.id in answers]
            for query in known:
                on_answer(answers[query.id])
            unknown = [each for each in task.golden.query_ids if each not in answers]
            if unknown:
                part = task.golden.for_ranker(unknown) if known else task.golden
                self._ranker.ask(replace(task, golden=part), keep)
        self.notes = [*self._ranker.notes]
        if known:
            count = plural(len(task.golden), "query", "queries")
            self.notes.append(
                f"{len(known):,} of {count} were ranked before (from "
                f"{self._began:%Y-%m-%d %H:%M} UTC on) and read from "
                f"{quoted(os.path.relpath(self._folder), 200)}"
            )

    @contextmanager
    def _locked(self) -> Iterator[None]:
        with self._failures_named():
            self._folder.mkdir(parents=True, exist_ok=True)
        try:
            with locked_folder(self._folder, wait=False):
                yield
        except Timeout:
            raise ConfigurationError(
                f"{self._named}: another process is ranking into this folder; wait for it, or give "
                "another folder"
            ) from None

    def _read(self) -> dict[str, QueryAnswer]:
        """Return the kept answers by query."""
        found = self._file.read_bytes() if self._file.exists() else b""
        whole = found[: found.rfind(b"\n") + 1]  # the last line may have been cut off
        answers: dict[str, QueryAnswer] = {}
        key: Mapping[str, object] = self._key
        for number, line in enumerate(whole.splitlines(), start=1):
            try:
                entry = json.loads(line)
                if number == 1:
                    self._began, key = datetime.fromisoformat(entry["began"]), dict(entry["key"])
                else:
                    answers[entry["query"]] = _answer(entry)
            except (KeyError, TypeError, ValueError, RecursionError):
                raise RunError(
                    f"{quoted(self._file, 200)}:{number} was edited after it was written; {_REMEDY}"
                ) from None
        changed = [what for what in self._key if key.get(what) != self._key[what]]
        if changed:
            what, then = changed[0], key.get(changed[0])
            raise ConfigurationError(
                f"{self._named}: its answers were ranked under other conditions: {what} was "
                f"'{quoted(then, 80)}' and is '{quoted(self._key[what], 80)}'; {_REMEDY}"
            )
        header = {"began": self._began.isoformat(timespec="minutes"), "key": self._key}
        with self._failures_named(), self._file.open("ab") as file:
            file.truncate(len(whole))
            if not whole:
                file.write(f"{json.dumps(header)}\n".encode())
        return answers

    def _add(self, answered: QueryAnswer) -> None:
        """Keep an answer; its value is plain."""
        answer: Any = answered.answer
        entry = {
            "query": answered.query.id,
            "docs": answer.doc_ids,
            "scores": answer.scores,
            "texts": getattr(answer, "texts", ()),
            "ordered": isinstance(answer, Ranking),
            "seconds": answered.seconds,
            "batch": answered.batch,
        }
        with self._failures_named(), self._file.open("a", encoding="utf-8") as file:
            file.write(f"{json.dumps(entry)}\n")

    @property
    def _named(self) -> str:
        return f"resume={quoted(self._folder, 200)}"

    @contextmanager
    def _failures_named(self) -> Iterator[None]:
        """Name the folder if a file cannot be written, such as on a full disk."""
        try:
            yield
        except OSError as error:
            raise ConfigurationError(
                f"{self._named}: answers cannot be written there: "
                f"{quoted(error.strerror or error)}; make room, or give another folder"
            ) from None

    def delete(self) -> None:
        """Delete the answers of a complete ranking; if that fails, they stay, which is harmless."""
        with suppress(OSError):
            self._file.unlink(missing_ok=True)
            self._folder.rmdir()


def _answer(entry: Mapping[str, Any]) -> QueryAnswer:
    """Return the answer of a line, in a form that a ranker may return."""
    docs, scores = tuple(entry["docs"]), entry["scores"]
    if scores is not None and len(scores) != len(docs):
        raise ValueError
    value: object = ScoredDocuments(docs, scores)
    if entry["ordered"]:
        value = Ranking(docs, None if scores is None else tuple(scores), entry["texts"])
    numbers = float(entry["seconds"]), int(entry["batch"])
    return QueryAnswer(Query(entry["query"]), value, None, *numbers)


def run_computed_once(folder: Path, key: str, compute: Callable[[], Run]) -> Run:
    """Return the run that ``compute`` returns, computed by one process only.

    Only one process computes at a time, whatever the run. If it dies, its lock is released.

    Args:
        folder: a folder that all processes share.
        key: identifies the run; each key is computed once.
        compute: computes the run. If it raises, nothing is stored and the next process tries.
    """
    digest = hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()
    file = folder / f"rankcheck-run-{digest}.json"
    with FileLock(folder / "rankcheck-runs.lock"):
        if file.exists():
            return _run_of(file.read_text("utf-8"))
        run = compute()
        write_whole(file, _text_of(run))
        return run


def _text_of(run: Run) -> str:
    rankings = {
        query_id: (ranking.doc_ids, ranking.scores) for query_id, ranking in run.rankings().items()
    }
    names = ["name", "depth", "ties", "duplicates", "seconds", "notes"]
    names += ["largest_batch", "failed", "texts"]
    return json.dumps({"rankings": rankings, **{name: getattr(run, name) for name in names}})


def _run_of(text: str) -> Run:
    details = json.loads(text)
    rankings = {
        query_id: Ranking(tuple(doc_ids), None if scores is None else tuple(scores))
        for query_id, (doc_ids, scores) in details.pop("rankings").items()
    }
    return Run(rankings, **details)
