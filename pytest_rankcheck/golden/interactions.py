"""Which user interacted with which item before: the training data of a recommender."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import compress, repeat
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from pytest_rankcheck.array_types import BoolArray, IntArray
from pytest_rankcheck.document_ids import DocIdMap, DocIdRule
from pytest_rankcheck.errors import GoldenSetError
from pytest_rankcheck.files.delimited_tables import DOC_ID, Role, index_of_roles, lacks
from pytest_rankcheck.files.id_columns import numbered
from pytest_rankcheck.files.tables import read_table
from pytest_rankcheck.golden.golden_source import checked_id

if TYPE_CHECKING:
    from pytest_rankcheck.files.frame_tables import Frame

InteractionSource: TypeAlias = "str | Path | Frame"

ROLES = {
    "user": Role("user", ("user_id", "userid", "query_id")),
    "item": Role("item", ("itemid", *DOC_ID.names)),
}
_BITS, _ITEM_PART = 32, (1 << 32) - 1
"""A user and an item are one number, with the number of the item in the lower bits."""


class Interactions:
    """Which items each user has interacted with.

    Args:
        source: a table with a row for each interaction, with the columns ``user`` and ``item``.
        columns: ``{"user": column, "item": column}`` if they have unusual names.
        rule: maps the ids of the items, as ``doc_id=`` does.
    """

    def __init__(
        self,
        source: InteractionSource,
        columns: Mapping[str, str] | None = None,
        rule: DocIdRule | None = None,
    ) -> None:
        self._users, items = dict[str, int](), dict[str, int]()
        given = {role: name for role, name in (columns or {}).items() if role in ROLES}
        path = Path(source) if isinstance(source, str) else source
        table = read_table(path, GoldenSetError, name="the interactions")
        self.name = table.numbering.source
        """What messages call it."""
        pairs = [np.zeros(0, np.int64)]
        for batch in table.batches():
            places = [*self._places(batch.header, given)]
            user, item = (batch.column(place).ids() for place in places)
            for name, place, ids in zip(ROLES, places, (user, item), strict=True):
                for row in ids.invalid[:1].tolist():
                    where = table.numbering.place(int(batch.numbers[row]))
                    checked_id(batch.column(place).cell(row), f"the {name}", where)
            pairs.append(numbered(user.ids, self._users) << _BITS | numbered(item.ids, items))
        every, to_id = np.concatenate(pairs), DocIdMap(rule) if rule else str
        self._items: dict[str, int] = {}
        codes = [self._items.setdefault(to_id(item), len(self._items)) for item in items]
        mapped = np.array(codes, np.int64)[every & _ITEM_PART]
        self._pairs = np.unique(every >> _BITS << _BITS | mapped)
        """Each user and item once, as one number, in order."""
        self._counts = np.bincount(self._pairs & _ITEM_PART, minlength=len(self._items) + 1)

    @property
    def user_count(self) -> int:
        """The number of users."""
        return len(self._users)

    def popularity(self, doc_ids: Sequence[str]) -> IntArray:
        """Return how many users have interacted with each document; 0 if it is unknown."""
        return self._counts[_numbers_in(self._items, doc_ids)]

    def users(self, query_ids: Sequence[str]) -> IntArray:
        """Return the number of the user of each query; -1 for no user."""
        return _numbers_in(self._users, query_ids)

    def seen_by(self, user: str, doc_ids: Sequence[str]) -> Sequence[str]:
        """Return which of some documents a user has interacted with."""
        shown = np.arange(len(doc_ids))[np.newaxis]
        return list(compress(doc_ids, self.seen(self.users([user]), doc_ids, shown)[0]))

    def seen(self, users: IntArray, doc_ids: Sequence[str], shown: IntArray) -> BoolArray:
        """Return which of the shown documents the users have interacted with.

        Args:
            users: the numbers of the users, ``[Q]``.
            doc_ids: the documents.
            shown: ``[Q, D]`` the index in ``doc_ids`` of each document shown to a user; below 0
                where nothing is shown.
        """
        order = np.argsort(users)  # neighbours are looked up together, which is faster
        items = np.append(_numbers_in(self._items, doc_ids), -1)[shown[order]]
        known, user = np.append(self._pairs, -1), users[order, np.newaxis]
        pairs = np.where((user >= 0) & (items >= 0), user << _BITS | items, -2)
        seen = np.zeros(shown.shape, dtype=np.bool_)
        seen[order] = known[np.searchsorted(self._pairs, pairs)] == pairs
        return seen

    def _places(self, header: Sequence[str], columns: Mapping[str, str]) -> Iterator[int]:
        places = index_of_roles(header, [*ROLES.values()], columns, self.name, GoldenSetError)
        if missing := [role for name, role in ROLES.items() if name not in places]:
            raise GoldenSetError(f"{self.name} {lacks(header, places.values(), missing)}")
        return map(places.__getitem__, ROLES)


def _numbers_in(known: Mapping[str, int], ids: Sequence[str]) -> IntArray:
    """Return the number of each id; -1 for an unknown one."""
    return np.fromiter(map(known.get, ids, repeat(-1)), np.int64, len(ids))
