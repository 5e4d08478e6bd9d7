"""The rules that every adapter must keep, each with a function that tries it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from pytest_rankcheck.errors import RankcheckError, listed, plural, quoted
from pytest_rankcheck.golden.golden_chunks import chunk_of
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.rankers.adapter_protocol import Adapter, QueryAnswer, RankingTask
from pytest_rankcheck.rankers.rank import attempted, rank
from pytest_rankcheck.rankers.ranking import RankingRules

if TYPE_CHECKING:
    from pytest_rankcheck.rankers.execution.executor_pools import ExecutorLike

__all__ = ["RULES", "BrokenRuleError", "Trial", "said"]

Rankings = Mapping[str, Sequence[str]]


class BrokenRuleError(Exception):
    """An adapter broke a rule; the text says how."""


class Trial:
    """The adapter under test, and its answers to the whole set."""

    def __init__(
        self, adapter: Adapter, golden: GoldenSet, depth: int, executor: ExecutorLike | None
    ) -> None:
        self.adapter = adapter
        self.golden = golden
        self.depth = depth
        self.executor = executor
        self.answers: list[QueryAnswer] = []
        self.first: Rankings = {}

    def task(self, golden: GoldenSet) -> RankingTask:
        """Return the task to rank some queries."""
        return RankingTask(golden, self.depth)

    def rankings(self, adapter: Adapter, *parts: GoldenSet) -> Rankings:
        """Return the rankings of some queries, which are asked in parts, one after another."""
        found: dict[str, Sequence[str]] = {}
        for part in parts:
            attempt = attempted(adapter, self.task(part), RankingRules(duplicates="keep_places"))
            for query_id, error in attempt.failures.items():
                raise BrokenRuleError(f"query '{quoted(query_id)}' failed: {said(error)}")
            found.update({query_id: attempt.run[query_id] for query_id in attempt.run})
        return found

    def same(self, now: Rankings, how: str) -> None:
        """Check that the rankings equal those of the whole set."""
        changed = [each for each in self.first if list(self.first[each]) != list(now.get(each, ()))]
        if changed:
            query_id = changed[0]
            raise BrokenRuleError(
                f"{plural(len(changed), 'query is', 'queries are')} answered differently {how}; "
                f"'{quoted(query_id)}': {listed(self.first[query_id], 3)} before, "
                f"{listed(now.get(query_id, ()), 3) or 'nothing'} then"
            )


def said(error: Exception) -> str:
    """Return the class and the message of an error that an adapter raised."""
    return f"{type(error).__name__}: {quoted(error, 300)}"


def _has_a_name(trial: Trial) -> None:
    """The adapter has a name that is not empty."""
    name = getattr(trial.adapter, "name", None)
    if not isinstance(name, str) or not name:
        raise BrokenRuleError(f"its name is {quoted(repr(name), 60)}; set name in __init__")


def _answers_each_query_once(trial: Trial) -> None:
    """Each query of the golden set is answered exactly once, and no other query is."""
    trial.adapter.ask(trial.task(trial.golden), trial.answers.append)
    counts = Counter(answer.query.id for answer in trial.answers)
    for problem, query_ids in (
        ("not answered", [each for each in trial.golden.query_ids if not counts[each]]),
        ("answered more than once", [each for each, count in counts.items() if count > 1]),
        ("answered but not asked", [each for each in counts if each not in trial.golden]),
    ):
        if query_ids:
            raise BrokenRuleError(f"{problem}: {listed(query_ids)}")


def _answers_are_rankings(trial: Trial) -> None:
    """Each answer has a form that a ranker may return, and no query fails."""
    trial.first = trial.rankings(trial.adapter, trial.golden)


def _times_are_measured(trial: Trial) -> None:
    """Each answer states how many seconds it took."""
    bad = [a.query.id for a in trial.answers if not (math.isfinite(a.seconds) and a.seconds >= 0)]
    if bad:
        raise BrokenRuleError(f"missing or negative seconds for: {listed(bad)}")


def _repeats(trial: Trial) -> None:
    """When asked again, it gives the same rankings."""
    trial.same(trial.rankings(trial.adapter, trial.golden), "when asked again")


def _order_does_not_matter(trial: Trial) -> None:
    """When asked in reverse order, it gives the same rankings."""
    reverse = chunk_of(trial.golden, list(reversed(trial.golden.query_ids)))
    trial.same(trial.rankings(trial.adapter, reverse), "in reverse order")


def _chunks_do_not_matter(trial: Trial) -> None:
    """When asked a few queries at a time, or a single one, it gives the same rankings."""
    ids = trial.golden.query_ids
    for size in (1, 3):
        parts = [chunk_of(trial.golden, ids[at : at + size]) for at in range(0, len(ids), size)]
        now = trial.rankings(trial.adapter, *parts)
        trial.same(now, f"in chunks of {plural(size, 'query', 'queries')}")


def _a_query_without_text_fails_alone(trial: Trial) -> None:
    """A query without a text is answered or fails by itself; the others are answered."""
    first, *others = trial.golden.query_ids
    grades = {each: dict(trial.golden.grades(each)) for each in trial.golden.query_ids}
    texts = {each: trial.golden.query(each).text or "" for each in others}
    part = GoldenSet.from_dict(grades, {each: text for each, text in texts.items() if text})
    answers: list[QueryAnswer] = []
    trial.adapter.ask(trial.task(part), answers.append)
    failed = [answer.query.id for answer in answers if answer.failure is not None]
    silent = set(part.query_ids) - {answer.query.id for answer in answers}
    if silent:
        raise BrokenRuleError(f"not answered: {listed(sorted(silent))}")
    if set(failed) - {first} - {each for each in others if not texts[each]}:
        raise BrokenRuleError(f"with no text for '{quoted(first)}', others failed too: {failed}")


def _interrupts_pass(trial: Trial) -> None:
    """An exception from ``on_answer`` ends the ranking at once; the adapter does not catch it."""
    seen: list[str] = []

    def interrupted(answer: QueryAnswer) -> None:
        seen.append(answer.query.id)
        raise KeyboardInterrupt

    try:
        trial.adapter.ask(trial.task(trial.golden), interrupted)
    except KeyboardInterrupt:
        if len(seen) == 1 or trial.adapter.is_async:
            return
    raise BrokenRuleError(
        f"on_answer raised KeyboardInterrupt, but {plural(len(seen), 'answer')} still came"
    )


def _batches_do_not_matter(trial: Trial) -> bool | None:
    """With another batch size (``with_size``), it gives the same rankings."""
    sized = {size: trial.adapter.with_size(size) for size in (1, 2)}
    for size, adapter in sized.items():
        if adapter is not None:
            trial.same(trial.rankings(adapter, trial.golden), f"in batches of {size}")
    return None if any(sized.values()) else False


def _candidates_can_be_reordered(trial: Trial) -> bool | None:
    """With its candidates reversed (``with_candidates``), it still answers every query."""
    adapter = trial.adapter.with_candidates(lambda places: list(reversed(places)))
    if adapter is None:
        return False
    now = trial.rankings(adapter, trial.golden)
    lacking = [each for each in trial.first if bool(trial.first[each]) != bool(now.get(each))]
    if lacking:
        raise BrokenRuleError(f"not answered with reversed candidates: {listed(lacking)}")
    return None


def _works_on_executors(trial: Trial) -> bool | None:
    """It can be sent to another process, and gives the same rankings there."""
    if trial.executor is None or trial.adapter.is_async:
        return False
    try:
        run = rank(
            trial.adapter,
            trial.golden,
            trial.depth,
            duplicates="keep_places",
            executor=trial.executor,
            chunk=3,
        )
    except RankcheckError as error:
        raise BrokenRuleError(str(error)) from None
    trial.same({query_id: run[query_id] for query_id in run}, "in another process")
    return None


RULES: Mapping[str, Callable[[Trial], bool | None]] = {
    check.__name__.removeprefix("_"): check
    for check in (
        _has_a_name,
        _answers_each_query_once,
        _answers_are_rankings,
        _times_are_measured,
        _repeats,
        _order_does_not_matter,
        _chunks_do_not_matter,
        _a_query_without_text_fails_alone,
        _interrupts_pass,
        _batches_do_not_matter,
        _candidates_can_be_reordered,
        _works_on_executors,
    )
}
"""The rules by name. A check returns False if its rule does not apply."""
