"""Baselines of tests that are gone, and the new baselines that may take their place."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

from pytest_rankcheck.baselines.record import Record
from pytest_rankcheck.baselines.succession import Problem, broken_promises, new_approvals
from pytest_rankcheck.plugin.unrun_baseline import ExpectedRecord

__all__ = ["Replacement", "is_defined", "replacements"]


_MAKES_NAMES = re.compile(r"\bimport\s*\(?\s*\*|\b(?:globals|vars|locals|setattr|exec|type)\s*\(")
"""What defines names in a module that its text does not contain."""


@dataclass(frozen=True, slots=True)
class Replacement:
    """A new baseline that replaces one whose test is gone."""

    old: ExpectedRecord
    new: ExpectedRecord
    problems: Sequence[Problem]
    """What the new baseline is worse in; empty if it may take the place of the old one."""


def replacements(
    gone: Sequence[ExpectedRecord], added: Sequence[ExpectedRecord]
) -> Sequence[Replacement]:
    """Return which new baseline replaces which old one; each is in at most one pair.

    A new baseline fits an old one if both are of the same golden set, gate a common metric and
    share unchanged queries. Pairs without a problem come first, then those with similar names.

    Args:
        gone: the approved baselines whose tests are gone.
        added: the baselines that this branch adds, and whose gates ran.
    """
    pairs = sorted(_pairs(gone, added), key=lambda pair: (bool(pair.problems), -_similarity(pair)))
    chosen: list[Replacement] = []
    for pair in pairs:
        if not any(pair.old is other.old or pair.new is other.new for other in chosen):
            chosen.append(pair)
    return chosen


def _pairs(
    gone: Sequence[ExpectedRecord], added: Sequence[ExpectedRecord]
) -> Iterator[Replacement]:
    for old in gone:
        for new in added:
            before, after = old.record, new.record
            if before is not None and after is not None and _fits(before, after):
                yield Replacement(old, new, _problems(before, after))


def _fits(before: Record, after: Record) -> bool:
    """Whether a record may be the continuation of another one."""
    unit_is_session = any(metric.unit == "session" for metric in before.recorded_metrics)
    then, now = before.query_fingerprints, after.query_fingerprints
    return (
        before.golden_name == after.golden_name
        and not {*before.gated}.isdisjoint(after.gated)
        and (unit_is_session or any(now.get(query) == text for query, text in then.items()))
    )


def _problems(before: Record, after: Record) -> Sequence[Problem]:
    """Return what a record loses of another one that it continues.

    A new record may have no approvals: its means are compared, whatever had been approved.
    """
    if new_approvals(before, after) is None:
        before = replace(before, approvals=())
    return broken_promises(before, after)


def _similarity(pair: Replacement) -> float:
    return SequenceMatcher(None, pair.old.shown_path, pair.new.shown_path).ratio()


def is_defined(source: str, key: str) -> bool:
    """Return whether a test module may define a test; False only if it certainly does not.

    Args:
        source: the text of the module.
        key: what identifies the test in it, such as ``TestShop::test_mrr[de]``.
    """
    try:
        body: Sequence[ast.stmt] = ast.parse(source).body
    except SyntaxError:
        return True
    for name in key.partition("[")[0].split("::"):
        definition = next(
            (
                node
                for statement in body
                for node in ast.walk(statement)
                if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef))
                and node.name == name
            ),
            None,
        )
        if definition is None:
            is_named = re.search(rf"\b{re.escape(name)}\b", source) is not None
            return is_named or _MAKES_NAMES.search(source) is not None
        if isinstance(definition, ast.ClassDef) and definition.bases:
            return True
        body = definition.body
    return True
