"""A random history of a baseline: updates, approvals, edited golden sets, kills, other sessions.

Run as a script, it plays as many steps as wanted and prints the seed of each history::

    python tests/adversary/random_history.py 10000 [SEED]
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

from promises import (
    Entry,
    Ledger,
    broken_promises,
    is_all_or_nothing,
    is_traded,
    lines_of,
    mean_of,
)
from record_entries import data_name, entry_of, read_entry, write_entry

from pytest_rankcheck import Gate, GoldenSet, Metric, Record, Run, evaluate
from pytest_rankcheck.baselines import data_file
from pytest_rankcheck.baselines.baseline import Baseline
from pytest_rankcheck.baselines.baseline_file import Proposal
from pytest_rankcheck.baselines.data_file import DataFiles, leftover_data
from pytest_rankcheck.baselines.update_actions import Action, Mode
from pytest_rankcheck.errors import BaselineError
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.files.folder_lock import locked_folder
from pytest_rankcheck.files.whole_files import temporary_files, write_whole

METRICS = ("RR", "nDCG@5", "FirstRank(missing=omit)")
ALLOWANCES = (0.0, 0.01, 0.05, 0.2)
QUERIES = 24


Trick = Callable[[random.Random, Entry], None]


class Killed(BaseException):
    """The process is killed."""


class PlainStore:
    """A baseline file without syrupy."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.shown_path = path.name

    def submit(self, proposal: Proposal) -> None:
        is_new = not self.path.exists() or self.path.read_text("utf-8") != proposal.text
        if proposal.refusal is None and is_new:
            write_whole(self.path, proposal.text)

    def locked(self) -> AbstractContextManager[None]:
        return locked_folder(self.path.parent)


@dataclass
class MainBranch:
    """The reference: the text of the file on main."""

    content: str | None
    data: Mapping[str, bytes] = field(default_factory=dict)
    """The data files on main, by name."""
    name: str = "main"

    def text(self, path: Path) -> str | None:
        return self.content

    def data_files(self, path: Path) -> DataFiles:
        return DataFiles(path, lambda data_path: [self.data[data_path.name]])

    def is_untouched(self, path: Path, text: str | None) -> bool:
        return False

    def inside(self, path: Path) -> None:
        """Return that no repository has the file, so that it has no history."""


class Session:
    """A test session: it reads the record and decides; later it writes."""

    def __init__(self, history: History, mode: Mode, main: MainBranch | None = None) -> None:
        self.evaluation = history.measured()
        self.baseline = Baseline(
            lambda name: PlainStore(history.path),
            "test_x.py::test_x",
            mode,
            None,
            main,  # type: ignore[arg-type]
            key="test_x",
        )
        gates = {Metric.parse(name): Gate.tolerance(abs=by) for name, by in history.gates.items()}
        try:
            results = self.baseline.check_all(self.evaluation, gates)
        except BaselineError:
            self.passed = False
            return
        self.passed = all(block is None for _, block in results)
        if self.passed:
            settlement = self.baseline.decide()
            self.passed = settlement is not None and settlement.action is not Action.REFUSE

    def finish(self) -> bool:
        """Write, if the test passed. Return whether the test session passes."""
        if not self.passed:
            return False
        try:
            settlement = self.baseline.write_or_keep()
        except BaselineError:
            return False
        return settlement is not None and settlement.action is not Action.REFUSE

    def values(self) -> Mapping[str, Mapping[str, float | None]]:
        """Return what was measured, as a record has it: metric -> query id -> value."""
        table = {}
        for name in METRICS:
            values = self.evaluation.per_query(name).items()
            table[name] = {
                str(query_id): None if value != value else round(float(value), 6)
                for query_id, value in values
            }
        return table


class History:
    """A baseline on a branch, the same baseline on main, and what is measured."""

    def __init__(self, folder: Path, seed: int) -> None:
        self._data: dict[str, bytes] = {}
        """The data files of all records so far, by name."""
        self.random = random.Random(seed)
        self.path = folder / "test_x--web.json"
        self.queries: dict[str, tuple[str, dict[str, int]]] = {}
        self.ranks: dict[str, int | None] = {}
        self.gates: dict[str, float] = {"RR": 0.05, "nDCG@5": 0.05}
        self.main: str | None = None
        self.ledger = self.main_ledger = Ledger()
        self.is_tampered = False
        self.played: list[str] = []
        self._names = 0
        for _ in range(QUERIES):
            self._add_query()
        self.update()

    # --- what is measured --------------------------------------------------------------------

    def measured(self) -> Evaluation:
        """Return the evaluation of the ranker as it is now."""
        golden = GoldenSet.from_dict(
            {query_id: grades for query_id, (_, grades) in self.queries.items()},
            queries={query_id: text for query_id, (text, _) in self.queries.items()},
            name="web",
        )
        return evaluate(Run.from_dict({q: self._ranking(q) for q in self.queries}), golden)

    def _ranking(self, query_id: str) -> list[str]:
        ranking = [f"filler {place}" for place in range(10)]
        rank = self.ranks[query_id]
        if rank is not None:
            ranking.insert(rank - 1, "relevant")
        return ranking

    def _rank(self) -> int | None:
        return self.random.choice([1, 1, 1, 2, 2, 3, 5, 9, None])

    def _add_query(self) -> None:
        self._names += 1
        name = f"q{self._names:05}"
        self.queries[name] = (name, {"relevant": 2, "filler 0": 0})
        self.ranks[name] = self._rank()

    def _some(self) -> list[str]:
        count = self.random.choice([1, 1, 1, 2, 3, len(self.queries)])
        return self.random.sample(sorted(self.queries), min(count, len(self.queries)))

    # --- steps -------------------------------------------------------------------------------

    def step(self) -> None:
        """Play a random step and check the promises."""
        steps: dict[Callable[[], object], int] = {
            self.change_the_ranker: 20,
            self.improve_the_ranker: 6,
            self.worsen_the_ranker_a_little: 6,
            self.add_queries: 4,
            self.remove_queries: 4,
            self.edit_queries: 4,
            self.change_the_gates: 3,
            self.update: 25,
            self.update_with_a_reason: 3,
            self.raise_with_a_reason: 2,
            self.update_while_killed: 4,
            self.update_beside_another_session: 6,
            self.open_and_merge_a_pull_request: 6,
            self.tamper: 6,
            self.record_anew: 4,
            self.take_away_and_forget: 4,
        }
        chosen = self.random.choices(list(steps), list(steps.values()))[0]
        self.played.append(chosen.__name__)
        chosen()

    def change_the_ranker(self) -> None:
        for query_id in self._some():
            self.ranks[query_id] = self._rank()

    def improve_the_ranker(self) -> None:
        for query_id in self._some():
            self.ranks[query_id] = 1

    def worsen_the_ranker_a_little(self) -> None:
        query_id = self._some()[0]
        rank = self.ranks[query_id]
        self.ranks[query_id] = None if rank is None or rank >= 10 else rank + 1

    def add_queries(self) -> None:
        for _ in range(self.random.choice([1, 2, 8])):
            self._add_query()

    def remove_queries(self) -> None:
        for query_id in self._some()[: len(self.queries) - 3]:
            del self.queries[query_id]

    def edit_queries(self) -> None:
        for query_id in self._some():
            text, grades = self.queries[query_id]
            if self.random.random() < 0.5:
                self.queries[query_id] = (text + " ", grades)
            else:
                self.queries[query_id] = (text, {**grades, "filler 0": 2 - grades["filler 0"]})

    def change_the_gates(self) -> None:
        names = self.random.sample(METRICS, self.random.choice([1, 2, 2, 3]))
        self.gates = {name: self.random.choice(ALLOWANCES) for name in names}

    def update(self, mode: Mode | None = None) -> None:
        before = self._text()
        session = Session(self, mode or Mode(update=True))
        passed = session.finish()
        self._check_update(before, session, passed)
        if passed and self.random.random() < 0.3:
            text = self._text()
            assert Session(self, Mode(update=True)).finish(), "the same update fails"
            assert self._text() == text, "the same results give other bytes"

    def update_with_a_reason(self) -> None:
        self.update(Mode(update=True, approval="a faster index"))

    def raise_with_a_reason(self) -> None:
        self.update(Mode(update=True, raising="a better model"))

    def update_while_killed(self) -> None:
        before = self._text()
        session = Session(self, Mode(update=True))
        at, after = self.random.choice([1, 1, 2]), self.random.random() < 0.3
        with killing(at, after_replacing=after), suppress(Killed):
            session.finish()
        if self._text() != before:
            self._check_update(before, session, True)
        assert Session(self, Mode(update=True)).finish() in (True, False)

    def update_beside_another_session(self) -> None:
        """Let another session write between this session's reading and its writing."""
        modes = [Mode(update=True)] * 3 + [Mode(update=True, approval="another index")]
        first = Session(self, self.random.choice(modes))
        if self.random.random() < 0.7:
            self.change_the_ranker()
        second = Session(self, self.random.choice(modes))
        for session in (first, second):
            before = self._text()
            self._check_update(before, session, session.finish())

    def open_and_merge_a_pull_request(self) -> None:
        """Run the tests against main; merge if they pass, start a new branch if not."""
        if self.main is None or not self.path.exists():
            self._merge()
            return
        if Session(self, Mode(), MainBranch(self.main, self._data)).passed:
            before, after = self._entry_of(self.main), self._entry()
            self._demand(broken_promises(before, after, updates=2))
            self.main_ledger.follow(before, after)
            self._demand(self.main_ledger.broken())
            self._merge()
        elif self.is_tampered or self.random.random() < 0.5:
            self._check_out(self.main)
            self.ledger = self.main_ledger.copy()
            self.is_tampered = False

    def _merge(self) -> None:
        if self.path.exists():
            self.main = self._text()
            if self.main_ledger.queries == 0:
                self.main_ledger = self.ledger.copy()
            self.ledger = self.main_ledger.copy()
            self.is_tampered = False

    def tamper(self) -> None:
        """Edit the record by hand, cleverly, and open a pull request."""
        self._tamper_with(self.random.choice(TRICKS))

    def _tamper_with(self, trick: Trick) -> None:
        if self.main is None or self.is_tampered:
            return
        entry = self._entry()
        self.played.append(trick.__name__)
        trick(self.random, entry)
        for name, metric in entry["metrics"].items():
            mean = mean_of(entry, name)
            metric["mean"] = None if mean != mean else round(mean, 6)
            metric["counted"] = sum(line["values"][name] is not None for line in entry["queries"])
        write_entry(self.path, entry)
        self.is_tampered = True
        self.open_and_merge_a_pull_request()

    def record_anew(self) -> None:
        """Delete the record, record another, and open a pull request."""
        if self.main is None or self.is_tampered or self.random.random() < 0.5:
            return
        self.path.unlink()
        assert Session(self, Mode(update=True)).finish()
        self.is_tampered = True
        self.open_and_merge_a_pull_request()

    def take_away_and_forget(self) -> None:
        """Remove a query in a pull request, and the count of removed queries in the next."""
        self.update()
        self.open_and_merge_a_pull_request()
        if len(self.queries) > 4:
            del self.queries[self._some()[0]]
        self.update()
        self.open_and_merge_a_pull_request()
        self._tamper_with(_forget_changes)

    # --- checks ------------------------------------------------------------------------------

    def _text(self) -> str | None:
        """Return the file; of a record of two files the header, which tells all others apart."""
        if not self.path.exists():
            return None
        text = self.path.read_text("utf-8")
        self._entry_of(text, self._read)  # its lines must be there
        return text

    def _read(self, name: str) -> bytes:
        self._data[name] = (self.path.parent / name).read_bytes()
        return self._data[name]

    def _check_out(self, text: str) -> None:
        """Write the files of an earlier record, as git does."""
        entry = json.loads(text)
        if "data" in entry:
            name = data_name(self.path, entry["data"]["sha256"])
            (self.path.parent / name).write_bytes(self._data[name])
        self.path.write_text(text, "utf-8")

    def _entry(self) -> Entry:
        return read_entry(self.path)

    def _entry_of(self, text: str, data_of: Callable[[str], bytes] | None = None) -> Entry:
        return entry_of(text, data_of or self._data.__getitem__, self.path)

    def _check_update(self, text: str | None, session: Session, passed: bool) -> None:
        """Check what a session made of the file."""
        if not passed:
            assert self._text() == text, "a session that failed changed the file"
            return
        if self._text() == text:
            return
        Record.load(self.path)
        after = self._entry()
        assert not list(temporary_files(self.path.parent)), "a temporary file stays"
        if text is None:
            self.ledger.start(after)
            return
        assert not leftover_data(self.path) or "update_while_killed" in self.played
        before = self._entry_of(text)
        self._demand(broken_promises(before, after))
        assert set(lines_of(after)) == set(session.evaluation.query_ids)
        self.ledger.follow(before, after)
        self._demand(self.ledger.broken())
        self._demand(is_all_or_nothing(before, after, session.values()))
        if not after["approvals"][len(before["approvals"]) :]:
            gated = [str(check.metric) for check in session.baseline.checks]
            self._demand(is_traded(before, after, session.values(), gated))

    @staticmethod
    def _demand(problems: Iterator[str]) -> None:
        found = list(problems)
        assert not found, "; ".join(found)


@contextmanager
def killing(at: int, *, after_replacing: bool) -> Iterator[None]:
    """Kill the process before or after a temporary file takes the place of the old one.

    Args:
        at: the number of the file: a large record is two.
        after_replacing: whether the file is replaced.
    """
    replace = Path.replace
    replaced: list[Path] = []

    def replace_and_die(path: Path, target: Any) -> None:
        replaced.append(path)
        if after_replacing or len(replaced) < at:
            replace(path, target)
        if len(replaced) == at:
            raise Killed

    with (
        mock.patch.object(Path, "replace", replace_and_die),
        mock.patch.object(Path, "unlink"),
    ):
        yield


# --- tricks ----------------------------------------------------------------------------------


def _lower_a_value(chance: random.Random, entry: Entry) -> None:
    line = chance.choice(entry["queries"])
    name = chance.choice(list(line["values"]))
    line["values"][name] = 9.0 if name.startswith("FirstRank") else 0.05


def _remove_a_value(chance: random.Random, entry: Entry) -> None:
    line = chance.choice(entry["queries"])
    line["values"][chance.choice(list(line["values"]))] = None


def _worsen_the_best(chance: random.Random, entry: Entry) -> None:
    name = chance.choice(list(entry["metrics"]))
    metric = entry["metrics"][name]
    if metric["best"] is not None:
        metric["best"] += 0.05 if name.startswith("FirstRank") else -0.05


def _loosen_a_gate(chance: random.Random, entry: Entry) -> None:
    metric = entry["metrics"][chance.choice(list(entry["metrics"]))]
    if metric["gate"] is not None:
        metric["gate"] = "tolerance(abs=0.5)"


def _forget_a_gate(chance: random.Random, entry: Entry) -> None:
    entry["metrics"][chance.choice(list(entry["metrics"]))].update(gate=None, gated=False)


def _forget_a_metric(chance: random.Random, entry: Entry) -> None:
    if len(entry["metrics"]) > 1:
        name = chance.choice(list(entry["metrics"]))
        del entry["metrics"][name]
        for line in entry["queries"]:
            del line["values"][name]
        for part in ("counted", "uncounted", "mean_change"):
            entry["since_approval"][part].pop(name, None)


def _forget_queries(chance: random.Random, entry: Entry) -> None:
    for _ in range(chance.choice([1, 2, 3])):
        if len(entry["queries"]) > 3:
            entry["queries"].pop(chance.randrange(len(entry["queries"])))


def _edit_a_fingerprint(chance: random.Random, entry: Entry) -> None:
    for line in chance.sample(entry["queries"], min(3, len(entry["queries"]))):
        line["fingerprint"] = line["fingerprint"][::-1]


def _forget_changes(chance: random.Random, entry: Entry) -> None:
    entry["since_approval"].update(removed=0, edited=0, uncounted={})


def _forget_an_approval(chance: random.Random, entry: Entry) -> None:
    if entry["approvals"]:
        entry["approvals"].pop(chance.randrange(len(entry["approvals"])))


TRICKS = (
    _lower_a_value,
    _remove_a_value,
    _worsen_the_best,
    _loosen_a_gate,
    _forget_a_gate,
    _forget_a_metric,
    _forget_queries,
    _edit_a_fingerprint,
    _forget_changes,
    _forget_an_approval,
)


# --- playing ---------------------------------------------------------------------------------


def play(steps: int, seed: int, compact_from: int = 1000) -> None:
    """Play a history; an error says how to play it again.

    Args:
        steps: how many steps.
        seed: of the history.
        compact_from: from how many queries on a record is two files.

    Raises:
        AssertionError: a promise was broken; the message has the seed and the steps.
    """
    with (
        tempfile.TemporaryDirectory() as folder,
        mock.patch.object(data_file, "COMPACT_FROM", compact_from),
    ):
        history = History(Path(folder), seed)
        for number in range(steps):
            try:
                history.step()
            except AssertionError as failure:
                last = ", ".join(history.played[-8:])
                raise AssertionError(f"seed {seed}, step {number}: {failure}; {last}") from failure


def main(steps: int, seed: int) -> None:
    """Play histories of 200 steps each: of one file, of two, and from one form to the other."""
    for number in range(0, steps, 200):
        compact_from = (1000, 1, QUERIES)[number // 200 % 3]
        print(f"seed {seed + number}, two files from {compact_from} queries on", flush=True)
        play(200, seed + number, compact_from)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(10**9))
