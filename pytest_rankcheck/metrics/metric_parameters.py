"""The parameters of a metric: defaults, valid values, and their spelling in a metric's name."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Real

from pytest_rankcheck.errors import suggestion


@dataclass(frozen=True, slots=True)
class Call:
    """A value with arguments of its own, as in ``discount=power(1.5)``."""

    name: str
    arguments: tuple[float, ...] = ()

    def __str__(self) -> str:
        return f"{self.name}({','.join(map(spelled, self.arguments))})"


Value = None | bool | float | str | Call | tuple[tuple[float, float], ...]
"""A parameter's value in canonical, hashable form; a mapping becomes a tuple of sorted pairs."""

ParameterCheck = Callable[[object], Value]
"""Returns a value in canonical form, or raises ValueError, whose message ends the error message."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a metric, written in brackets in the metric's name."""

    name: str
    default: Value
    check: ParameterCheck
    allowed: str
    """The valid values, in words, for messages and the manual."""
    description: str = ""
    """What it means. If empty, the docstring of the metric's function says so, in a paragraph that
    begins with the name and a colon."""
    is_required: bool = False
    """Whether a value must be given because no default would be right; then the default is None."""

    def canonical(self, value: object) -> Value:
        """Return ``value`` in canonical form.

        Raises:
            ValueError: the value is invalid.
        """
        is_default = value == self.default and not self.is_required
        return self.default if is_default else self.check(value)


def choice(*words: str) -> ParameterCheck:
    """Return a check that accepts one of these words, in any case."""

    def check(value: object) -> Value:
        if isinstance(value, str) and value.casefold() in words:
            return value.casefold()
        raise ValueError(suggestion(value, words) if isinstance(value, str) else "")

    return check


def number(
    at_least: float = -math.inf,
    above: float = -math.inf,
    at_most: float = math.inf,
    below: float = math.inf,
) -> ParameterCheck:
    """Return a check that accepts a finite number within bounds.

    Args:
        at_least: the lowest valid value.
        above: a bound that valid values must exceed.
        at_most: the highest valid value.
        below: a bound that valid values must stay below.
    """

    def check(value: object) -> Value:
        if isinstance(value, bool) or not isinstance(value, Real):
            raise ValueError
        try:
            real = float(value)
        except OverflowError:
            raise ValueError from None
        if not (math.isfinite(real) and at_least <= real <= at_most and above < real < below):
            raise ValueError
        return int(real) if _is_whole(real) else real

    return check


def call(name: str, *arguments: ParameterCheck) -> ParameterCheck:
    """Return a check that accepts ``name(...)`` with arguments that pass these checks."""

    def check(value: object) -> Value:
        if not isinstance(value, Call) or value.name.casefold() != name:
            raise ValueError
        if len(value.arguments) != len(arguments):
            raise ValueError(f"; {name} takes {len(arguments)} argument(s)")
        pairs = zip(arguments, value.arguments, strict=True)
        return Call(name, tuple(_as_number(accept(each)) for accept, each in pairs))

    return check


def one_of(*checks: ParameterCheck) -> ParameterCheck:
    """Return a check that accepts what any of ``checks`` accepts; the first hint is kept."""

    def check(value: object) -> Value:
        hint = ""
        for accept in checks:
            try:
                return accept(value)
            except ValueError as refusal:
                hint = hint or str(refusal)
        raise ValueError(hint)

    return check


def flag(value: object) -> Value:
    """Return ``value`` if it is true or false.

    Raises:
        ValueError: it is not.
    """
    if isinstance(value, bool):
        return value
    raise ValueError


def text(value: object) -> Value:
    """Return a word, a number, or true or false, as text.

    Raises:
        ValueError: it is something else.
    """
    if isinstance(value, bool):
        return spelled(value)
    if isinstance(value, str | int | float):
        return str(value)
    raise ValueError


def mapping(value: object) -> Value:
    """Return a mapping of finite grades to finite gains of at least 0 as sorted pairs.

    Raises:
        ValueError: ``value`` is another type, is empty, or has invalid grades or gains.
    """
    try:
        pairs = dict(value) if isinstance(value, (Mapping, tuple)) else {}
    except TypeError:  # a tuple of something else than pairs
        pairs = {}
    if not pairs:
        raise ValueError
    grade, gain = number(), number(at_least=0)
    gains = {_as_number(grade(key)): _as_number(gain(val)) for key, val in pairs.items()}
    return tuple(sorted(gains.items()))


def spelled(value: object) -> str:
    """Return a value as written in a metric's name: ``exponential``, ``2``, ``true``, ``{1:3}``."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        pairs = (f"{spelled(key)}:{spelled(val)}" for key, val in value)
        return "{" + ",".join(pairs) + "}"
    if isinstance(value, float) and _is_whole(value):
        return str(int(value))
    if isinstance(value, str) and not value.isidentifier():
        return repr(value)
    return str(value)


def _is_whole(real: float) -> bool:
    """Whether a number is whole, and small enough to be exact as a float."""
    return real.is_integer() and abs(real) < 2**53


def _as_number(value: Value) -> float:
    return value  # type: ignore[return-value]
