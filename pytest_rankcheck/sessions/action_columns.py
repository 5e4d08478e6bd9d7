"""Columns that may say that not every row of a log is a selection."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from pytest_rankcheck.array_types import BoolArray, IntArray
from pytest_rankcheck.errors import SessionLogError, listed, plural, quoted, suggestion
from pytest_rankcheck.files.delimited_tables import normalised_name
from pytest_rankcheck.files.plain_values import plain_value
from pytest_rankcheck.files.table_columns import Column
from pytest_rankcheck.sessions.event_columns import Events
from pytest_rankcheck.sessions.nested_events import EventRows
from pytest_rankcheck.sessions.selection_rule import SelectionRule, value_key

__all__ = ["ActionColumns", "refuse_only_selections"]

SEVERAL = 20
"""From so many events on, it is implausible that each has a selection: if 3 in 4 had one, the
probability would be 0.75 ** 20 = 0.003."""

_FEW = 50
"""How many cells are looked at before a whole column is."""
_SHOWN = 6

_NAMES = re.compile(
    r"((event|user|search|ubi)_?)*(action|interaction|activity)(_?(name|type|kind|id))?"
    r"|event_?(type|name|kind|category|action|id)|(row|record|log|hit)_?type|type|kind|event|verb"
    r"|((is|was|has)_?)?(click|clicked|select|selected|selection)(_?flag)?|clicks"
)
_NEGATIVE = re.compile(
    r"false|(no|non|not|un)[ _-]?(click|select).*|skip(ped)?|(.*[ _.-])?imp(ression)?s?"
    r"|(.*[ _.-])?(view|show|serve|render|display)(s|n|ed|ing|er|d)?|seen|expos(e|ed|ure)s?"
)
"""Keys of values that say that a row is not a selection."""
_POSITIVE = re.compile(
    r"true|(.*[ _.-])?(click|select|tap|open|choose|chosen|purchase|buy|bought|order|download|"
    r"add[ _-]?to[ _-]?(cart|basket))(s|ed|ion|through)?"
)
"""Keys of values that probably mean a selection."""


_ACTIONS = ("has actions, not the index of each event", "")
_NOT_ALL = (
    "says that not every row is a selection",
    "if every row with a rank or a document is one nevertheless",
)
_FLAG = ("is a flag, not the selected document or a list of clicks", "if its values are ids")
"""What is wrong with a column, and when ``selections_where="all"`` is right."""


@dataclass(slots=True)
class _Tally:
    """How often a value occurs."""

    value: object
    rows: int = 0
    selections: int = 0
    """How many of the rows would count as selections."""


class ActionColumns:
    """Counts the values of columns that may be actions or flags of clicks."""

    def __init__(self, rule: SelectionRule | None) -> None:
        self._rule = rule
        self._has_selections = False
        """Whether the rule selects a row."""
        self._tallies: dict[str, dict[str, _Tally]] = {}
        """By column, its values by their keys."""
        self._flags: dict[str, dict[str, _Tally] | None] = {}
        """By column of selected documents or lists of clicks, its values; None if one is neither
        empty nor a flag."""
        self._events: set[str] = set()
        """The columns that were taken for the index of the event."""

    def count(self, found: EventRows, is_used: BoolArray, selected_rows: IntArray) -> None:
        """Count the values of some rows, and how many of these would count as selections."""
        has_selection = np.zeros(len(is_used), dtype=bool)
        has_selection[selected_rows] = True
        has_selection &= is_used
        if self._rule is not None:
            self._count_wanted(self._rule, found, len(is_used))
            return
        for name, column in found.unclaimed.items():
            if _NAMES.fullmatch(_last_part(name)):
                _add(self._tallies.setdefault(name, {}), column, has_selection)
        for role in ("selected", "clicks"):
            if role in found.columns:
                self._count_flags(found.names[role], found.columns[role], has_selection)
        if "event" in found.columns and not is_used.all():
            name = found.names["event"]
            self._events.add(name)
            _add(self._tallies.setdefault(name, {}), found.columns["event"], has_selection)

    def _count_wanted(self, rule: SelectionRule, found: EventRows, size: int) -> None:
        """Count the values of the columns that say which rows are selections."""
        is_selection = rule.mask(found.unclaimed, size)
        self._has_selections |= bool(is_selection.any())
        for name in rule.wanted.keys() & found.unclaimed.keys():
            _add(self._tallies.setdefault(name, {}), found.unclaimed[name], is_selection)

    def _count_flags(self, name: str, column: Column, has_selection: BoolArray) -> None:
        """Count the values of a column of selected documents, while all are flags."""
        tallies = self._flags.setdefault(name, {})
        few = (column.cell(row) for row in range(min(len(column), _FEW)))
        if tallies is None or not all(map(_may_be_flag, few)):
            self._flags[name] = None
            return
        _add(tallies, column, has_selection)
        if not all(_may_be_flag(tally.value) for tally in tallies.values()):
            self._flags[name] = None

    def refuse(self, source: str) -> None:
        """Refuse a log whose rows are not all selections, if a column says so.

        Raises:
            SessionLogError: the column, its values, and what to write; or no row is a selection by
                ``selections_where``.
        """
        if self._rule is not None:
            if self._rule.wanted and not self._has_selections:
                raise SessionLogError(self._without_selections(source, self._rule))
            return
        for name, tallies in self._tallies.items():
            values = [tally for key, tally in tallies.items() if key]
            if name in self._events:
                if any(map(_is_action, values)):
                    raise SessionLogError(_refusal(source, name, _ACTIONS, values))
            elif any(map(_counts_negative, values)):
                raise SessionLogError(_refusal(source, name, _NOT_ALL, values))
        for name, flags in self._flags.items():
            values = [tally for key, tally in (flags or {}).items() if key]
            if _are_flags(name, values):
                raise SessionLogError(_refusal(source, name, _FLAG, values))

    def unmet(self) -> Iterator[str]:
        """Return the wanted values that never occur, because they may be misspelt."""
        for name, keys in (self._rule.wanted if self._rule else {}).items():
            tallies = self._tallies.get(name, {})
            missing = sorted(keys - tallies.keys())
            if missing:
                values = [tally for key, tally in tallies.items() if key]
                texts = [str(tally.value) for tally in values]
                yield (
                    f"'{quoted(name)}' is never {listed(missing)}"
                    f"{suggestion(missing[0], texts) or ';'} its values are {_counts(values)}"
                )

    def _without_selections(self, source: str, rule: SelectionRule) -> str:
        """Return why no row is a selection."""
        for name, keys in rule.wanted.items():
            tallies = self._tallies.get(name, {})
            if keys.isdisjoint(tallies):
                break
        values = [tally for key, tally in tallies.items() if key]
        return (
            f"{source}: no row is a selection: '{quoted(name)}' is "
            f"{'not' if keys & tallies.keys() else 'never'} {listed(sorted(keys))}"
            f"{' where the other columns have their values' if keys & tallies.keys() else ''}; "
            f"its values are {_counts(values) or 'all empty'}. Correct selections_where"
        )


def refuse_only_selections(events: Events, source: str) -> None:
    """Refuse a log in which every event has a selection.

    Raises:
        SessionLogError: the log has several events, and each has a selection.
    """
    count = len(events)
    if count >= SEVERAL and events.selections.all():
        raise SessionLogError(
            f"{source}: each of the {count:,} events has a selection, which is implausible: "
            "perhaps impressions are counted as selections, or searches without a selection are "
            "missing. If a column says which rows are selections, write "
            'selections_where={"that column": ["its value"]}; if all of them are, write '
            'selections_where="all"'
        )


def _add(tallies: dict[str, _Tally], column: Column, has_selection: BoolArray) -> None:
    coded = column.coded()
    size = len(coded.values)
    rows = np.bincount(coded.codes, minlength=size).tolist()
    selections = np.bincount(coded.codes[has_selection], minlength=size).tolist()
    for value, more_rows, more in zip(coded.values, rows, selections, strict=True):
        tally = tallies.setdefault(value_key(value), _Tally(value))
        tally.rows += more_rows
        tally.selections += more


def _last_part(name: str) -> str:
    """Return the last part of a dotted column name, in the form used for comparison."""
    return normalised_name(name.rpartition(".")[2])


def _may_be_flag(value: object) -> bool:
    return value_key(value) in ("", "true", "false")


def _counts_negative(tally: _Tally) -> bool:
    """Whether rows with a value that is not a selection would count as selections."""
    return tally.selections > 0 and bool(_NEGATIVE.fullmatch(value_key(tally.value)))


def _is_action(tally: _Tally) -> bool:
    key = value_key(tally.value)
    is_flag = key in ("true", "false")  # perhaps the index 0 or 1
    return not is_flag and bool(_NEGATIVE.fullmatch(key) or _POSITIVE.fullmatch(key))


def _are_flags(name: str, values: Sequence[_Tally]) -> bool:
    """Whether the values of a column of selected documents are flags.

    The values 0 and 1 may be ids; they are not if both occur, if the column's name is that of a
    flag, or if nothing else was selected in a log of several events.
    """
    texts = {str(tally.value).strip().casefold() for tally in values}
    has_both = len({value_key(tally.value) for tally in values}) > 1
    is_named = bool(_NAMES.fullmatch(_last_part(name)))
    are_many = sum(tally.rows for tally in values) >= SEVERAL
    return bool(texts) and (bool(texts - {"0", "1"}) or has_both or is_named or are_many)


def _refusal(source: str, name: str, problem: tuple[str, str], values: Sequence[_Tally]) -> str:
    """Return what is wrong with a column, and what to write."""
    what, if_all = problem
    ordered = sorted(values, key=lambda tally: -tally.rows)
    possible = [each for each in ordered if not _NEGATIVE.fullmatch(value_key(each.value))]
    likely = [each for each in possible if _POSITIVE.fullmatch(value_key(each.value))]
    chosen = [tally.value for tally in (likely or possible)[:_SHOWN]]
    column, literals = quoted(name), ", ".join(map(_literal, chosen))
    texts = quoted("|".join(str(plain_value(value)) for value in chosen))
    line = (
        f'selections_where={{"{column}": [{literals}]}} with the values that mean a selection (in '
        f"the configuration: rankcheck_session_reading = selections_where={column}:{texts})"
    )
    if not chosen:
        line = "selections_where={...} with the column and the values that mean a selection"
    if if_all:
        line += f', or selections_where="all" {if_all}'
    return f"{source}: the column '{column}' {what}: {_counts(ordered)}. Write {line}"


def _counts(values: Sequence[_Tally]) -> str:
    """Return the most frequent values, and how often they occur."""
    ordered = sorted(values, key=lambda tally: -tally.rows)
    counts = ", ".join(
        f"{_literal(tally.value)} ({plural(tally.rows, 'row')}, {tally.selections:,} with a "
        "selection)"
        for tally in ordered[:_SHOWN]
    )
    more = f" and {len(ordered) - _SHOWN:,} more" if len(ordered) > _SHOWN else ""
    return counts + more


def _literal(value: object) -> str:
    """Return a value as it is written in Python."""
    plain = plain_value(value)
    return f'"{quoted(plain)}"' if isinstance(plain, str) else quoted(plain)
