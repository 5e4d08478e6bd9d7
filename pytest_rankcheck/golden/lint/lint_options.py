"""Options of the linter: the scale of grades, the fall to detect, the levels of rules."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import get_args

from pytest_rankcheck.errors import GoldenSetError, quoted, suggestion
from pytest_rankcheck.golden.lint.lint_finding import Level

__all__ = ["LintOptions"]


@dataclass(frozen=True, slots=True)
class LintOptions:
    """The options of the linter."""

    scale: tuple[float, float] | None = None
    """The lowest and the highest valid grade."""
    tolerance: float | None = None
    """The fall of a mean that a gate should detect."""
    min_queries: int = 30
    """The smallest slice that is gated."""
    spread: float = 0.1
    """The assumed standard deviation of a query's differences between two versions."""
    levels: Mapping[str, Level] = field(default_factory=dict)
    """Rules with another level than their default."""

    @classmethod
    def parse(cls, lines: Iterable[str], rules: Iterable[str]) -> LintOptions:
        """Parse options from lines such as ``scale=0..3`` and ``small-slice=ignore``.

        Raises:
            GoldenSetError: a line is malformed, or names neither an option nor a rule.
        """
        rule_names = list(rules)
        values: dict[str, object] = {}
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
                raise GoldenSetError(
                    f"'{quoted(name)}' is neither an option nor a rule of the linter"
                    f"{suggestion(name, names) or '; known: ' + ', '.join(names)}"
                )
        return cls(**values, levels=levels)  # type: ignore[arg-type]


def _level(text: str, line: str) -> Level:
    for level in get_args(Level):
        if text == level:
            return level  # type: ignore[no-any-return]
    raise GoldenSetError(f"'{quoted(line)}': the level of a rule is error, warning or ignore")


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


_READERS = {"scale": _scale, "tolerance": _number, "min_queries": _count, "spread": _number}
