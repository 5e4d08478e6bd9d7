"""Gates as written in the configuration: ``web nDCG@10: noninferior(margin=0.02)``."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from inspect import signature
from typing import Any

from pytest_rankcheck.errors import ConfigurationError, MetricError, quoted, suggestion
from pytest_rankcheck.gates.gate import Gate
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.metrics.name_grammar import parts_of

__all__ = ["GATES", "ConfiguredGates", "gate_of"]

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
class ConfiguredGates:
    """The configured gates: for all, for a golden set, for a metric, or for both."""

    rules: tuple[tuple[str | None, Metric | None, Gate], ...] = ()

    @classmethod
    def parse(cls, lines: Iterable[str]) -> ConfiguredGates:
        """Return the gates of lines such as ``gate``, ``metric: gate`` and ``set metric: gate``.

        Raises:
            ConfigurationError: a line is malformed.
        """
        return cls(tuple(_rule(line) for line in lines))

    def gate(self, golden_name: str, metric: Metric) -> Gate | None:
        """Return the gate of a metric on a golden set; None if nothing is configured.

        The most specific line wins; ties go to the last.
        """
        fitting = [
            (rule_golden is not None, rule_metric is not None, place)
            for place, (rule_golden, rule_metric, _) in enumerate(self.rules)
            if rule_golden in (None, golden_name) and rule_metric in (None, metric)
        ]
        if not fitting:
            return None
        best = max(fitting, key=lambda rule: (rule[0] + rule[1], rule[2]))
        return self.rules[best[2]][2]


def _rule(line: str) -> tuple[str | None, Metric | None, Gate]:
    scope, colon, text = line.rpartition(":")
    golden: str | None = None
    metric: Metric | None = None
    for word in scope.split() if colon else ():
        try:
            metric = Metric.parse(word)
        except MetricError as error:
            if "@" in word or "(" in word:  # no golden set has such a name
                raise ConfigurationError(f"'{quoted(line)}': {error}") from None
            if golden is not None:
                raise ConfigurationError(
                    f"'{quoted(line)}': neither '{quoted(golden)}' nor '{quoted(word)}' is a "
                    "metric; write 'metric: gate', 'set: gate' or 'set metric: gate'"
                ) from None
            golden = word
    return golden, metric, gate_of(text.strip())
