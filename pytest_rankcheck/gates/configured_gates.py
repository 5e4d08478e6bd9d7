"""Gates as written in the configuration: ``web nDCG@10: noninferior(margin=0.02)``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
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
    parameters = signature(make).parameters
    unknown = next((name for name in arguments if name not in parameters), None)
    if unknown is not None:
        raise ConfigurationError(
            f"the gate {parts.name} has no parameter '{quoted(unknown)}'"
            f"{suggestion(unknown, parameters)}; it has {', '.join(parameters)}"
        )
    if "margin" in parameters and "margin" not in arguments:
        raise ConfigurationError(
            f"'{quoted(text)}': the gate {parts.name} needs the fall that would matter, such as "
            "margin=0.02"
        )
    return make(**arguments)


@dataclass(frozen=True, slots=True)
class ScopedGate:
    """One line of the configuration: a gate, and what it is for."""

    golden_name: str | None
    """None: for all golden sets."""
    metric: Metric | None
    """None: for all metrics."""
    gate: Gate

    @classmethod
    def parse(cls, line: str) -> ScopedGate:
        """Return the gate of a line such as ``gate``, ``metric: gate`` or ``set metric: gate``.

        Raises:
            ConfigurationError: the line is malformed, or its gate does not fit its metric.
        """
        scope, text = _split(line)
        golden_name, metric = _scope(scope.split(), line)
        gate = gate_of(text)
        if metric is not None:
            try:
                gate.refuse_misfit(metric)
            except ConfigurationError as error:
                raise ConfigurationError(f"'{quoted(line)}': {error}") from None
        return cls(golden_name, metric, gate)

    def covers(self, golden_name: str, metric: Metric) -> bool:
        """Return whether it is for a metric on a golden set."""
        return self.golden_name in (None, golden_name) and self.metric in (None, metric)

    @property
    def specificity(self) -> int:
        """0 for all metrics and golden sets, 1 if it names one of the two, 2 if it names both."""
        return (self.golden_name is not None) + (self.metric is not None)


def _split(line: str) -> tuple[str, str]:
    """Return the scope of a line and its gate, whose parameters may have colons in quotes."""
    found = re.fullmatch(r"(?:(.*):)?\s*([\w.]+\s*(?:\(.*\))?)\s*", line, re.DOTALL)
    if found is None:
        scope, _, text = line.rpartition(":")
        return scope, text.strip()
    return found[1] or "", found[2]


def _scope(words: Sequence[str], line: str) -> tuple[str | None, Metric | None]:
    """Return the golden set and the metric that a line names; None: all of them."""
    metrics = [_metric(word, line) for word in words]
    if not words:
        return None, None
    if len(words) == 1:
        return (words[0], None) if metrics[0] is None else (None, metrics[0])
    # A golden set may have the name of a metric, but not one with a cutoff or parameters.
    is_set = [re.search("[@(]", word) is None for word in words]
    if len(words) == 2 and metrics[1] is not None and is_set[0]:
        return words[0], metrics[1]
    if len(words) == 2 and metrics[0] is not None and is_set[1]:
        return words[1], metrics[0]
    wrong = f"neither '{quoted(words[0])}' nor '{quoted(words[1])}' is a metric"
    if any(metrics):
        wrong = "it names several metrics or golden sets"
    raise ConfigurationError(
        f"'{quoted(line)}': {wrong}; write 'metric: gate', 'set: gate' or 'set metric: gate'"
    )


def _metric(word: str, line: str) -> Metric | None:
    try:
        return Metric.parse(word)
    except MetricError as error:
        if "@" in word or "(" in word:  # no golden set has such a name
            raise ConfigurationError(f"'{quoted(line)}': {error}") from None
        return None


@dataclass(frozen=True, slots=True)
class ConfiguredGates:
    """The configured gates: for all, for a golden set, for a metric, or for both."""

    gates: tuple[ScopedGate, ...] = ()

    @classmethod
    def parse(cls, lines: Iterable[str]) -> ConfiguredGates:
        """Return the gates of lines such as ``gate``, ``metric: gate`` and ``set metric: gate``.

        Raises:
            ConfigurationError: a line is malformed.
        """
        return cls(tuple(map(ScopedGate.parse, lines)))

    @property
    def golden_names(self) -> Sequence[str]:
        """The golden sets and session logs that the lines name, each once."""
        return tuple(dict.fromkeys(gate.golden_name for gate in self.gates if gate.golden_name))

    def gate(self, golden_name: str, metric: Metric) -> Gate | None:
        """Return the gate of a metric on a golden set; None if nothing is configured.

        The most specific line wins; ties go to the last.
        """
        # max() takes the first of equals, so the last line comes first.
        covering = [gate for gate in reversed(self.gates) if gate.covers(golden_name, metric)]
        best = max(covering, key=lambda gate: gate.specificity, default=None)
        return best.gate if best else None
