"""Gates as written in the configuration: ``web nDCG@10: noninferior(margin=0.02)``."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from inspect import signature
from typing import Any

from pytest_rankcheck.errors import ConfigurationError, MetricError, quoted, suggestion
from pytest_rankcheck.gates.gate import Gate
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.metrics.name_grammar import parts_of

GATES: dict[str, Callable[..., Gate]] = {
    "tolerance": Gate.tolerance,
    "significant": Gate.significant,
    "noninferior": Gate.noninferior,
}
"""The gates by the names that a configuration uses; extensions add theirs."""


def gate_of(text: str) -> Gate:
    """Return the gate that a text names, such as ``significant(min_drop=0.01)``.

    Raises:
        ConfigurationError: an unknown gate or parameter, or an invalid value.
    """
    try:
        parts = parts_of(text.removeprefix("Gate."))
    except MetricError:
        raise ConfigurationError(
            f"'{quoted(text)}' is not a gate; write name(parameter=value), such as "
            "noninferior(margin=0.02)"
        ) from None
    if parts.name not in GATES or parts.cutoff is not None:
        raise ConfigurationError(
            f"'{quoted(text)}' is not a gate{suggestion(parts.name, GATES)}; gates are "
            f"{', '.join(GATES)}"
        )
    make = GATES[parts.name]
    arguments: dict[str, Any] = dict(parts.given)
    inconclusive = arguments.pop("inconclusive", None)
    parameters = signature(make).parameters
    unknown = next((name for name in arguments if name not in parameters), None)
    if unknown is not None:
        raise ConfigurationError(
            f"the gate {parts.name} has no parameter '{quoted(unknown)}'"
            f"{suggestion(unknown, parameters)}; it has {', '.join([*parameters, 'inconclusive'])}"
        )
    if "margin" in parameters and "margin" not in arguments:
        raise ConfigurationError(
            f"'{quoted(text)}': the gate {parts.name} needs the fall that would matter, such as "
            "margin=0.02"
        )
    return replace(make(**arguments), inconclusive=inconclusive)


@dataclass(frozen=True, slots=True)
class ScopedGate:
    """One line of the configuration: a gate, and what it is for."""

    golden_name: str | None
    """None: for all golden sets."""
    metric: Metric | None
    """None: for all metrics."""
    gate: Gate
    scope: str = ""
    """What it is for, as written."""

    @classmethod
    def parse(cls, line: str, golden_names: Collection[str] = ()) -> ScopedGate:
        """Return the gate of a line ``gate`` or ``scope: gate``.

        The scope is ``metric``, ``set`` or ``set metric``, where ``*`` means all sets or metrics.

        Args:
            line: the line.
            golden_names: the configured golden sets; others may be made by tests.

        Raises:
            ConfigurationError: the line is malformed, or its gate does not fit its metric.
        """
        scope, _, text = line.rpartition(":")
        scope, gate = scope.strip(), gate_of(text.strip())
        try:
            golden_name, metric = _scope(scope, golden_names)
            if metric is not None:
                gate.refuse_misfit(metric)
        except ConfigurationError as error:
            raise ConfigurationError(f"'{quoted(line)}': {error}") from None
        return cls(golden_name, metric, gate, scope)

    def covers(self, golden_name: str, metric: Metric) -> bool:
        """Return whether it is for a metric on a golden set."""
        return self.golden_name in (None, golden_name) and self.metric in (None, metric)

    @property
    def specificity(self) -> int:
        """0 for all metrics and golden sets, 1 if it names one of the two, 2 if it names both."""
        return (self.golden_name is not None) + (self.metric is not None)


def _scope(scope: str, golden_names: Collection[str]) -> tuple[str | None, Metric | None]:
    """Return the golden set and the metric that a scope names; None: all of them."""
    problem = ""
    for word in re.finditer(r"\S+", scope):
        name, last = scope[: word.start()].strip(), scope[word.start() :]
        try:
            metric = None if last == "*" else Metric.parse(last)
        except MetricError as error:
            problem = str(error)
            continue
        return (None if name in ("", "*") else name), metric
    if scope in golden_names or not re.search(r"[\s@(]", scope):
        return scope or None, None
    raise ConfigurationError(
        f"{problem}; write 'metric: gate', 'set: gate' or 'set metric: gate', where * is all sets "
        "or all metrics"
    )


@dataclass(frozen=True, slots=True)
class ConfiguredGates:
    """The configured gates: for all, for a golden set, for a metric, or for both."""

    gates: tuple[ScopedGate, ...] = ()

    @classmethod
    def parse(cls, lines: Iterable[str], golden_names: Collection[str] = ()) -> ConfiguredGates:
        """Return the gates of lines such as ``gate``, ``metric: gate`` and ``set metric: gate``.

        Args:
            lines: the lines.
            golden_names: the configured golden sets and session logs.

        Raises:
            ConfigurationError: a line is malformed or ambiguous.
        """
        gates = cls(tuple(ScopedGate.parse(line, golden_names) for line in lines))
        for name in golden_names:
            gates.refuse_ambiguous(name)
        return gates

    def refuse_ambiguous(self, golden_name: str) -> None:
        """Refuse a scope of one word that is both a metric and a golden set."""
        for each in self.gates:
            if each.metric and each.scope.lower() == golden_name.lower():
                word = quoted(each.scope)
                raise ConfigurationError(
                    f"'{word}' is a golden set and the metric {each.metric}; write '{word} *: "
                    f"gate' for the golden set, or '* {word}: gate' for the metric"
                )

    @property
    def golden_names(self) -> Sequence[str]:
        """The golden sets and session logs that the lines name, each once."""
        return tuple(dict.fromkeys(gate.golden_name for gate in self.gates if gate.golden_name))

    def gate(self, golden_name: str, metric: Metric) -> Gate | None:
        """Return the gate of a metric on a golden set; None if nothing is configured.

        The most specific line wins; ties go to the last.

        Raises:
            ConfigurationError: a line is ambiguous.
        """
        self.refuse_ambiguous(golden_name)
        # max() takes the first of equals, so the last line comes first.
        covering = [gate for gate in reversed(self.gates) if gate.covers(golden_name, metric)]
        best = max(covering, key=lambda gate: gate.specificity, default=None)
        return best.gate if best else None
