"""Options of the linter: the scale of grades, the fall to detect, the levels of rules."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from numbers import Real
from typing import Literal, get_args

from pytest_rankcheck.argument_kinds import is_number
from pytest_rankcheck.errors import GoldenSetError, MetricError, quoted, suggestion
from pytest_rankcheck.metrics.metric_names import USUAL_METRICS, Metric

__all__ = ["Level", "LintOptions", "unknown_name"]

Level = Literal["error", "warning", "ignore"]


@dataclass(frozen=True, slots=True)
class LintOptions:
    """The options of the linter."""

    scale: tuple[float, float] | None = None
    """The lowest and the highest valid grade."""
    tolerance: float | None = None
    """The fall of a mean that a gate should detect."""
    min_queries: int = 30
    """The smallest slice that is gated."""
    spread: float | None = None
    """The standard deviation of queries' differences between two versions; None: the measured range
    of the metric."""
    levels: Mapping[str, Level] = field(default_factory=dict)
    """Rules with another level than their default."""
    metric: str = USUAL_METRICS[0]
    """The gated metric, in which the fall should be detected."""

    def __post_init__(self) -> None:
        valid = {
            "scale": (_is_scale(self.scale), "(lowest, highest), such as (0, 3)"),
            "tolerance": (_is_positive(self.tolerance), "a number above 0, such as 0.02"),
            "min_queries": (_is_positive(self.min_queries), "a whole number from 1 on"),
            "spread": (_is_positive(self.spread), "a number above 0, such as 0.1"),
        }
        for name, (is_valid, words) in valid.items():
            value = getattr(self, name)
            if not is_valid and value is not None:
                raise GoldenSetError(f"{name}={quoted(value, 60)} is invalid; give {words}")
        try:
            Metric.parse(self.metric)
        except MetricError as error:
            raise GoldenSetError(f"metric: {error}") from None

    @classmethod
    def parse(
        cls, lines: Iterable[str], rules: Iterable[str], metric: str = USUAL_METRICS[0]
    ) -> LintOptions:
        """Parse options from lines such as ``scale=0..3`` and ``small-slice=ignore``.

        Args:
            lines: one option or one rule each.
            rules: the names of all rules.
            metric: the gated metric, if no line names it.
        """
        rule_names = list(rules)
        values: dict[str, object] = {"metric": metric}
        levels: dict[str, Level] = {}
        for line in lines:
            name, equals, text = (part.strip() for part in line.partition("="))
            if not equals:
                raise GoldenSetError(
                    f"'{quoted(line)}' is not of the form name=value, such as scale=0..3 or "
                    "small-slice=ignore"
                )
            if name in _READERS:
                values[name] = _READERS[name](text, line)
            elif name in rule_names:
                levels[name] = _level(text, line)
            else:
                options = [option.name for option in fields(cls) if option.name != "levels"]
                names = [*options, *rule_names]
                raise unknown_name(name, "neither an option nor a rule of the linter", names)
        return cls(**values, levels=levels)  # type: ignore[arg-type]


def unknown_name(name: str, problem: str, known: Sequence[str]) -> GoldenSetError:
    """Return the error that a name is unknown, with a suggestion or all known names."""
    hint = suggestion(str(name), known) or f"; known: {', '.join(known)}"
    return GoldenSetError(f"'{quoted(name)}' is {problem}{hint}")


def _is_positive(value: object) -> bool:
    return is_number(value) and 0 < float(value) < math.inf


def _is_scale(value: object) -> bool:
    return (
        isinstance(value, Sequence)
        and len(value) == 2
        and all(isinstance(bound, Real) for bound in value)
        and value[0] <= value[1]
    )


def _level(text: str, line: str) -> Level:
    if text not in get_args(Level):
        raise GoldenSetError(f"'{quoted(line)}': the level of a rule is error, warning or ignore")
    return text  # type: ignore[return-value]


def _number(text: str, line: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not (math.isfinite(number) and number > 0):
        raise GoldenSetError(f"'{quoted(line)}': '{quoted(text)}' is not a number above 0")
    return number


def _count(text: str, line: str) -> int:
    number = _number(text, line)
    if not number.is_integer():
        raise GoldenSetError(f"'{quoted(line)}': '{quoted(text)}' is not a whole number")
    return int(number)


def _scale(text: str, line: str) -> tuple[float, float]:
    low, dots, high = text.partition("..")
    try:
        scale = float(low), float(high)
    except ValueError:
        scale = math.nan, math.nan
    if not dots or not scale[0] <= scale[1]:
        raise GoldenSetError(
            f"'{quoted(line)}': a scale has the form lowest..highest, such as 0..3"
        )
    return scale


def _text(text: str, line: str) -> str:
    if not text:
        raise GoldenSetError(f"'{quoted(line)}' has no value after '='")
    return text


_READERS: Mapping[str, Callable[[str, str], object]] = {
    "scale": _scale,
    "tolerance": _number,
    "min_queries": _count,
    "spread": _number,
    "metric": _text,
}
