"""The conditions under which a ranker is asked again, and the ways of asking under each."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from datetime import datetime

from pytest_rankcheck.behaviour.answer_comparison import RepeatedRanker
from pytest_rankcheck.behaviour.determinism_options import (
    VARIED,
    Clock,
    Condition,
    DeterminismOptions,
)
from pytest_rankcheck.behaviour.process_asking import ProcessAsker, is_asked_process
from pytest_rankcheck.behaviour.process_surroundings import (
    Surroundings,
    is_locale_varied,
    surroundings,
)
from pytest_rankcheck.behaviour.ranker_sources import RankerSources
from pytest_rankcheck.behaviour.thread_asking import asked_by_threads
from pytest_rankcheck.errors import ConfigurationError
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.rankers.adapter_protocol import Reorder
from pytest_rankcheck.rankers.adapters.many_queries import BatchedAdapter
from pytest_rankcheck.rankers.callable_adapters import ConcurrentAdapter
from pytest_rankcheck.rankers.rank import Attempt
from pytest_rankcheck.rankers.run import Run

__all__ = [
    "Subject",
    "Way",
    "conditions_in_turn",
    "not_applicable",
    "refuse_idle_conditions",
    "ways_of",
]

_ORDERS: dict[str, Reorder] = {
    "in reverse": lambda places: places[::-1],
    "every second one first": lambda places: [*places[1::2], *places[::2]],
}
_HOUR = 3600.0
_DAY = 24 * _HOUR
_STANDS_STILL = 60.0
"""If the clock moved by fewer seconds than this, it was not shifted by an hour or more."""


@dataclass(frozen=True, slots=True)
class Way:
    """A way of asking the ranker."""

    how: str
    ask: Callable[[GoldenSet], Sequence[Attempt]]
    """Asks for the queries of a golden set; several threads give several answers."""
    simpler: Sequence[Way] = ()
    """A way that varies only what all of them share, then ways that each vary one thing more.

    They show which of the things that this way varies makes the difference.
    """
    meets_others: bool = False
    """Whether answers differ only among simultaneous queries, and any of these may differ."""
    details: str = ""
    """What it varies, if ``how`` does not say so."""


@dataclass(frozen=True, slots=True)
class Subject:
    """The subject of the check: a ranker, the queries, and the first answers."""

    ranker: RepeatedRanker
    golden: GoldenSet
    run: Run
    options: DeterminismOptions
    sources: RankerSources = field(default_factory=RankerSources)
    remarks: dict[Condition, str] = field(default_factory=dict)
    """What weakens the check of a condition, noticed while asking the ranker."""

    def first_way(self, golden: GoldenSet) -> Sequence[Attempt]:
        """Ask in the same way as the first time."""
        return [self.ranker.rerun(golden)]


def refuse_idle_conditions(options: DeterminismOptions, sources: RankerSources) -> None:
    """Refuse to check nothing: raise if every chosen condition lacks an argument that it needs.

    Raises:
        ConfigurationError: ``insensitive_to`` names only such conditions.
    """
    needed = _needed(options, sources)
    if options.insensitive_to and set(options.insensitive_to) <= needed.keys():
        reasons = "; ".join(f"{name}: {needed[name]}" for name in options.insensitive_to)
        raise ConfigurationError(f"nothing in insensitive_to= can be checked ({reasons})")


def _needed(options: DeterminismOptions, sources: RankerSources) -> dict[Condition, str]:
    """Return the conditions that lack an argument, and the argument to give."""
    needed: dict[Condition, str] = {}
    if sources.make is None:
        needed["fresh"] = sources.why_not_made
    if sources.name is None:
        needed["processes"] = sources.why_no_process
    if options.clock is None:
        needed["clock"] = "give clock="
    return needed


def conditions_in_turn(subject: Subject) -> Iterator[Condition]:
    """Yield the conditions, starting with those that vary nothing else."""
    yield "repeats"
    varied = [condition for condition in VARIED if condition in subject.options.insensitive_to]
    # Another order also changes which queries an async ranker answers together.
    if isinstance(subject.ranker.adapter, ConcurrentAdapter):
        varied.sort(key=lambda condition: condition != "threads")
    yield from varied


def ways_of(condition: Condition, subject: Subject) -> Iterator[Way]:
    """Yield the ways of asking under a condition that applies."""
    match condition:
        case "repeats":
            for number in range(2, subject.options.repeats + 1):
                yield Way(f"time {number}", subject.first_way)
        case "order":
            for how, order in _ORDERS.items():
                yield _way(how, subject.ranker, order)
        case "batch":
            yield from _batches(subject)
        case "candidates":
            for how, order in _ORDERS.items():
                adapter = subject.ranker.adapter.with_candidates(order)
                assert adapter is not None
                yield _way(how, subject.ranker.with_adapter(adapter))
        case "threads":
            yield _threads(subject)
        case "fresh":
            yield _fresh(subject)
        case "processes":
            yield from _processes(subject)
        case "clock":
            yield from _clock(subject)


def _way(how: str, ranker: RepeatedRanker, order: Reorder = lambda places: places) -> Way:
    """Return the way of asking a ranker for queries in an order."""

    def ask(golden: GoldenSet) -> Sequence[Attempt]:
        ids = [golden.query_ids[place] for place in order(range(len(golden)))]
        return [ranker.rerun(golden.ordered(ids))]

    return Way(how, ask)


def _batches(subject: Subject) -> Iterator[Way]:
    # Never exceed the ranker's own size: larger batches may not fit into its memory.
    own = _own_size(subject)
    for size in subject.options.batch_sizes or dict.fromkeys((1, (own + 1) // 2)):
        adapter = subject.ranker.adapter.with_size(size)
        assert adapter is not None
        yield _way(f"{size:,} at once", subject.ranker.with_adapter(adapter))


def _threads(subject: Subject) -> Way:
    """Return the way that asks from several threads; an async ranker, for one query at a time."""
    if isinstance(subject.ranker.adapter, ConcurrentAdapter):
        return _way("one at a time", replace(subject.ranker, concurrency=1))
    threads = subject.options.threads

    def ask(golden: GoldenSet) -> Sequence[Attempt]:
        return asked_by_threads(subject.ranker, golden, threads, subject.run)

    return Way(f"{threads} threads", ask, meets_others=True)


def _fresh(subject: Subject) -> Way:
    """Return the way that asks a new instance in reverse order, with its simpler ways."""

    def asking(order: Reorder) -> Callable[[GoldenSet], Sequence[Attempt]]:
        def ask(golden: GoldenSet) -> Sequence[Attempt]:
            return _way("", subject.ranker.with_adapter(subject.sources.adapter()), order).ask(
                golden
            )

        return ask

    reverse = asking(_ORDERS["in reverse"])
    simpler = (Way("a new instance", asking(lambda places: places)), Way("order", reverse))
    return Way("a new instance, in reverse", reverse, simpler)


def _processes(subject: Subject) -> Iterator[Way]:
    assert subject.sources.name is not None
    options = subject.options
    asker = ProcessAsker(subject.ranker, subject.sources.name, options.process_timeout)

    def way(how: str, around: Surroundings) -> Way:
        return Way(how, lambda golden: [asker.ask(golden, around)])

    if not is_locale_varied():
        subject.remarks["processes"] = (
            "the locale was not varied, because only the locale C is installed"
        )
    for number, around in enumerate(surroundings(subject.sources.processes), 1):
        alone = [way(name, each) for name, each in around.one_by_one]
        simpler = (way("a new process", around.plain), *alone)
        how = f"process {number}" + (" in reverse" if around.is_reversed else "")
        yield replace(way(how, around), simpler=simpler, details=f"process {number}: {around}")


def _clock(subject: Subject) -> Iterator[Way]:
    now = datetime.now()
    next_year = datetime(now.year + 1, 1, 2).timestamp() - time.time()
    shifts = {"1 hour later": _HOUR, "1 day later": _DAY, "in the next year": next_year}
    for how, seconds in shifts.items():

        def ask(golden: GoldenSet, seconds: float = seconds) -> Sequence[Attempt]:
            before = time.time()
            with _shifted(subject.options.clock, seconds):
                if abs(time.time() - before) < _STANDS_STILL:
                    subject.remarks["clock"] = (
                        "time.time() did not change; give a clock= that shifts the clock that "
                        "the ranker reads"
                    )
                return [subject.ranker.rerun(golden)]

        yield Way(how, ask)


def _shifted(clock: Clock | None, seconds: float) -> AbstractContextManager[object]:
    __tracebackhide__ = True
    shifted = clock(seconds) if clock is not None else None
    if not isinstance(shifted, AbstractContextManager):
        raise ConfigurationError(
            f"clock({seconds:g}) returned {type(shifted).__name__}; it must return a context "
            "manager that shifts the time"
        )
    return shifted


def not_applicable(condition: Condition, subject: Subject) -> str:
    """Return why a condition cannot be varied, or an empty text if it can."""
    ranker, golden, sources = subject.ranker, subject.golden, subject.sources
    match condition:
        case "order" if len(golden) == 1:
            return "there is only one query"
        case "batch":
            if ranker.adapter.with_size(1) is None:
                return "the ranker is asked one query after the other"
            if _own_size(subject) == 1:
                return "there is only one query to ask at once"
        case "candidates":
            if ranker.adapter.with_candidates(lambda places: places) is None:
                return "the ranker is given no candidates"
        case "threads" if isinstance(ranker.adapter, ConcurrentAdapter) and ranker.concurrency == 1:
            return "concurrency=1 asks for one query at a time"
        case "processes" if sources.name is not None and is_asked_process():
            return "this is a new process itself, whose module ranks while it is imported"
    return _needed(subject.options, sources).get(condition, "")


def _own_size(subject: Subject) -> int:
    adapter, queries = subject.ranker.adapter, len(subject.golden)
    size = adapter.size if isinstance(adapter, BatchedAdapter) else 1
    return min(size or queries, queries)
