"""A random history of a baseline: updates, approvals, edited golden sets, kills, other sessions.

Run as a script, it plays as many steps as wanted and prints the seed of each history::

    PYTHONPATH=tests python tests/adversary/random_history.py 10000 [SEED]
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from unittest import mock

from gated_test import MainBranch, PlainStore
from promises import (
    Entry,
    broken_promises,
    counting,
    gain,
    is_all_or_nothing,
    is_traded,
    lines_of,
    mean_of,
    shared_ids,
)
from record_entries import read_entry, write_entry

from pytest_rankcheck import Gate, GoldenSet, Metric, Record, Run, evaluate
from pytest_rankcheck.baselines.baseline import Baseline
from pytest_rankcheck.baselines.check import Mode
from pytest_rankcheck.baselines.policy import raisable
from pytest_rankcheck.errors import BaselineError
from pytest_rankcheck.evaluation.evaluation import Evaluation

METRICS = ("RR", "nDCG@5", "FirstRank(missing=omit)")
ALLOWANCES = (0.0, 0.01, 0.05, 0.2)
QUERIES = 24


class Killed(BaseException):
    """The process is killed."""


class Session:
    """A test session: it reads the record and decides; later it writes."""

    def __init__(self, history: History, mode: Mode, main: MainBranch | None = None) -> None:
        self.evaluation = history.measured()
        self.baseline = Baseline(
            lambda name: PlainStore(history.path),
            "test_x.py::test_x",
            mode,
            reference=main,  # type: ignore[arg-type]
            key="test_x",
        )
        gates = {
            Metric.parse(name): Gate.tolerance(abs=by, min_queries=1)
            for name, by in history.gates.items()
        }
        families = [{name: gate} for name, gate in gates.items()] if history.is_split else [gates]
        try:
            results = [
                result
                for family in families
                for result in self.baseline.check_all(self.evaluation, family, history.by)
            ]
        except BaselineError:
            self.passed = False
            return
        self.passed = all(block is None for _, block in results)
        if self.passed:
            self.passed = self.baseline.unapproved_drops() is None

    def finish(self) -> bool:
        """Write, if the test passed. Return whether the test session passes."""
        if not self.passed:
            return False
        try:
            return self.baseline.write_or_keep() is not None
        except BaselineError:
            return False

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
        self.random = random.Random(seed)
        self.path = folder / "test_x--web.json"
        self.queries: dict[str, tuple[str, dict[str, int]]] = {}
        self.ranks: dict[str, int | None] = {}
        self.gates: dict[str, float] = {"RR": 0.05, "nDCG@5": 0.05}
        self.locales: dict[str, str] = {}
        self.by: tuple[str, ...] = ()
        self.is_split = False
        self.main: str | None = None
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
            attributes={query_id: {"locale": self.locales[query_id]} for query_id in self.queries},
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
        self.locales[name] = self.random.choice(["de", "en", "fr"])

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
            self.change_the_assertions: 3,
            self.move_labels: 3,
            self.update: 25,
            self.update_with_a_reason: 3,
            self.update_while_killed: 4,
            self.update_beside_another_session: 6,
            self.open_and_merge_a_pull_request: 6,
            self.tamper: 6,
            self.record_anew: 4,
        }
        chosen = self.random.choices(list(steps), list(steps.values()))[0]
        self.played.append(chosen.__name__)
        chosen()
        self.check_invariants()

    def check_invariants(self) -> None:
        """Check what holds after every step (DESIGN section 5), and leave the record as it is."""
        text = self._text()
        plain = Session(self, Mode())
        assert plain.finish() == plain.passed
        assert self._text() == text, "a plain run changed the file"
        if plain.passed:
            raised = raisable(plain.baseline.all_checks)
            updating = Session(self, Mode(update=True))
            assert updating.finish(), "an update fails where a plain run passes"
            before, after = json.loads(str(text)), self._entry()
            for metric in map(str, raised):  # the word in the table is "better"
                ids = counting(after, metric, counting(before, metric, shared_ids(before, after)))
                then, now = mean_of(before, metric, ids), mean_of(after, metric, ids)
                assert gain(metric, then, now) > 0, "not raised"
        self._restore(text)
        if self.main is not None and not self.is_tampered and self._keeps_approvals(self.main):
            main = MainBranch(self.main)
            assert Session(self, Mode(approval="why", update=True), main).finish()
            assert Session(self, Mode(), main).passed, "an approval does not make CI green"
            self._restore(text)
        self._check_that_gates_can_fail()

    def _keeps_approvals(self, main: str) -> bool:
        """Whether no approval was reworded that only git would know to be merged."""
        merged = json.loads(main)["approvals"]
        return bool(self._entry()["approvals"][: len(merged)] == merged)

    def _check_that_gates_can_fail(self) -> None:
        ranks, self.ranks = self.ranks, dict.fromkeys(self.ranks)
        worst = Session(self, Mode())
        self.ranks = ranks
        verdicts = [check.verdict for check in worst.baseline.checks if check.verdict]
        if any(verdict.overall.pairs.gain < -max(ALLOWANCES) - 1e-6 for verdict in verdicts):
            assert not worst.passed, "a ranker that finds nothing passes"

    def _restore(self, text: str | None) -> None:
        if text is None:
            self.path.unlink(missing_ok=True)
        else:
            self.path.write_text(text, "utf-8")

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

    def change_the_assertions(self) -> None:
        """Gate by locale or not; gate all metrics together, or each for itself."""
        self.by = self.random.choice([(), ("locale",), ("locale",)])
        self.is_split = self.random.random() < 0.5

    def move_labels(self) -> None:
        for query_id in self._some():
            self.locales[query_id] = self.random.choice(["de", "en", "fr"])

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

    def update_while_killed(self) -> None:
        before = self._text()
        session = Session(self, Mode(update=True))
        after = self.random.random() < 0.3
        with killing(after_replacing=after), suppress(Killed):
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
        if Session(self, Mode(), MainBranch(self.main)).passed:
            before, after = json.loads(self.main), self._entry()
            self._demand(broken_promises(before, after))
            self._merge()
        elif self.is_tampered or self.random.random() < 0.5:
            self.path.write_text(self.main, "utf-8")
            self.is_tampered = False

    def _merge(self) -> None:
        if self.path.exists():
            self.main = self._text()
            self.is_tampered = False

    def tamper(self) -> None:
        """Edit the record by hand, cleverly, and open a pull request."""
        if self.main is None or self.is_tampered:
            return
        trick = self.random.choice(TRICKS)
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

    # --- checks ------------------------------------------------------------------------------

    def _text(self) -> str | None:
        """Return the file; None if it does not exist."""
        return self.path.read_text("utf-8") if self.path.exists() else None

    def _entry(self) -> Entry:
        return read_entry(self.path)

    def _check_update(self, text: str | None, session: Session, passed: bool) -> None:
        """Check what a session made of the file."""
        if not passed:
            assert self._text() == text, "a session that failed changed the file"
            return
        if self._text() == text:
            return
        Record.load(self.path)
        after = self._entry()
        assert [*self.path.parent.iterdir()] == [self.path], "a temporary file stays"
        if text is None:
            return
        before = json.loads(text)
        self._demand(broken_promises(before, after, may_drop_gates=True))
        assert set(lines_of(after)) == set(session.evaluation.query_ids)
        self._demand(is_all_or_nothing(before, after, session.values()))
        if not after["approvals"][len(before["approvals"]) :]:
            gated = [str(check.metric) for check in session.baseline.checks]
            self._demand(is_traded(before, after, session.values(), gated))

    @staticmethod
    def _demand(problems: Iterator[str]) -> None:
        found = list(problems)
        assert not found, "; ".join(found)


@contextmanager
def killing(*, after_replacing: bool) -> Iterator[None]:
    """Kill the process before or after a temporary file takes the place of the old one."""
    replace = Path.replace

    def replace_and_die(path: Path, target: Any) -> None:
        if after_replacing:
            replace(path, target)
        raise Killed

    with mock.patch.object(Path, "replace", replace_and_die), mock.patch.object(Path, "unlink"):
        yield


# --- tricks ----------------------------------------------------------------------------------


def _lower_a_value(chance: random.Random, entry: Entry) -> None:
    line = chance.choice(entry["queries"])
    name = chance.choice(list(line["values"]))
    line["values"][name] = 9.0 if name.startswith("FirstRank") else 0.05


def _remove_a_value(chance: random.Random, entry: Entry) -> None:
    line = chance.choice(entry["queries"])
    line["values"][chance.choice(list(line["values"]))] = None


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


def _forget_queries(chance: random.Random, entry: Entry) -> None:
    for _ in range(chance.choice([1, 2, 3])):
        if len(entry["queries"]) > 3:
            entry["queries"].pop(chance.randrange(len(entry["queries"])))


def _edit_a_fingerprint(chance: random.Random, entry: Entry) -> None:
    for line in chance.sample(entry["queries"], min(3, len(entry["queries"]))):
        line["fingerprint"] = line["fingerprint"][::-1]


def _forget_an_approval(chance: random.Random, entry: Entry) -> None:
    if entry["approvals"]:
        entry["approvals"].pop(chance.randrange(len(entry["approvals"])))


TRICKS = (
    _lower_a_value,
    _remove_a_value,
    _loosen_a_gate,
    _forget_a_gate,
    _forget_a_metric,
    _forget_queries,
    _edit_a_fingerprint,
    _forget_an_approval,
)


# --- playing ---------------------------------------------------------------------------------


def play(steps: int, seed: int) -> None:
    """Play a history; an error says how to play it again.

    Args:
        steps: how many steps.
        seed: of the history.

    Raises:
        AssertionError: a promise was broken; the message has the seed and the steps.
    """
    with tempfile.TemporaryDirectory() as folder:
        history = History(Path(folder), seed)
        for number in range(steps):
            try:
                history.step()
            except AssertionError as failure:
                last = ", ".join(history.played[-8:])
                raise AssertionError(f"seed {seed}, step {number}: {failure}; {last}") from failure


def main(steps: int, seed: int) -> None:
    """Play histories of 200 steps each."""
    for number in range(0, steps, 200):
        print(f"seed {seed + number}", flush=True)
        play(200, seed + number)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(10**9))
