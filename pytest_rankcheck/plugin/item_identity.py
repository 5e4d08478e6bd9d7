"""What identifies a test in its file, whichever golden set it measures on and however often.

pytest imports this at every start, so it imports nothing heavy.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

__all__ = ["HAS_GOLDEN", "is_repeat", "item_key", "repeated_id"]

HAS_GOLDEN = ("golden_set", "session_log")
"""The fixtures whose parameters choose what a test measures on."""

_REPEAT = re.compile("__pytest_repeat_step_number|__flakefinder_.*")
"""The parameters that pytest-repeat and pytest-flakefinder add to run a test several times."""


def item_key(item: pytest.Item) -> str:
    """Return the classes, the function and the own parameters of a test.

    The parameters of ``golden_set`` and ``session_log`` are left out, and so are repeats: adding a
    golden set or repeating a test changes pytest's id, but not the key.

    Returns:
        A text such as ``TestShop::test_mrr[de]``.
    """
    callspec = getattr(item, "callspec", None)
    name = getattr(item, "originalname", None) if callspec else None
    test = "::".join((*_classes(item), name or item.name))
    own_ids = None if callspec is None else _own_ids(item, callspec)
    return test if own_ids is None else f"{test}[{'-'.join(own_ids)}]"


def repeated_id(item: pytest.Item) -> str:
    """Return the id of a test, the same for each of its repeats."""
    callspec = getattr(item, "callspec", None)
    places = callspec.indices if callspec else {}
    chosen = [f"{name}={places[name]}" for name in places if not _REPEAT.fullmatch(name)]
    return f"{item.path}::{item_key(item)} {' '.join(chosen)}"


def is_repeat(item: pytest.Item) -> bool:
    """Return whether a plugin runs a test several times, as tests of their own."""
    callspec = getattr(item, "callspec", None)
    return callspec is not None and any(map(_REPEAT.fullmatch, callspec.params))


def _classes(item: pytest.Item) -> Sequence[str]:
    """Return the names of the classes, or the like, between the file and the test."""
    names: list[str] = []
    node = item.parent
    while node is not None and not isinstance(node, pytest.File):
        names.append(node.name)
        node = node.parent
    return [name for name in reversed(names) if name] if node is not None else []


def _own_ids(item: pytest.Item, callspec: Any) -> Sequence[str] | None:
    """Return the ids of the parameters that belong to a test; None without parameters."""
    if not any(map(_is_left_out, callspec.params)):
        return [callspec.id] if callspec._idlist else None
    own: list[str] = []
    for names, parameter_id in _ids_by_call(item, callspec):
        if not any(map(_is_left_out, names)):
            own.append(parameter_id)
        else:  # together with a golden set: pytest's id is of both
            own += [_text(callspec, name) for name in names if not _is_left_out(name)]
    return own or None


def _is_left_out(name: str) -> bool:
    return name in HAS_GOLDEN or _REPEAT.fullmatch(name) is not None


def _calls(item: pytest.Item, callspec: Any) -> Sequence[tuple[str, ...]]:
    """Return the parameters by the call of ``parametrize`` that they come from, in order.

    pytest does not keep the calls of ``pytest_generate_tests``; each of their parameters counts as
    a call of its own.
    """
    joint = {name: names for _, names in _markers(item) for name in names}
    return list(dict.fromkeys(joint.get(name, (name,)) for name in callspec.params))


def _markers(item: pytest.Item) -> Iterator[tuple[pytest.Mark, tuple[str, ...]]]:
    """Yield the ``parametrize`` markers of a test, with the names of their arguments."""
    for marker in item.iter_markers("parametrize"):
        names = marker.args[0] if marker.args else marker.kwargs["argnames"]
        if isinstance(names, str):
            names = [name.strip() for name in names.split(",") if name.strip()]
        yield marker, tuple(names)


def _is_hidden(item: pytest.Item, callspec: Any, call: tuple[str, ...]) -> bool:
    """Whether `pytest.HIDDEN_PARAM` leaves the parameters of a call out of the id."""
    place = callspec.indices[call[0]]
    for marker, names in _markers(item):
        if names == call:
            values = marker.args[1] if len(marker.args) > 1 else marker.kwargs["argvalues"]
            return _hides(values, marker.kwargs.get("ids"), place)
    for definition in _definitions(item, call[0]):
        return _hides(definition.params, definition.ids, place)
    return False


def _hides(values: Any, ids: Any, place: int) -> bool:
    """Whether the id of the parameter set at a place is hidden."""
    lists = [given for given in (values, ids) if isinstance(given, Sequence)]
    entries = [given[place] for given in lists if place < len(given)]
    return any(getattr(entry, "id", entry) is pytest.HIDDEN_PARAM for entry in entries)


def _definitions(item: pytest.Item, name: str) -> Sequence[Any]:
    """Return the fixture that gives a test a parametrised argument, if a fixture does."""
    info = getattr(item, "_fixtureinfo", None)
    definitions = info.name2fixturedefs.get(name, ()) if info else ()
    return [definition for definition in definitions[-1:] if definition.params is not None]


def _ids_by_call(item: pytest.Item, callspec: Any) -> Iterator[tuple[Sequence[str], str]]:
    """Yield the parameters of each call and their id; pytest keeps ids in the order of the calls.

    Where ``pytest_generate_tests`` parametrised several arguments in one call, there are fewer ids
    than calls. Then all calls between the first and the last of its kind count as one.
    """
    calls = [call for call in _calls(item, callspec) if not _is_hidden(item, callspec, call)]
    ids = list(callspec._idlist)
    if len(ids) != len(calls):
        certain = {names for _, names in _markers(item)}
        places = [
            place
            for place, call in enumerate(calls)
            if call not in certain and not _definitions(item, call[0])
        ]
        first, end = (places[0], places[-1] + 1) if places else (0, len(calls))
        after = len(ids) - (len(calls) - end)
        calls[first:end] = [tuple(name for call in calls[first:end] for name in call)]
        ids[first:after] = ["-".join(ids[first:after])]
    yield from zip(calls, ids, strict=False)


def _text(callspec: Any, name: str) -> str:
    """Return a parameter's value as text; for an object without a name, the parameter's index."""
    value = callspec.params[name]
    if isinstance(value, (str, int, float, bool, type(None))):
        return str(value)
    return str(getattr(value, "__name__", None) or f"{name}{callspec.indices[name]}")
