"""Changes of a record that need a reason, their closed list of kinds, and approvals of them.

A kind knows its words, what covers a change of it, and when one is undone. The name of a change in
a record's file, such as ``fall:RR[locale=de]``, is written and parsed only here.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_rankcheck.baselines.record_file import decoded, decoded_fields, encoded
from pytest_rankcheck.errors import ConfigurationError, quoted
from pytest_rankcheck.metrics.metric_names import Metric

if TYPE_CHECKING:
    from pytest_rankcheck.gates.gate import Gate

LOSS_SHARE = 0.05
"""The share of queries that may leave the golden set, be edited, or lose a value or a label."""

Side = float | str | None

_ROUNDING = 2e-9
"""Means in a change have nine decimals."""
_NAME = re.compile(
    r"""(?P<kind>[a-z-]+)
    (?::(?P<subject>(?:[^\['"]|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")+)
    (?:\[(?P<attribute>"(?:[^"\\]|\\.)*"|[^="]*)=(?P<value>.*)\])?)?""",
    re.VERBOSE | re.DOTALL,
)
"""The name of a fall or a rise, whose metric may have quoted texts with brackets in them."""


@dataclass(frozen=True, slots=True)
class Change:
    """A change that needs a reason, and its extent; it covers nothing worse."""

    kind: str
    """The kind of change, from the closed list in the manual, such as ``fall``."""
    subject: str = ""
    """The metric, attribute, convention or option concerned; empty for the whole record."""
    before: float | str | None = None
    after: float | str | None = None
    weight: float = 0.0
    """For lost queries: their share of the weight."""
    slice: tuple[str, str] | None = None
    """For a fall in a slice: the attribute and its value."""
    words: str = field(default="", compare=False)
    """What messages say instead of the usual words; not recorded."""

    @classmethod
    def fall(
        cls, metric: Metric, before: float, after: float, part: tuple[str, str] | None = None
    ) -> Change:
        """Return the fall of a mean; NaN means no value. Even a millionth of one query counts."""
        then, now = (None if math.isnan(m) else round(float(m), 9) for m in (before, after))
        return cls("fall", str(metric), then, now, slice=part)

    # --- its form in the file ------------------------------------------------------------------

    @property
    def name(self) -> str:
        """Its name in the file, such as ``fall:RR[locale=de]``."""
        if self.slice is None:
            return f"{self.kind}:{self.subject}" if self.subject else self.kind
        attribute, value = self.slice
        if "=" in attribute or '"' in attribute:
            attribute = json.dumps(attribute, ensure_ascii=False)
        return f"{self.kind}:{self.subject}[{attribute}={value}]"

    @classmethod
    def from_dict(cls, name: str, entry: Mapping[str, Any]) -> Change:
        """Return the change with this name, from what an approval records about it."""
        kind, _, subject = name.partition(":")
        of_slice = None
        parts = _NAME.fullmatch(name) if kind in ("fall", "rise") else None
        if parts is not None and parts["attribute"] is not None:
            attribute, subject = parts["attribute"], parts["subject"]
            if attribute.startswith('"'):
                attribute = json.loads(attribute)
            of_slice = attribute, parts["value"]
        before, after = (decoded(Side, entry[side]) for side in ("from", "to"))
        return cls(kind, subject, before, after, decoded(float, entry.get("weight", 0.0)), of_slice)

    def to_dict(self) -> Mapping[str, Any]:
        """Return what an approval records about it."""
        weight = {"weight": self.weight} if self.weight else {}
        return {"from": self.before, "to": self.after, **weight}

    # --- what it says and means ----------------------------------------------------------------

    @property
    def _kind(self) -> ChangeKind:
        return KINDS.get(self.kind, _OTHER)

    @property
    def loss(self) -> float:
        """How far a mean falls; negative if it rises, infinite if it no longer has a value."""
        if not isinstance(self.before, float | int) or not isinstance(self.after, float | int):
            return math.inf
        return -Metric.parse(self.subject).gain(float(self.before), float(self.after))

    @property
    def text(self) -> str:
        """The change in words."""
        if self.words:
            return self.words
        words = self._kind.words
        if isinstance(self.after, int) and self.kind in ("slice-gone", "clusters"):
            words = "{after} of {before} queries have another label of {name}"
        about = f"{self.subject} in {'='.join(self.slice)}" if self.slice else self.subject
        return words.format(
            name=about or self.kind,
            about=about,
            before=_shown(self.before),
            after=_shown(self.after),
        )

    @property
    def is_of_metric(self) -> bool:
        """Whether it concerns a single metric that is still gated."""
        return self.kind in ("fall", "rise", "no-value", "direction", "gate-looser", "noise-wider")

    @property
    def is_drop(self) -> bool:
        """Whether something is no longer decided."""
        return self.kind in ("metric-gone", "slice-gone", "limits") and self.after is None

    @property
    def is_loosening(self) -> bool:
        """Whether something is decided less strictly, which a branch allows for all its records."""
        return self.kind in ("gate-looser", "option-looser")

    def is_covered(self, approved: Iterable[Change]) -> bool:
        """Return whether approved changes cover this one: the same change, at least as large."""
        same, kind = [each for each in approved if each.name == self.name], self._kind
        if kind.adds_up is not None:
            return bool(same) and kind.adds_up(same, self)
        return not all(kind.is_worse(self.after, each.after) for each in same)

    def is_undone(self, now: Side) -> bool:
        """Return whether the record is no worse now than before this change was approved."""
        if self._kind.is_undone is not None:
            return self._kind.is_undone(self, now)
        is_known = now is not None and not self._kind.is_worse(now, self.before)
        return is_known or now == self.before


def united(changes: Iterable[Change]) -> tuple[Change, ...]:
    """Return the changes, each name once, with its largest extent."""
    by_name: dict[str, Change] = {}
    for change in changes:
        known = by_name.get(change.name)
        if known is None or not change.is_covered([known]):
            by_name[change.name] = change
    return tuple(by_name.values())


def _shown(side: Side) -> str:
    if isinstance(side, str):
        return f"'{quoted(side, 200)}'" if not side.isprintable() else side
    if side is None:
        return "none"
    return f"{side:.4f}" if isinstance(side, float) else f"{side:,}"


def _number(side: Side) -> float:
    """Return a side of a change as a number; 0 if it is not a number."""
    return 0.0 if side is None or isinstance(side, str) else float(side)


# --- gates by their texts ------------------------------------------------------------------------


def is_looser(before: str | None, after: str | None) -> bool:
    """Return whether a gate may let pass what another blocks; None means no gate."""
    if before is None or before == after:
        return False
    if after is None:
        return True
    then, now = known_gate(before), known_gate(after)
    return then is None or now is None or not now.is_at_least_as_strict_as(then)


def known_gate(text: str | None) -> Gate | None:
    """Return the gate of a text; None without a text, or if the gate is not known here.

    Its rule may have been removed since, or belong to an extension that is not loaded.
    """
    from pytest_rankcheck.gates.configured_gates import gate_of

    with suppress(ConfigurationError):
        return None if text is None else gate_of(text)
    return None


# --- which of two sides is worse -----------------------------------------------------------------


def _is_other(one: Side, than: Side) -> bool:
    return one != than


def _is_less(one: Side, than: Side) -> bool:
    return _number(one) < _number(than)


def _is_more(one: Side, than: Side) -> bool:
    return _number(one) > _number(than)


def _is_looser(one: Side, than: Side) -> bool:
    return is_looser(str(than), str(one))


# --- what changes that were approved allow together ----------------------------------------------


def _falls_as_far(approved: Sequence[Change], needed: Change) -> bool:
    allowed = sum(each.loss for each in approved)
    # A few queries may have left since; then the same fall is larger on the others.
    return needed.loss <= allowed + abs(allowed) * LOSS_SHARE / (1 - LOSS_SHARE) + 1e-6


def _loses_as_many(approved: Sequence[Change], needed: Change) -> bool:
    few = max(1, LOSS_SHARE * _number(needed.before))
    return _changes_as_many(approved, needed, few) and (
        needed.weight <= sum(each.weight for each in approved) + LOSS_SHARE
    )


def _changes_as_many(approved: Sequence[Change], needed: Change, few: float = 0) -> bool:
    return _number(needed.after) <= sum(_number(each.after) for each in approved) + few


def _moves_as_many_labels(approved: Sequence[Change], needed: Change) -> bool:
    if any(each.after is None for each in approved):  # none of its slices is gated any more
        return True
    return needed.after is not None and _loses_as_many(approved, needed)


# --- whether a change is undone ------------------------------------------------------------------


def _is_no_fall(change: Change, now: Side) -> bool:
    return now is not None and replace(change, after=now).loss <= _ROUNDING


def _is_there(change: Change, now: Side) -> bool:
    return now is not None


def _are_clusters_back(change: Change, now: Side) -> bool:
    return isinstance(change.before, int) or now == change.before  # a count of queries that moved


def _always(change: Change, now: Side) -> bool:
    return True


def _never(change: Change, now: Side) -> bool:
    return False


class ChangeKind(NamedTuple):
    """What all changes of a kind have in common."""

    words: str = "{name}: {before} in the baseline, {after} now"
    """The words of messages about such a change."""
    is_worse: Callable[[Side, Side], bool] = _is_other
    """Whether a record with one side keeps less of a promise than a record with the other."""
    adds_up: Callable[[Sequence[Change], Change], bool] | None = None
    """Whether approved changes of one name together cover a change; None: the largest decides."""
    is_undone: Callable[[Change, Side], bool] | None = None
    """Whether the record's present state undoes a change; None: if it is no worse than before."""


_OTHER = ChangeKind()
_MEANS = "{about} {before} -> {after}"

KINDS: Mapping[str, ChangeKind] = {
    "fall": ChangeKind(_MEANS, adds_up=_falls_as_far, is_undone=_is_no_fall),
    "rise": ChangeKind(_MEANS, adds_up=_falls_as_far, is_undone=_always),
    "no-value": ChangeKind(
        "{about} has no value for {after} of {before} queries that counted",
        _is_less,
        _loses_as_many,
    ),
    "metric-gone": ChangeKind("{about} is no longer gated", is_undone=_is_there),
    "slice-gone": ChangeKind(
        "the slices of {about} are no longer gated",
        adds_up=_moves_as_many_labels,
        is_undone=_is_there,
    ),
    "direction": ChangeKind(
        "direction of {about}: {before} is better in the baseline, {after} now"
    ),
    "gate-looser": ChangeKind("the gate of {about} was {before}, and is {after} now", _is_looser),
    "noise-wider": ChangeKind(
        "the gate of {about} allows for noise, which was {before} and is {after} now", _is_more
    ),
    "queries-lost": ChangeKind(
        "{after} of {before} queries removed or edited", _is_less, _loses_as_many
    ),
    **dict.fromkeys(("convention", "depth", "scale", "golden-set", "catalogue"), _OTHER),
    "clusters": ChangeKind(is_undone=_are_clusters_back),
    "rankings": ChangeKind("{after} rankings changed", adds_up=_changes_as_many, is_undone=_never),
    "limits": ChangeKind("the rankings were limited by {before}, and are limited by {after} now"),
    "replicates": ChangeKind(
        "the values were means of {before} replicates, and are of {after} now", _is_less
    ),
    "option-looser": ChangeKind("{about} was {before}, and is {after} now", is_undone=_always),
    "unreadable": ChangeKind("the earlier baseline could not be read", is_undone=_never),
    "retired": ChangeKind("the baseline is retired", is_undone=_never),
}
"""The closed list of what an approval can allow."""


# --- approvals -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Approval:
    """The written reason for a change; it stays in the record."""

    reason: str
    date: str
    commit: str | None
    """The commit that was checked out: the parent of the commit that adds the approval."""
    author: str | None
    keys: tuple[Change, ...] = ()
    """The changes that it allows; the name of each in the file is its key."""

    @classmethod
    def now(cls, reason: str, folder: Path, keys: Sequence[Change] = ()) -> Approval:
        """Return an approval made now, with commit and author from git in ``folder``."""
        from pytest_rankcheck.files.git_commands import git_line

        name, email = (
            os.environ.get(f"GIT_AUTHOR_{part.upper()}")
            or git_line(folder, "config", f"user.{part}")
            for part in ("name", "email")
        )
        author = f"{name} <{email}>" if name and email else name or email
        date = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        return cls(reason, date, git_line(folder, "rev-parse", "HEAD"), author, tuple(keys))

    @classmethod
    def from_dict(cls, entry: Mapping[str, Any]) -> Approval:
        """Return the approval of an entry in a record's file.

        Raises:
            ValueError: it has no reason, or a value of another type.
            KeyError: something is missing.
        """
        keys = decoded(Mapping[str, Mapping[str, Any]], entry["keys"])
        approval: Approval = decoded_fields(
            cls, entry, keys=tuple(Change.from_dict(name, key) for name, key in keys.items())
        )
        if not approval.reason.strip():
            raise ValueError(f"the approval of {quoted(approval.date)} has no reason")
        return approval

    def to_dict(self) -> Mapping[str, Any]:
        """Return the approval as the record's file has it."""
        entry = {name: getattr(self, name) for name in ("reason", "date", "commit", "author")}
        return {**entry, "keys": {key.name: encoded(key) for key in self.keys}}

    @property
    def text(self) -> str:
        """Who approved it and why, in one line: ``approved by Ada: "half the latency"``."""
        name = (self.author or "").partition(" <")[0]
        by = f" by {quoted(name, 60)}" if name else ""
        return f'approved{by}: "{quoted(self.reason, 200)}"'
