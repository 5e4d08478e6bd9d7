"""What identifies a test in its file, whichever golden set it measures on.

pytest imports this at every start, so it imports nothing heavy.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

from pytest_rankcheck.errors import quoted

TYPED_ID = "rankcheck_id"
"""The attribute of a report that holds the `typed_id` of its test or file."""
RANK_FILE = ".rank.toml"
"""The ending of the names of rank files."""
GOLDEN_NAME = "{golden}"
"""Stands for the name of the golden set in the name of a run's file."""
HAS_GOLDEN = ("golden_set", "session_log")
"""The fixtures whose parameters choose what a test measures on."""
_MAKES_RUN = ("ranker", "ranking_run", "evaluation", "golden_set")
"""The fixtures whose parameters choose which run is measured."""


def typed_id(node: pytest.Item | pytest.Collector) -> str:
    """Return the id of a test or a file as it can be typed after pytest where that was started.

    pytest's own id is relative to its root, and ambiguous for files outside the root.
    """
    _, separator, rest = node.nodeid.partition("::")
    return f"{path_from(node.config.invocation_params.dir, node.path)}{separator}{rest}"


def path_from(folder: Path, path: Path) -> str:
    """Return a path as it can be typed in a folder, with slashes."""
    try:
        return Path(os.path.relpath(path, folder)).as_posix()
    except ValueError:  # on another drive
        return path.as_posix()


def item_key(item: pytest.Item) -> str:
    """Return the classes, the function and the own parameters of a test.

    The parameters of ``golden_set`` and ``session_log`` are left out: adding a golden set changes
    pytest's id, but not the key.

    Returns:
        A text such as ``TestShop::test_mrr[de]``.
    """
    callspec = getattr(item, "callspec", None)
    name = getattr(item, "originalname", None) if callspec else None
    test = "::".join((*_classes(item), name or item.name))
    own_ids = None if callspec is None else _own_ids(item, callspec)
    return test if own_ids is None else f"{test}[{'-'.join(own_ids)}]"


def shared_text(test: str, other: str, golden_name: str) -> str:
    """Return why two tests with the same baseline are refused, and what to do."""
    return (
        f"{test} and {other} have the same baseline, because both measure on a golden set or log "
        f"named '{quoted(golden_name)}'; name the sets differently, with name=\"...\" in "
        "GoldenSet.load, from_frame, from_dict, subset and the like"
    )


def run_label(item: pytest.Item, golden_name: str) -> str:
    """Return the ids of the parameters that chose a run, such as ``bm25``; empty without any.

    The id of a golden set's parameter counts if it says more than the name of the set.
    """
    callspec = getattr(item, "callspec", None)
    if callspec is None:
        return ""
    from pytest_rankcheck.files.packed_files import shown_name

    ids = dict(_ids(item, callspec))
    chosen = {
        name: ids.get((name,)) or _text(callspec, name)
        for name in _MAKES_RUN
        if name in callspec.params
    }
    of_set = chosen.get("golden_set", "")
    if golden_name in (of_set, shown_name(Path(of_set))) or re.fullmatch(r"golden_set\d+", of_set):
        del chosen["golden_set"]
    return "-".join(chosen.values())


def _classes(item: pytest.Item) -> Sequence[str]:
    """Return the names of the classes, or the like, between the file and the test."""
    chain = item.listchain()[:-1]
    files = (place for place, node in enumerate(chain) if isinstance(node, pytest.File))
    last = max(files, default=len(chain))
    return [node.name for node in chain[last + 1 :] if node.name]


def _own_ids(item: pytest.Item, callspec: Any) -> Sequence[str] | None:
    """Return the ids of the parameters that belong to a test; None without parameters."""
    if callspec.params.keys().isdisjoint(HAS_GOLDEN):
        return [callspec.id] if callspec._idlist else None
    own = []
    for names, call_id in _ids(item, callspec):
        if call_id is not None and set(names).isdisjoint(HAS_GOLDEN):
            own.append(call_id)
        else:
            own += [_text(callspec, name) for name in names if name not in HAS_GOLDEN]
    return own or None


def _ids(item: pytest.Item, callspec: Any) -> Iterable[tuple[tuple[str, ...], str | None]]:
    """Return the parameters by call, each with its id; None where that is unknown.

    pytest keeps the ids in the order of the calls, unless some are hidden or combine several calls.
    """
    calls, ids = _calls(item, callspec), callspec._idlist
    return zip(calls, ids if len(ids) == len(calls) else [None] * len(calls), strict=True)


def _calls(item: pytest.Item, callspec: Any) -> Sequence[tuple[str, ...]]:
    """Return the parameters by the call of ``parametrize`` that they come from, in order.

    pytest does not keep the calls of ``pytest_generate_tests``; each of their parameters counts as
    a call of its own.
    """
    joint: dict[str, tuple[str, ...]] = {}
    for marker in item.iter_markers("parametrize"):
        names = marker.args[0] if marker.args else marker.kwargs["argnames"]
        if isinstance(names, str):
            names = [name.strip() for name in names.split(",") if name.strip()]
        joint |= dict.fromkeys(names, tuple(names))
    return list(dict.fromkeys(joint.get(name, (name,)) for name in callspec.params))


def _text(callspec: Any, name: str) -> str:
    """Return a parameter's value as text; for an object without a name, the parameter's index."""
    value = callspec.params[name]
    if isinstance(value, (str, int, float, bool, type(None))):
        return str(value)
    return str(getattr(value, "__name__", None) or f"{name}{callspec.indices[name]}")
