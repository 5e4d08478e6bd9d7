"""How a golden set replays a log, and how position bias was corrected.

It is an attribute of the queries, like their weights and sessions, so it stays with them in subsets
and files.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import asdict, dataclass, fields

from pytest_rankcheck.errors import GoldenSetError, quoted
from pytest_rankcheck.golden.query import WEIGHT

MAX_UNSEEN = 0.1
"""If more than this share of the top was never shown, a replay decides nothing."""
_UNCORRECTED = (
    "a replay without a propensity: positions are not corrected, which favours the ranker that "
    "made the log, and rankers that resemble it"
)


@dataclass(frozen=True, slots=True)
class Clipped:
    """How many selections had a propensity below ``clip``."""

    selections: int
    """Those that were clipped."""
    of: int
    """All selections."""
    weight: float
    """The share of the weight that the clipped ones would have without clipping, in [0, 1]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """How a golden set was made from a log; see `SessionLog.to_golden_set`."""

    propensity: str | None = None
    """The propensity as text; None: positions are not corrected."""
    clip: float | None = None
    """The smallest propensity that counts; None without a propensity."""
    clipped: Clipped | None = None
    uncorrected: bool = False
    """Whether gates against the order of the log are allowed without a propensity."""
    max_unseen: float = MAX_UNSEEN
    """If more than this share of the top was never shown, a gate is inconclusive."""

    @classmethod
    def from_text(cls, text: str) -> Replay:
        """Return what an attribute says.

        Raises:
            ValueError: the text was not written by `text`.
        """
        entry = json.loads(text)
        if not isinstance(entry, dict) or not set(entry) <= {each.name for each in fields(cls)}:
            raise ValueError(text)
        clipped = entry.get("clipped")
        entry["clipped"] = None if clipped is None else Clipped(**clipped)
        return cls(**entry)

    @property
    def text(self) -> str:
        """The value of the attribute."""
        usual = asdict(Replay())
        changed = {name: value for name, value in asdict(self).items() if value != usual[name]}
        return json.dumps(changed)

    @property
    def convention(self) -> str:
        """How positions were corrected, as a baseline record keeps it."""
        if self.propensity is None:
            return "no propensity"
        return f"{self.propensity}, clip={self.clip:g}"

    def corrects(self, weight_by: str | None) -> bool:
        """Whether means with these weights are corrected for where documents were shown."""
        return self.propensity is not None and weight_by == WEIGHT

    def notes(self, weight_by: str | None) -> list[str]:
        """Return what a reader of means with these weights must know, as sentences."""
        if self.propensity is None:
            return [_UNCORRECTED]
        notes = []
        if not self.corrects(weight_by):
            notes.append(
                f"a replay under {self.propensity}, but its weights are not used, so positions are "
                f'not corrected; call .weighted("{WEIGHT}") on the golden set'
            )
        if self.clipped is not None and self.clipped.selections:
            few, all_of = self.clipped.selections, self.clipped.of
            verb = "has a propensity" if few == 1 else "have propensities"
            notes.append(
                f"{few:,} of {all_of:,} selections ({few / all_of:.1%}, {self.clipped.weight:.0%} "
                f"of the weight before clipping) {verb} below clip={self.clip:g} and "
                f"{'counts' if few == 1 else 'count'} as {self.clip:g}"
            )
        return notes


def replay_of(texts: Collection[object], name: str) -> Replay | None:
    """Return how a golden set was replayed, from the attribute of its queries; None if it was not.

    Args:
        texts: the values of the attribute; None for a query without it.
        name: the name of the golden set.

    Raises:
        GoldenSetError: queries were replayed in different ways, or some are not from a replay.
    """
    different = {_read(text) for text in set(texts)}
    if len(different) > 1:
        raise GoldenSetError(
            f"golden set '{quoted(name)}' has queries of different replays, or of a replay and "
            "others; replay all logs with the same options, and keep other queries apart"
        )
    return different.pop() if different else None


def _read(text: object) -> Replay | None:
    """Return what the attribute says; None if somebody else wrote it."""
    try:
        return Replay.from_text(str(text))
    except (ValueError, TypeError):
        return None
