"""An approval: why, when and by whom a baseline was changed on purpose, and the keys it gives."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_rankcheck.baselines.typed_json import decoded, decoded_fields, encoded
from pytest_rankcheck.errors import ConfigurationError, quoted
from pytest_rankcheck.metrics.metric_names import Metric

if TYPE_CHECKING:
    from pytest_rankcheck.gates.gate import Gate

LOSS_SHARE = 0.05
"""The share of queries that may leave the golden set, be edited or lose their value."""


_UNCOMPARED = "the rankings are no longer compared with those of the baseline"
_WORDS = {
    "fall": "{about} {before} -> {after}",
    "rise": "{about} {before} -> {after}",
    "no-value": "{about} has no value for {after} of {before} queries that counted",
    "metric-gone": "{about} is no longer gated",
    "slice-gone": "the slices of {about} are no longer gated",
    "direction": "direction of {about}: {before} is better in the baseline, {after} now",
    "gate-looser": "the gate of {about} was {before}, and is {after} now",
    "noise-wider": "the gate of {about} allows for noise, which was {before} and is {after} now",
    "queries-lost": "{after} of {before} queries removed or edited",
    "rankings": "{after} rankings changed",
    "limits": "the rankings were limited by {before}, and are limited by {after} now",
    "option-looser": "{about} was {before}, and is {after} now",
    "replicates": "the values were means of {before} replicates, and are of {after} now",
    "unreadable": "the earlier baseline could not be read",
    "retired": "the baseline is retired",
}
"""What messages say of each kind of key; of all others, that they differ."""


@dataclass(frozen=True, slots=True)
class Key:
    """A change that needs a reason, and how far it goes; it covers nothing worse."""

    name: str
    """What changes, of the closed list in the manual, such as ``fall:RR[locale=de]``."""
    before: float | str | None = None
    after: float | str | None = None
    weight: float = 0.0
    """Of lost queries: the share of the weight that they have."""
    words: str = field(default="", compare=False)
    """What messages say instead of the usual words; it is not recorded."""

    @classmethod
    def of_means(cls, name: str, before: float, after: float) -> Key:
        """Return the key of two means; NaN is none. A fall of a millionth of one query counts."""
        then, now = (
            None if math.isnan(side) else round(float(side), 9) for side in (before, after)
        )
        return cls(name, then, now)

    @property
    def kind(self) -> str:
        """What its name says before the colon, such as ``fall``."""
        return self.name.partition(":")[0]

    @property
    def subject(self) -> str:
        """What its name says after the colon, without a slice, such as ``RR``."""
        return self.name.partition(":")[2].partition("[")[0]

    @property
    def loss(self) -> float:
        """How far a mean falls; negative if it rises, infinite if it has no value any more."""
        if not isinstance(self.before, float | int) or not isinstance(self.after, float | int):
            return math.inf
        return -Metric.parse(self.subject).gain(float(self.before), float(self.after))

    @property
    def text(self) -> str:
        """The change in words."""
        if self.words:
            return self.words
        about, slice_of = self.subject, self.name.partition("[")[2].removesuffix("]")
        words = _WORDS.get(self.kind, "{name}: {before} in the baseline, {after} now")
        if self.kind == "limits" and self.after is None:
            words = _UNCOMPARED
        return words.format(
            name=about if self.kind == "convention" else self.name,
            about=f"{about} in {slice_of}" if slice_of else about,
            before=_shown(self.before),
            after=_shown(self.after),
        )

    @classmethod
    def from_dict(cls, name: str, entry: Mapping[str, Any]) -> Key:
        """Return the key of a name with what an approval records of it."""
        before, after = (decoded(float | str | None, entry[side]) for side in ("from", "to"))
        return cls(name, before, after, decoded(float, entry.get("weight", 0.0)))

    def to_dict(self) -> Mapping[str, Any]:
        """Return what an approval records of it."""
        weight = {"weight": self.weight} if self.weight else {}
        return {"from": self.before, "to": self.after, **weight}


def _shown(side: float | str | None) -> str:
    if isinstance(side, str):
        return f"'{quoted(side, 200)}'" if not side.isprintable() else side
    if side is None:
        return "none"
    return f"{side:.4f}" if isinstance(side, float) else f"{side:,}"


def covers(approved: Iterable[Key], needed: Key) -> bool:
    """Return whether keys that were approved let a change pass: the same one, and none worse."""
    same = [key for key in approved if key.name == needed.name]
    if not same:
        return False
    if needed.kind in ("fall", "rise"):
        allowed = sum(key.loss for key in same)
        # A few queries may have left since: then the same fall is a larger share of the others.
        return needed.loss <= allowed + abs(allowed) * LOSS_SHARE / (1 - LOSS_SHARE) + 1e-6
    if needed.kind in ("queries-lost", "no-value", "rankings"):
        few = 0 if needed.kind == "rankings" else max(1, LOSS_SHARE * number_of(needed.before))
        return number_of(needed.after) <= sum(number_of(key.after) for key in same) + few and (
            needed.weight <= sum(key.weight for key in same) + LOSS_SHARE
        )
    if needed.kind == "noise-wider":
        return any(number_of(needed.after) <= number_of(key.after) for key in same)
    if needed.kind == "replicates":
        return any(number_of(needed.after) >= number_of(key.after) for key in same)
    if needed.kind == "gate-looser":
        return any(not is_looser(str(key.after), str(needed.after)) for key in same)
    return any(key.after == needed.after for key in same)


def is_looser(before: str | None, after: str | None) -> bool:
    """Return whether a gate may let pass what another blocks; None is no gate."""
    if before is None or before == after:
        return False
    if after is None:
        return True
    then, now = known_gate(before), known_gate(after)
    return then is None or now is None or not now.is_at_least_as_strict_as(then)


def known_gate(text: str | None) -> Gate | None:
    """Return the gate of a text; None without one, and for one that is not known here.

    Its rule may have been removed since, or be of an extension that is not loaded.
    """
    from pytest_rankcheck.gates.configured_gates import gate_of

    with suppress(ConfigurationError):
        return None if text is None else gate_of(text)
    return None


def united(keys: Iterable[Key]) -> tuple[Key, ...]:
    """Return keys, each name once, with what goes furthest."""
    by_name: dict[str, Key] = {}
    for key in keys:
        known = by_name.get(key.name)
        if known is None or not covers([known], key):
            by_name[key.name] = key
    return tuple(by_name.values())


def number_of(side: float | str | None) -> float:
    """Return a side of a key as a number; 0 if it is none."""
    return 0.0 if side is None or isinstance(side, str) else float(side)


@dataclass(frozen=True, slots=True)
class Approval:
    """The written reason for a change; it stays in the record."""

    reason: str
    date: str
    commit: str | None
    """The commit that was checked out: the parent of the commit that adds the approval."""
    author: str | None
    keys: tuple[Key, ...] = ()

    @classmethod
    def now(cls, reason: str, folder: Path, keys: Sequence[Key] = ()) -> Approval:
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
            cls, entry, keys=tuple(Key.from_dict(name, key) for name, key in keys.items())
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
