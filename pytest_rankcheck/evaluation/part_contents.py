"""The content of a part of a run, in columns, and its form as an Arrow table."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from hashlib import blake2b
from itertools import chain
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from pytest_rankcheck.array_types import IntArray
from pytest_rankcheck.errors import RunError, install_hint, plural, quoted
from pytest_rankcheck.evaluation.conventions import Conventions
from pytest_rankcheck.evaluation.ranking_digests import SIZE
from pytest_rankcheck.files.id_runs import starts_of

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["UNNAMED", "PartContents", "PartOrigin", "names_of"]

UNNAMED = "part"
"""The name of a part that was made from a table, unless the caller gives one."""

_KEY = b"rankcheck_part"
"""The metadata key of a table that holds a part."""
_NOT_A_PART = "this table is not a part of a run; EvaluationPart.to_arrow() makes one"


@dataclass(frozen=True, slots=True)
class PartOrigin:
    """What all parts of a run must have in common: golden set, conventions and version."""

    golden: str
    """The fingerprint of the golden set."""
    scale: float
    """The scale of the golden set."""
    conventions: Conventions
    reading: str
    """How ids were mapped and incomplete ranks treated; empty for the defaults."""
    depth: int | None
    """How many documents of each ranking count; None: all."""
    top: int
    """How many of the first documents of each ranking are kept."""
    version: str
    """The version of this package."""


@dataclass(frozen=True, eq=False)
class PartContents:
    """The judged hits of a part of a run: H hits for the S judged queries that it ranks."""

    name: str
    """What messages call the part, such as its file."""
    origin: PartOrigin
    query_ids: Sequence[str]
    """``[S]``"""
    digests: Sequence[bytes]
    """``[S]`` the digest of each ranking."""
    retrieved: IntArray
    """``[S]`` how many documents were ranked."""
    starts: IntArray
    """``[S + 1]`` where the hits of each query begin, and the end of the last."""
    ranks: IntArray
    """``[H]`` from 1, best first within each query."""
    documents: Sequence[str]
    """``[H]`` the judged documents that were ranked."""
    top_starts: IntArray
    """``[S + 1]`` where the first documents of each ranking begin, and the end of the last."""
    tops: Sequence[str]
    """The first documents of all rankings."""
    extra: Sequence[str]
    """The queries without judgments that the part ranks."""
    notes: Sequence[str] = ()
    """What a reader must know about how the part was ranked and read, as sentences."""

    def __len__(self) -> int:
        return len(self.query_ids)

    @property
    def is_empty(self) -> bool:
        """Whether the part ranks no query at all."""
        return not self.query_ids and not self.extra

    def __repr__(self) -> str:
        return (
            f"EvaluationPart({self.name!r}, {plural(len(self), 'judged query', 'judged queries')}, "
            f"{plural(len(self.ranks), 'hit')})"
        )

    def to_arrow(self) -> pa.Table:
        """Return the part as an Arrow table with one row for each query, to send or store.

        Columns: ``query_id``; ``digest`` of its ranking, null for a query without judgments;
        ``retrieved``, the number of ranked documents; ``ranks`` and ``documents`` of the judged
        ones; ``top``, the first documents. What all parts have in common is in the metadata.

        Raises:
            RunError: pyarrow is not installed, or an id cannot be written as UTF-8.
        """
        pa = _arrow()
        more = len(self.extra)
        none: list[Any] = [None] * more
        try:
            columns = {
                "query_id": pa.array([*self.query_ids, *self.extra], pa.string()),
                "digest": pa.array([*self.digests, *none], pa.binary(SIZE)),
                "retrieved": pa.array([*self.retrieved.tolist(), *none], pa.int64()),
                "ranks": _lists(pa, pa.array(self.ranks, pa.int64()), self.starts, more),
                "documents": _lists(pa, pa.array(self.documents, pa.string()), self.starts, more),
                "top": _lists(pa, pa.array(self.tops, pa.string()), self.top_starts, more),
            }
        except UnicodeEncodeError:
            raise RunError(
                f"part '{quoted(self.name)}': an id cannot be written as UTF-8, so the part cannot "
                "become an Arrow table; correct the ids in the run"
            ) from None
        header = {
            "name": self.name,
            "notes": list(self.notes),
            "rows": len(self) + more,
            "content": self._content_digest(),
            **asdict(self.origin),
        }
        metadata = {_KEY: json.dumps(header).encode()}
        return pa.table(columns).replace_schema_metadata(metadata)

    @classmethod
    def from_arrow(cls, table: pa.Table) -> Self:
        """Return the part from a table that `to_arrow` made.

        Raises:
            RunError: the table is something else, was changed, or is not the whole table of one
                part.
        """
        pa = _arrow()
        try:
            metadata = (table.schema.metadata or {})[_KEY]
            header = json.loads(metadata)
            name, rows = str(header.pop("name")), int(header.pop("rows"))
            content, notes = header.pop("content"), tuple(map(str, header.pop("notes")))
            header["conventions"] = Conventions.from_dict(header["conventions"])
            origin = PartOrigin(**header)
            is_judged = table.column("digest").is_valid()
            judged = table.filter(is_judged)
            extra = table.filter(pa.compute.invert(is_judged)).column("query_id").to_pylist()
            ranks, starts = _unlisted(judged, "ranks")
            documents, other_starts = _unlisted(judged, "documents")
            tops, top_starts = _unlisted(judged, "top")
            part = cls(
                name,
                origin,
                tuple(judged.column("query_id").to_pylist()),
                tuple(judged.column("digest").to_pylist()),
                np.array(judged.column("retrieved").to_pylist(), np.int64),
                starts,
                np.array(ranks, np.int64),
                tuple(documents),
                top_starts,
                tuple(tops),
                tuple(extra),
                notes,
            )
        except (KeyError, TypeError, ValueError, AttributeError):
            raise RunError(_NOT_A_PART) from None
        _refuse_other_rows(name, rows, table.num_rows)
        part._check(other_starts)
        if part._content_digest() != content:
            raise RunError(
                f"part '{quoted(name)}': its table differs from what to_arrow() made: values were "
                "changed, or rows were dropped, added or reordered; store the table unchanged, or "
                "evaluate the part again"
            )
        return part

    def _content_digest(self) -> str:
        """Return a digest of everything that is measured, in order."""
        numbers = (self.retrieved, self.starts, self.ranks, self.top_starts)
        texts = (self.query_ids, self.documents, self.tops, self.extra)
        content = blake2b(b"".join(self.digests), digest_size=SIZE)
        for values in (*(array.tolist() for array in numbers), *map(list, texts)):
            content.update(json.dumps(values).encode())
        return content.hexdigest()

    def _check(self, document_starts: IntArray) -> None:
        """Refuse a damaged part, which would be measured as a different ranking."""
        texts = (*self.query_ids, *self.documents, *self.tops, *self.extra)
        first = np.zeros(len(self.ranks), dtype=np.bool_)
        first[self.starts[:-1][np.diff(self.starts) > 0]] = True
        rises = np.diff(self.ranks, prepend=0) > 0
        last = np.repeat(self.retrieved, np.diff(self.starts))
        is_whole = (
            np.array_equal(self.starts, document_starts)
            and all(isinstance(text, str) for text in texts)
            and all(len(digest) == SIZE for digest in self.digests)
            and bool((rises | first).all())
            and bool(((self.ranks >= 1) & (self.ranks <= last)).all())
        )
        if not is_whole:
            raise RunError(f"part '{quoted(self.name)}' is damaged; evaluate it again")


def _refuse_other_rows(name: str, rows: int, found: int) -> None:
    if rows != found:
        raise RunError(
            f"part '{quoted(name)}' has {plural(rows, 'row')}, but this table has {found:,}: give "
            "the whole table that to_arrow() made: not a slice, filtered, or joined with others"
        )


def names_of(parts: Sequence[PartContents]) -> Sequence[str]:
    """Return what messages call parts: their names, or their numbers, counted from 1."""
    return [
        f"{UNNAMED} {number}" if part.name == UNNAMED else part.name
        for number, part in enumerate(parts, 1)
    ]


def _arrow() -> Any:
    try:
        import pyarrow
        import pyarrow.compute
    except ModuleNotFoundError:
        raise RunError(f"Arrow tables need pyarrow: {install_hint('spark')}") from None
    return pyarrow


def _lists(pa: Any, values: Any, starts: IntArray, more: int) -> Any:
    """Return the values of each query as a list, then empty lists for the other queries."""
    offsets = np.append(starts, np.full(more, starts[-1]))
    return pa.LargeListArray.from_arrays(pa.array(offsets, pa.int64()), values)


def _unlisted(table: Any, name: str) -> tuple[list[Any], IntArray]:
    """Return the values of all lists in a column, and where each list begins."""
    lists = table.column(name).to_pylist()
    return list(chain.from_iterable(lists)), starts_of(list(map(len, lists)))
