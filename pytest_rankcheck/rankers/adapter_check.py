"""The test kit for adapters: try the rules that every adapter must keep, on a golden set."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from textwrap import indent
from typing import TYPE_CHECKING

from pytest_rankcheck.argument_checks import checked_arguments
from pytest_rankcheck.errors import RankerError, plural, quoted
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.rankers.adapter_protocol import Adapter
from pytest_rankcheck.rankers.adapter_rules import RULES, BrokenRuleError, Trial, said

if TYPE_CHECKING:
    from pytest_rankcheck.rankers.execution.executor_pools import ExecutorLike

__all__ = ["AdapterReport", "AdapterRule", "check_adapter"]


@dataclass(frozen=True, slots=True)
class AdapterRule:
    """A rule for adapters, and whether the adapter keeps it."""

    rule: str
    definition: str
    """The rule as one sentence."""
    holds: bool | None
    """None: the rule does not apply to this adapter, or was not tried."""
    problem: str = ""
    """What is wrong; empty if the rule holds."""

    def __str__(self) -> str:
        if self.holds is not False:
            return f"{self.rule}: {'yes' if self.holds else '-'}"
        return f"{self.rule}: no\n  {self.definition}\n{indent(self.problem, '  ')}"


@dataclass(frozen=True, slots=True)
class AdapterReport:
    """The rules for adapters, and which of them an adapter keeps."""

    adapter: str
    """Its name."""
    rules: Sequence[AdapterRule]

    @property
    def broken(self) -> Sequence[AdapterRule]:
        """The rules that the adapter breaks."""
        return tuple(rule for rule in self.rules if rule.holds is False)

    @property
    def ok(self) -> bool:
        """Whether no rule is broken."""
        return not self.broken

    def __getitem__(self, rule: str) -> AdapterRule:
        """Return the result for a rule."""
        return {each.rule: each for each in self.rules}[rule]

    def __iter__(self) -> Iterator[AdapterRule]:
        """Yield the result for each rule."""
        return iter(self.rules)

    def raise_if_broken(self) -> AdapterReport:
        """Return the report if no rule is broken.

        Raises:
            AssertionError: a rule is broken; the message lists all of them.
        """
        __tracebackhide__ = True
        if self.broken:
            raise AssertionError(str(self))
        return self

    def __str__(self) -> str:
        head = f"adapter '{quoted(self.adapter)}'"
        if self.broken:
            lines = indent("\n".join(map(str, self.broken)), "  ")
            return f"{head} breaks {plural(len(self.broken), 'rule')}:\n{lines}"
        lines = indent("\n".join(map(str, self.rules)), "  ")
        return f"{head} keeps all rules that apply to it:\n{lines}"


@checked_arguments
def check_adapter(
    adapter: object,
    golden: GoldenSet | None = None,
    *,
    depth: int = 10,
    executor: ExecutorLike | None = "processes:1",
) -> AdapterReport:
    """Try the rules that every adapter must keep; its ranker must always give the same answers.

    Args:
        adapter: an `Adapter`.
        golden: at least two queries that its ranker can answer; by default seven made-up ones,
            each with three judged documents.
        depth: how many documents to request.
        executor: an executor on which to ask it in another process, as in ``rank``; None: the
            rule about other processes is not tried.

    Returns:
        A report with the result of each rule.

    Raises:
        RankerError: ``adapter`` is not an adapter, or there are fewer than two queries.
    """
    if not isinstance(adapter, Adapter):
        raise RankerError(
            f"check_adapter: {type(adapter).__name__} is not an Adapter; subclass rankers.Adapter"
        )
    asked = _made_up() if golden is None else golden
    if len(asked) < 2:
        raise RankerError("check_adapter needs a golden set with two queries or more")
    trial = Trial(adapter, asked, depth, executor)
    return AdapterReport(str(adapter.name), tuple(_results(trial)))


def _made_up() -> GoldenSet:
    """Return a golden set with Unicode, and with attributes that only some queries have."""
    texts = ("red shoes", "blue hat", "schöne Grüße", "靴", "a", "one two three four", "x y")
    return GoldenSet.from_dict(
        {f"q{n}": {f"d{n}": 2, f"d{n + 1}": 1, f"e{n}": 0} for n in range(len(texts))},
        {f"q{n}": text for n, text in enumerate(texts)},
        attributes={"q1": {"locale": "en"}, "q3": {"locale": "ja"}},
        name="made-up",
    )


def _results(trial: Trial) -> Iterator[AdapterRule]:
    is_usable = True
    for name, check in RULES.items():
        definition = str(check.__doc__)
        if not is_usable:  # the other rules would only repeat this failure
            yield AdapterRule(name, definition, None)
            continue
        try:
            applies = check(trial)
        except BrokenRuleError as broken:
            yield AdapterRule(name, definition, False, str(broken))
        except Exception as error:
            yield AdapterRule(name, definition, False, f"it raised {said(error)}")
        else:
            yield AdapterRule(name, definition, None if applies is False else True)
            continue
        is_usable = name not in ("answers_each_query_once", "answers_are_rankings")
