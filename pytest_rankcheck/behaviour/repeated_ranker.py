"""A ranker that is asked more than once, and how its answers differ.

It is asked again in this process, as a new instance, or in a new process. That one gets the golden
set and the options in a pickle, imports the ranker by its name with this process's ``sys.path`` and
working directory, and writes its answers as JSON to another file, so that output printed by the
ranker cannot damage them.
"""

from __future__ import annotations

import inspect
import json
import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from pytest_rankcheck.errors import ConfigurationError, RankerError, RunError, quoted, suggestion
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.rankers.adapter_protocol import Adapter, RankingTask, made_by
from pytest_rankcheck.rankers.rank import DEFAULT_DEPTH, Attempt, RankOptions, attempted, rank
from pytest_rankcheck.rankers.ranker_lookup import (
    adapter_of,
    check_ranker_name,
    load_ranker,
    named_object,
)
from pytest_rankcheck.rankers.ranking import RankingRules, id_map
from pytest_rankcheck.rankers.run import Run

Fresh = Callable[[], object] | str
"""A function or class that is called without arguments and returns a new ranker, or its name."""

_MARK = "RANKCHECK_PROCESS_CONDITION"
"""Set in the processes that this module starts, so that they do not start further ones."""
_LAST_LINES = 12
_TIMEOUT = 600
"""The seconds in which a new process must answer."""
_START = (
    "import pickle, sys; task = open(sys.argv[1], 'rb'); sys.path[:] = pickle.load(task); "
    "from pytest_rankcheck.behaviour.repeated_ranker import answer_task; "
    "answer_task(task, sys.argv[2])"
)
"""The code of a new process: it uses only the standard library until ``sys.path`` is set."""


@dataclass(frozen=True, slots=True)
class RepeatedRanker:
    """A ranker and the options of ``rank`` with which it is asked each time."""

    adapter: Adapter
    options: RankOptions

    @classmethod
    def of(cls, ranker: object, options: RankOptions) -> RepeatedRanker:
        """Return a ranker, or the one with this name, under options.

        Raises:
            ConfigurationError: an option is unknown.
            RankerError: ``ranker`` is not a ranker.
        """
        names = list(RankOptions.__annotations__)
        for name in options:
            if name not in names:
                raise ConfigurationError(
                    f"unknown option '{quoted(name)}'{suggestion(name, names)}; the options "
                    f"are those of rank: {', '.join(names)}"
                )
        if isinstance(ranker, str):
            ranker = load_ranker(ranker)
        return cls(adapter_of(ranker), options)

    def first_run(self, golden: GoldenSet) -> Run:
        """Return the run with which all others are compared.

        Raises:
            RankerError: the ranker fails on a query.
            RunError: every ranking is empty.
        """
        run = rank(self.adapter, golden, **self.options)
        if not any(run[query_id] for query_id in run):
            raise RunError(
                f"ranker '{quoted(self.adapter.name)}' on golden set '{quoted(golden.name)}': "
                "every ranking is empty: the ranker is broken, not bad"
            )
        return run

    def rerun(self, golden: GoldenSet) -> Attempt:
        """Return what the ranker answers now, including failures."""
        options: dict[str, Any] = {"depth": DEFAULT_DEPTH, **self.options}
        doc_id = options.pop("doc_id", None)
        rules = {name: options.pop(name) for name in ("ties", "duplicates") if name in options}
        try:
            task = RankingTask(golden, **options)
            return attempted(self.adapter, task, RankingRules(**rules, to_id=id_map(doc_id)))
        except Exception as error:  # it fails on all queries, unlike before
            return Attempt(Run({}), {query.id: error for query in golden})


@dataclass(frozen=True, slots=True)
class AnswerDifference:
    """A query that was ranked differently, or failed, when it was asked in a different way."""

    query_id: str
    how: str
    """How it was asked: ``in reverse``; empty if that goes without saying."""
    before: Sequence[str]
    after: Sequence[str]
    failure: Exception | None = None


def answer_differences(run: Run, attempt: Attempt, how: str = "") -> list[AnswerDifference]:
    """Return the queries that fail or are ranked differently than in ``run``, in its order."""
    differences = []
    for query_id in run:
        before, after = run[query_id], attempt.run.get(query_id)
        failure = attempt.failures.get(query_id)
        if failure is not None or before != after:
            differences.append(AnswerDifference(query_id, how, before, after, failure))
    return differences


@dataclass(frozen=True, slots=True)
class RankerSource:
    """How to make a new ranker, or why that is impossible."""

    ranker: object = None
    """The ranker that is checked."""
    make: Callable[[], object] | None = None
    """Makes a new instance of the ranker in this process."""
    why_not_made: str = "give fresh="
    name: str | None = None
    """The name by which a new process makes the ranker."""
    is_given: bool = False
    """Whether the user gave ``fresh=``."""

    @classmethod
    def of(cls, ranker: object, loaded: str | None, fresh: Fresh | None) -> RankerSource:
        """Return how to make a new ranker, from the user's arguments.

        Args:
            ranker: the ranker as it is asked.
            loaded: the name by which it was loaded; None if it was passed as an object.
            fresh: makes a new ranker; None if not given.

        Raises:
            ConfigurationError: ``fresh`` cannot be called without arguments.
        """
        is_given = fresh is not None
        if fresh is None and loaded is not None:
            if not loaded.endswith("()"):
                why = f"'{quoted(loaded)}' is not a factory; give fresh="
                return cls(ranker, why_not_made=why, name=loaded)
            fresh = loaded
        if fresh is None:
            return cls(ranker)
        factory: object = fresh
        name, make = loaded, fresh
        if isinstance(fresh, str):
            factory = named_object(check_ranker_name(fresh), "ranker")
            called = f"{fresh.strip().removesuffix('()')}()"
            name, make = loaded or called, partial(load_ranker, called)
        try:
            inspect.signature(factory).bind()  # type: ignore[arg-type]
        except TypeError:  # not callable, or needs arguments as a ranker does
            raise ConfigurationError(
                f"fresh={quoted(repr(fresh), 60)} is invalid; give a function or class that "
                "returns a new ranker when it is called without arguments, or its name, such as "
                '"package.module:make_ranker"'
            ) from None
        except ValueError:
            pass  # some C functions have no signature
        return cls(ranker, make, name=name, is_given=is_given)  # type: ignore[arg-type]

    def adapter(self) -> Adapter | None:
        """Return a new instance of the ranker, or None if the same one was returned.

        Raises:
            ConfigurationError: ``fresh`` returns the ranker that is being checked.
            RankerError: ``fresh`` fails, or returns something that is not a ranker.
        """
        assert self.make is not None
        made = made_by(self.make, "fresh= failed")
        is_method = hasattr(made, "__self__") and hasattr(self.ranker, "__self__")
        if not (made is self.ranker or (is_method and made == self.ranker)):
            return adapter_of(made)
        if self.is_given:
            raise ConfigurationError(
                "fresh= returned the ranker that is being checked; it must make a new one at each "
                "call"
            )
        return None


def is_asked_process() -> bool:
    """Whether `asked_in_process` started this process."""
    return _MARK in os.environ


def asked_in_process(ranker: RepeatedRanker, name: str, golden: GoldenSet) -> Attempt:
    """Return the answers of a new process.

    Args:
        ranker: the ranker with its options.
        name: the name by which the process imports it.
        golden: the queries, in the order in which they are asked.

    Raises:
        ConfigurationError: an option cannot be sent to another process.
        RankerError: the process fails, or does not answer in time.
    """
    with tempfile.TemporaryDirectory(prefix="rankcheck-") as temporary:
        folder = Path(temporary)
        with (folder / "task").open("wb") as task:
            pickle.dump([entry for entry in sys.path if isinstance(entry, str)], task)
            try:
                pickle.dump((name, ranker.options, golden), task)
            except Exception as error:
                raise ConfigurationError(
                    "doc_id, retry_on or the golden set cannot be sent to a new process "
                    f"({quoted(error, 200)}); define functions at the top level of a module"
                ) from error
        why = _status_of_process(folder)
        if not (folder / "answers").exists():
            output = (folder / "output").read_text(encoding="utf-8", errors="replace")
            lines = [f"\n    {quoted(line, 300)}" for line in output.splitlines()[-_LAST_LINES:]]
            raise RankerError(
                f"ranker '{quoted(name)}' in a new process: {why}\n"
                f"  the last lines of its output:{''.join(lines) or ' none'}\n"
                '  to leave the new process out: insensitive_to= without "process"'
            )
        answers, texts = json.loads((folder / "answers").read_text(encoding="utf-8"))
    rankings = {query_id: tuple(docs) for query_id, docs in answers.items()}
    failures = {each: RankerError(f"in the new process: {texts[each]}") for each in texts}
    return Attempt(Run(rankings, name=ranker.adapter.name), failures)


def _status_of_process(folder: Path) -> str:
    """Run the new process to its end; return how it ended."""
    seed = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    # -P: the working directory must not hide modules of the standard library.
    command = [sys.executable, "-P", "-c", _START, str(folder / "task"), str(folder / "answers")]
    env = {**os.environ, "PYTHONHASHSEED": seed, _MARK: "1"}
    # A file, not a pipe: a child of the ranker may hold a pipe open.
    with (folder / "output").open("wb") as output:
        given: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": output, "stderr": output}
        try:
            done = subprocess.run(command, env=env, timeout=_TIMEOUT, check=False, **given)
        except subprocess.TimeoutExpired:
            return f"it did not answer within {_TIMEOUT} s and was stopped"
    return f"it ended with exit status {done.returncode} and no answer"


def answer_task(task: BinaryIO, answer_file: str) -> None:
    """Ask a task's ranker all its queries, write the answers, and end this new process.

    Raises:
        Exception: the ranker cannot be imported or made.
    """
    name, options, golden = pickle.load(task)
    attempt = RepeatedRanker.of(name, options).rerun(golden)
    answers = {query_id: list(attempt.run[query_id]) for query_id in attempt.run}
    failures = attempt.failures.items()
    texts = {query_id: f"{type(failure).__name__}: {failure}" for query_id, failure in failures}
    Path(answer_file).write_text(json.dumps([answers, texts]), encoding="utf-8")
    sys.stdout.flush()
    os._exit(0)  # threads that the ranker leaves behind do not keep the process alive
