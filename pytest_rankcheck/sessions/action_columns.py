"""Columns that may say that not every row of a log is a selection."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from pytest_rankcheck.array_types import BoolArray, IntArray
from pytest_rankcheck.errors import SessionLogError, listed, plural, quoted, suggestion
from pytest_rankcheck.files.delimited_tables import normalised_name
from pytest_rankcheck.files.plain_values import plain_value
from pytest_rankcheck.files.table_columns import Column
from pytest_rankcheck.sessions.event_rows import EventRows
from pytest_rankcheck.sessions.log_options import SelectionRule, value_key

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
_FLAGS = frozenset({"true", "false"})
_WRONG = {
    "index": ("has actions, not the index of each event", ""),
    "action": (
        "says that not every row is a selection",
        "if every row with a rank or a document is one nevertheless",
    ),
    "document": (
        "is a flag, not the selected document or a list of clicks",
        "if its values are ids",
    ),
}
"""What may be wrong with a column, by what it was taken for, and when it is right nevertheless."""


@dataclass(slots=True)
class _Tally:
    """How often a value occurs."""

    value: object
    rows: int = 0
    selections: int = 0
    """How many of the rows would count as selections."""


_Tallies = dict[str, _Tally]
"""The values of a column, by their keys; without empty cells."""


class ActionColumns:
    """Counts the values of columns that may be actions or flags of clicks."""

    def __init__(self, rule: SelectionRule | None) -> None:
        self._rule = rule
        self._has_selections = False
        """Whether the rule selects a row."""
        self._columns: dict[tuple[str, str], _Tallies] = {}
        """The values of a column, by what it was taken for and its name: the index of the event,
        although some cells are not; actions, because of its name; selected documents or lists of
        clicks; or "wanted" of a rule."""

    def count(self, found: EventRows, is_used: BoolArray, selected_rows: IntArray) -> None:
        """Count the values of some rows, and how many of these would count as selections."""
        has_selection = np.zeros(len(is_used), dtype=bool)
        has_selection[selected_rows] = True
        has_selection &= is_used
        if self._rule is not None:
            is_selection = self._rule.mask(found.unclaimed, len(is_used))
            self._has_selections |= bool(is_selection.any())
            for name in self._rule.wanted.keys() & found.unclaimed.keys():
                self._add("wanted", name, found.unclaimed[name], is_selection)
            return
        for name, column in found.unclaimed.items():
            if _NAMES.fullmatch(_last_part(name)):
                self._add("action", name, column, has_selection)
        for role in {"selected", "clicks"} & found.columns.keys():
            name, column = found.names[role], found.columns[role]
            few = Column([column.cell(row) for row in range(min(len(column), _FEW))])
            are_flags = {value_key(cell) for cell in few.values} <= {*_FLAGS, ""}
            self._add("document", name, column if are_flags else few, has_selection)
        if "event" in found.columns and not is_used.all():
            self._add("index", found.names["event"], found.columns["event"], has_selection)

    def _add(self, kind: str, name: str, column: Column, is_selection: BoolArray) -> None:
        """Count the values of some rows of a column."""
        tallies = self._columns.setdefault((kind, name), {})
        coded = column.coded()
        size = len(coded.values)
        rows = np.bincount(coded.codes, minlength=size).tolist()
        selected = coded.codes[is_selection[: len(column)]]
        selections = np.bincount(selected, minlength=size).tolist()
        for value, more_rows, more in zip(coded.values, rows, selections, strict=True):
            if key := value_key(value):
                tally = tallies.setdefault(key, _Tally(value))
                tally.rows += more_rows
                tally.selections += more

    def refuse(self, source: str) -> None:
        """Refuse a log whose rows are not all selections, if a column says so.

        Raises:
            SessionLogError: the column, its values, and what to write; or no row is a selection by
                ``selections_where``.
        """
        if self._rule is not None and self._rule.wanted and not self._has_selections:
            why = next(self.unmet(), "no row has a value of each of the columns")
            raise SessionLogError(
                f"{source}: no row is a selection: {why}. Correct selections_where"
            )
        for (kind, name), tallies in self._columns.items():
            if kind in _WRONG and _is_wrong(kind, name, tallies):
                raise SessionLogError(_refusal(source, name, *_WRONG[kind], tallies))

    def unmet(self) -> Iterator[str]:
        """Return the wanted values that never occur, because they may be misspelt."""
        for name, keys in (self._rule.wanted if self._rule else {}).items():
            tallies = self._columns.get(("wanted", name), {})
            missing = sorted(keys - tallies.keys())
            if missing:
                texts = [str(tally.value) for tally in tallies.values()]
                yield (
                    f"'{quoted(name)}' is never {listed(missing)}"
                    f"{suggestion(missing[0], texts) or ';'} its values are "
                    f"{_counts(tallies) or 'all empty'}"
                )


def _last_part(name: str) -> str:
    """Return the last part of a dotted column name, in the form used for comparison."""
    return normalised_name(name.rpartition(".")[2])


def _is_wrong(kind: str, name: str, tallies: _Tallies) -> bool:
    """Whether the values show that a column is not what it was taken for."""
    if kind == "document":
        return _are_flags(name, tallies)
    if kind == "action":
        return any(each.selections and _NEGATIVE.fullmatch(key) for key, each in tallies.items())
    actions = tallies.keys() - _FLAGS  # which may be the index 0 or 1
    return any(_NEGATIVE.fullmatch(key) or _POSITIVE.fullmatch(key) for key in actions)


def _are_flags(name: str, tallies: _Tallies) -> bool:
    """Whether the values of a column of selected documents are flags.

    The values 0 and 1 may be ids; they are not if both occur, if the column's name is that of a
    flag, or if nothing else was selected in a log of several events.
    """
    if not tallies or not tallies.keys() <= _FLAGS:
        return False
    are_numbers = {str(tally.value).strip() for tally in tallies.values()} <= {"0", "1"}
    is_named = bool(_NAMES.fullmatch(_last_part(name)))
    are_many = sum(tally.rows for tally in tallies.values()) >= SEVERAL
    return not are_numbers or len(tallies) > 1 or is_named or are_many


def _refusal(source: str, name: str, what: str, if_all: str, tallies: _Tallies) -> str:
    """Return what is wrong with a column, and what to write."""
    possible = {key: each.value for key, each in _ordered(tallies) if not _NEGATIVE.fullmatch(key)}
    likely = [value for key, value in possible.items() if _POSITIVE.fullmatch(key)]
    chosen = (likely or list(possible.values()))[:_SHOWN]
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
    return f"{source}: the column '{column}' {what}: {_counts(tallies)}. Write {line}"


def _ordered(tallies: _Tallies) -> Sequence[tuple[str, _Tally]]:
    """Return the values, the most frequent first."""
    return sorted(tallies.items(), key=lambda item: -item[1].rows)


def _counts(tallies: _Tallies) -> str:
    """Return the most frequent values, and how often they occur."""
    counts = ", ".join(
        f"{_literal(tally.value)} ({plural(tally.rows, 'row')}, {tally.selections:,} with a "
        "selection)"
        for _, tally in islice(_ordered(tallies), _SHOWN)
    )
    more = f" and {len(tallies) - _SHOWN:,} more" if len(tallies) > _SHOWN else ""
    return counts + more


def _literal(value: object) -> str:
    """Return a value as it is written in Python."""
    plain = plain_value(value)
    return f'"{quoted(plain)}"' if isinstance(plain, str) else quoted(plain)
