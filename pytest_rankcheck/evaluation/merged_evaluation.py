"""The evaluation of a run whose parts were evaluated one by one, perhaps on many machines."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pytest_rankcheck.array_types import FloatArray
from pytest_rankcheck.errors import MetricError, listed, plural, quoted
from pytest_rankcheck.evaluation.conventions import TieOrder
from pytest_rankcheck.evaluation.joined_evaluation import JoinedEvaluation
from pytest_rankcheck.evaluation.merged_parts import Expected, MergedParts, check_origins
from pytest_rankcheck.evaluation.part_contents import PartContents, PartOrigin, names_of
from pytest_rankcheck.evaluation.run_golden_join import Joined
from pytest_rankcheck.golden.golden_set import GoldenSet

__all__ = ["MergedEvaluation"]

_LEAST_QUERIES = 5
"""A part with fewer queries may well rank no judged document."""
_CHANCE = 0.001
"""The largest chance of such a note about sound parts."""


class MergedEvaluation(JoinedEvaluation):
    """The evaluation of the parts of a run. Make one with `Evaluation.merge`."""

    _why_tops = "this evaluation was merged from parts, and"
    _how_to_know_more = "keep more of each ranking in the parts: evaluate_part(..., top=100)"

    def __init__(
        self, name: str, origin: PartOrigin, golden: GoldenSet, joined: Joined, copies: int
    ) -> None:
        super().__init__(name, origin.depth, golden, origin.conventions, joined)
        self._known_depth = origin.top
        self.copies = copies
        """How often a query was repeated with the same ranking; each query counts once."""
        self._remarks: list[str] = []

    @classmethod
    def of(
        cls,
        parts: Sequence[PartContents],
        golden: GoldenSet,
        expected: Expected = None,
        name: str | None = None,
    ) -> MergedEvaluation:
        """Return the evaluation of all parts together. See `Evaluation.merge`."""
        check_origins(parts, golden)
        merging = MergedParts(parts, golden.columns)
        merging.check_expected(expected, golden)
        shown = name or (parts[0].name if len(parts) == 1 else f"run of {len(parts):,} parts")
        joined = Joined(golden.columns, merging.blocks(), merging.extra)
        return cls(shown, parts[0].origin, golden, joined, merging.copies).checked()

    def note(self, sentence: str) -> None:
        """Add to `notes` what a reader must know about how the parts were made."""
        self._remarks.append(sentence)

    def note_parts(self, parts: Sequence[PartContents], expected: Expected) -> None:
        """Add to `notes` the parts' own notes, the empty parts, and that parts may be missing."""
        names = names_of(parts)
        for name, part in zip(names, parts, strict=True):
            for sentence in part.notes:
                self.note(f"in part '{quoted(name, 200)}', {sentence}")
        place = [name for name, part in zip(names, parts, strict=True) if part.is_empty]
        if place:
            count = plural(len(place), "part has", "parts have")
            self.note(f"{count} no rows (of {len(parts):,} parts): {listed(place)}")
        for number in _without_hits(parts):
            part = parts[number]
            self.note(
                f"part '{quoted(names[number], 200)}' ranks {len(part):,} judged queries but no "
                f"judged document, unlike the other parts: are its ids, such as "
                f"'{quoted(part.tops[0])}', written in another way?"
            )
        if expected is None and self.missing:
            lacking = plural(len(self.missing), "judged query is", "judged queries are")
            self.note(
                f"merged from {plural(len(parts), 'part')} without expected=, and {lacking} "
                "missing: if a part could be lost, give expected="
            )

    @property
    def is_ranked_here(self) -> bool:
        """False: the rankings come from parts."""
        return False

    @property
    def known_depth(self) -> int | None:
        """The depth of `ranking`: parts keep only the top of each ranking."""
        return self._known_depth

    @property
    def notes(self) -> Sequence[str]:
        """What was unusual: queries in several parts, and notes about a replayed log."""
        notes = (*super().notes, *self._remarks)
        if not self.copies:
            return notes
        count = plural(self.copies, "ranking")
        copied = f"{count} repeated in another part, with the same rows; each query counts once"
        return (*notes, copied)

    @property
    def has_ties_at_hand(self) -> bool:
        """False: parts do not keep the scores of rankings."""
        return False

    def tied(self, k: int | None = 10) -> Sequence[str]:
        """Refuse to answer, because parts do not keep scores.

        Raises:
            MetricError: always.
        """
        raise MetricError(self._no_ties)

    def with_ties(self, order: TieOrder) -> MergedEvaluation:
        """Refuse to answer, because parts do not keep scores.

        Raises:
            MetricError: always.
        """
        raise MetricError(self._no_ties)

    @property
    def _no_ties(self) -> str:
        return (
            f"tied scores of '{quoted(self.name)}' are not known: parts keep ranks, not scores. To "
            "look for ties, evaluate(Run.load(folder), golden) with the run itself"
        )

    @property
    def why_no_ties(self) -> str:
        """Why `has_ties_at_hand` is false, and what to do, as a sentence about the run."""
        return (
            "was merged from parts, which keep ranks and not scores; evaluate the run itself to "
            "look for them"
        )

    def _ir_measures_values(self, name: str) -> FloatArray:
        raise MetricError(
            f"ir_measures computes {quoted(name)} from whole rankings, but this evaluation was "
            "merged from parts; evaluate the run itself: evaluate(Run.load(folder), golden)"
        )

    def __repr__(self) -> str:
        return f"MergedEvaluation(of {self.name!r} on {self.golden!r})"


def _without_hits(parts: Sequence[PartContents]) -> Sequence[int]:
    """Return the places of parts that rank no judged document, if chance cannot explain it.

    If queries of the other parts have a judged document with probability h, n queries have none
    with probability ``(1 - h)^n``, which must be below 0.001 for all parts together (Bonferroni).
    """
    ranked = np.array([np.count_nonzero(part.retrieved) for part in parts])
    hit = np.array([np.count_nonzero(np.diff(part.starts)) for part in parts])
    suspects: Sequence[int] = np.flatnonzero((hit == 0) & (ranked >= _LEAST_QUERIES)).tolist()
    others = ranked[hit > 0].sum()
    share = hit.sum() / others if others else 0.0
    limit = _CHANCE / len(parts)
    return [place for place in suspects if (1 - share) ** ranked[place] < limit]
