"""Merging the parts of a run: refuse parts that do not belong together, and count copies once."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from pytest_rankcheck.array_types import IntArray
from pytest_rankcheck.errors import RunError, listed, plural, quoted
from pytest_rankcheck.evaluation.block_hits import BlockHits
from pytest_rankcheck.evaluation.part_contents import PartContents, names_of
from pytest_rankcheck.files.id_columns import HeldIds
from pytest_rankcheck.files.id_runs import rows_of_groups
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.golden.judgments import Judgments
from pytest_rankcheck.package_version import package_version

__all__ = ["Expected", "MergedParts", "check_origins"]

Expected = int | Iterable[str] | None
"""What must not be missing: this number of parts, or these queries."""

_WORDS = {
    "conventions": "different conventions",
    "reading": "different reading options",
    "depth": "different ranked depths",
    "top": "different numbers of kept documents (top=)",
    "version": "different versions of pytest-rankcheck",
}


def check_origins(parts: Sequence[PartContents], golden: GoldenSet) -> None:
    """Refuse parts with another golden set, other conventions or another version."""
    first, names = parts[0], names_of(parts)
    for part, shown in zip(parts, names, strict=True):
        of_part = part.origin
        if of_part.golden != golden.fingerprint or of_part.scale != golden.scale:
            raise RunError(
                f"part '{quoted(shown)}' was evaluated on another golden set than "
                f"'{quoted(golden.name)}': its fingerprint is {quoted(of_part.golden)} (scale "
                f"{of_part.scale:g}), not {golden.fingerprint} (scale {golden.scale:g}); give "
                "the driver and the workers the same golden set, and evaluate the part again"
            )
        for name, words in _WORDS.items():
            own, other = getattr(of_part, name), getattr(first.origin, name)
            if own != other:
                raise RunError(
                    f"parts '{quoted(names[0])}' and '{quoted(shown)}' have {words}: "
                    f"{_shown(other)} and {_shown(own)}; evaluate all parts in the same way"
                )
    if first.origin.version != package_version():
        raise RunError(
            f"part '{quoted(first.name)}' was made by pytest-rankcheck "
            f"{quoted(first.origin.version)}, but this is {package_version()}; install the same "
            "version everywhere, and evaluate the parts again"
        )


def _shown(value: object) -> str:
    if hasattr(value, "to_dict"):
        value = ", ".join(f"{name}={chosen}" for name, chosen in value.to_dict().items())
    return f"'{quoted(value)}'"


@dataclass
class MergedParts:
    """The parts of a run; each judged query is taken from the first part that has it."""

    parts: Sequence[PartContents]
    judgments: Judgments
    _owners: dict[str, tuple[int, int]] = field(default_factory=dict)
    """The part of each query, and its place there."""
    _conflicts: dict[str, tuple[int, int]] = field(default_factory=dict)
    """The queries with two rankings, and the parts that have them."""
    copies: int = 0

    def __post_init__(self) -> None:
        for number, part in enumerate(self.parts):
            for place, query_id in enumerate(part.query_ids):
                owner, own_place = self._owners.setdefault(query_id, (number, place))
                if (owner, own_place) == (number, place):
                    continue
                if self.parts[owner].digests[own_place] == part.digests[place]:
                    self.copies += 1
                else:
                    self._conflicts.setdefault(query_id, (owner, number))
        if self._conflicts:
            raise self._conflict()

    def _conflict(self) -> RunError:
        query_id, (one, other) = next(iter(self._conflicts.items()))
        count = len(self._conflicts)
        return RunError(
            f"query '{quoted(query_id)}' has different rows in part {one + 1} "
            f"('{quoted(self.parts[one].name)}') and part {other + 1} "
            f"('{quoted(self.parts[other].name)}') "
            f"({plural(count, 'such query', 'such queries')} in all): the run was cut within "
            "queries, or these are parts of two runs. Partition by query, so that all rows of a "
            "query are in one part"
        )

    @property
    def extra(self) -> Sequence[str]:
        """The queries without judgments, each once."""
        return tuple(dict.fromkeys(each for part in self.parts for each in part.extra))

    def check_expected(self, expected: Expected, golden: GoldenSet) -> None:
        """Refuse the parts if some expected ones are missing, or if there are too many."""
        if expected is None:
            return
        if isinstance(expected, int):
            count = len(self.parts) - self._copied_parts()
            if count != expected:
                raise RunError(
                    f"{plural(expected, 'part was', 'parts were')} expected, but there are "
                    f"{count:,}{self._but_copies()}: {self._names()}"
                )
            return
        extra = set(self.extra)
        lacking = [each for each in dict.fromkeys(expected) if each not in self._owners]
        lacking = [each for each in lacking if each not in extra]
        if lacking:
            unknown = [each for each in lacking if each not in golden]
            raise RunError(
                f"{plural(len(lacking), 'expected query is', 'expected queries are')} in no part: "
                f"{listed(lacking)}"
                + (f" (the golden set does not have {listed(unknown)})" if unknown else "")
                + f"; {plural(len(self.parts), 'part was', 'parts were')} given, with "
                f"{plural(len(self._owners), 'judged query', 'judged queries')}. Evaluate the "
                "parts that are missing"
            )

    def _copied_parts(self) -> int:
        """Return how many parts have queries, but only queries that earlier parts have too."""
        new = {owner for owner, _ in self._owners.values()}
        seen = set[str]()
        for number, part in enumerate(self.parts):
            if not seen.issuperset(part.extra):
                new.add(number)
                seen.update(part.extra)
        are_empty = [part.is_empty for part in self.parts]
        return sum(number not in new and not empty for number, empty in enumerate(are_empty))

    def _but_copies(self) -> str:
        copied = self._copied_parts()
        return f" (and {plural(copied, 'copy', 'copies')})" if copied else ""

    def _names(self) -> str:
        return listed(names_of(self.parts))

    def blocks(self) -> list[BlockHits]:
        """Return the hits of each part, without the queries taken from another part."""
        kept: dict[int, list[int]] = {}
        for number, place in self._owners.values():
            kept.setdefault(number, []).append(place)
        return [
            self._block(self.parts[number], np.array(places, np.int64))
            for number, places in kept.items()
        ]

    def _block(self, part: PartContents, places: IntArray) -> BlockHits:
        rows, starts = rows_of_groups(part.starts, places)
        top_rows, top_starts = rows_of_groups(part.top_starts, places)
        codes = [self._code(part, place) for place in places.tolist()]
        judged: list[int] = []
        for code, (start, end) in zip(codes, pairwise(starts.tolist()), strict=True):
            if start == end:
                continue
            row_of = self.judgments.rows_of(code)
            judged += self._rows_of(part, code, row_of, rows[start:end])
        judged_rows = np.array(judged, np.int64)
        return BlockHits(
            np.array(codes, np.int64),
            part.retrieved[places],
            starts,
            part.ranks[rows],
            self.judgments.grades[judged_rows],
            judged_rows,
            (HeldIds([part.tops[row] for row in top_rows.tolist()]), top_starts),
        )

    def _code(self, part: PartContents, place: int) -> int:
        code = self.judgments.codes.get(part.query_ids[place])
        if code is None:
            raise RunError(f"part '{quoted(part.name)}' is damaged; evaluate it again")
        return code

    def _rows_of(
        self, part: PartContents, code: int, row_of: Mapping[str, int], rows: IntArray
    ) -> Collection[int]:
        try:
            return [row_of[part.documents[row]] for row in rows.tolist()]
        except KeyError as missing:
            raise RunError(
                f"part '{quoted(part.name)}': document '{quoted(missing.args[0])}' is not judged "
                f"for query '{quoted(self.judgments.query_ids[code])}'; evaluate the part again"
            ) from None
