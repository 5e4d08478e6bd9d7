"""Options of the linter: the scale of grades, the fewest queries, the levels of rules."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from pytest_rankcheck.argument_checks import is_number
from pytest_rankcheck.errors import GoldenSetError, quoted, suggestion

Level = Literal["error", "warning", "ignore"]


@dataclass(frozen=True, slots=True)
class LintOptions:
    """The options of the linter."""

    scale: tuple[float, float] | None = None
    """The lowest and the highest valid grade."""
    min_queries: int = 30
    """The fewest queries that a gate needs."""
    levels: Mapping[str, Level] = field(default_factory=dict)
    """Rules with another level than their default."""

    def __post_init__(self) -> None:
        for name, (is_valid, words) in _NUMBERS.items():
            value = getattr(self, name)
            if value is not None and not is_valid(value):
                raise GoldenSetError(f"{name}={quoted(value, 60)} is invalid; give {words}")

    @classmethod
    def parse(cls, lines: Iterable[str], rules: Iterable[str]) -> LintOptions:
        """Parse options from lines such as ``scale=0..3`` and ``no-relevant=ignore``.

        Args:
            lines: one option or one rule each.
            rules: the names of all rules.
        """
        rule_names = list(rules)
        values: dict[str, Any] = {}
        levels: dict[str, Level] = {}
        for line in lines:
            name, equals, text = (part.strip() for part in line.partition("="))
            if not equals:
                raise GoldenSetError(
                    f"'{quoted(line)}' is not of the form name=value, such as scale=0..3 or "
                    "no-relevant=ignore"
                )
            if name in _NUMBERS:
                try:
                    bounds = [float(bound) for bound in text.split("..")]
                except ValueError:
                    words = _NUMBERS[name][1]
                    raise GoldenSetError(f"'{quoted(line)}' is invalid; give {words}") from None
                values[name] = bounds[0] if len(bounds) == 1 else tuple(bounds)
            elif name in rule_names:
                if text not in get_args(Level):
                    raise GoldenSetError(
                        f"'{quoted(line)}': the level of a rule is error, warning or ignore"
                    )
                levels[name] = text  # type: ignore[assignment]
            else:
                problem = "neither an option nor a rule of the linter"
                raise unknown_name(name, problem, [*_NUMBERS, *rule_names])
        return cls(**values, levels=levels)


def unknown_name(name: str, problem: str, known: Sequence[str]) -> GoldenSetError:
    """Return the error that a name is unknown, with a suggestion or all known names."""
    hint = suggestion(str(name), known) or f"; known: {', '.join(known)}"
    return GoldenSetError(f"'{quoted(name)}' is {problem}{hint}")


def _is_count(value: object) -> bool:
    return is_number(value) and 0 < float(value) < math.inf and value % 1 == 0


def _is_scale(value: object) -> bool:
    return (
        isinstance(value, Sequence)
        and len(value) == 2
        and all(is_number(bound) and math.isfinite(bound) for bound in value)
        and value[0] <= value[1]
    )


_NUMBERS: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "scale": (_is_scale, "the lowest and the highest grade: scale=0..3, or (0, 3) in Python"),
    "min_queries": (_is_count, "a whole number from 1 on"),
}
"""The options that are numbers, and what each may be."""
