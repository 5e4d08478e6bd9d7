"""The judgments of a golden set in columns, with the dicts that people ask for as a view."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import numpy as np

from pytest_rankcheck.array_types import FloatArray, IntArray
from pytest_rankcheck.files.id_columns import (
    HeldIds,
    IdColumn,
    NumberIds,
    TextIds,
    number_spelled,
)

__all__ = ["Judgments"]


@dataclass(frozen=True)
class Judgments:
    """The judged documents of all queries, the rows of each query together."""

    query_ids: Sequence[str]
    """All queries, in the set's order, including those without judgments."""
    starts: IntArray
    """``[Q + 1]`` where the rows of each query begin, and where the last ones end."""
    documents: IdColumn
    """The judged document of each row; within a query, all are different."""
    grades: FloatArray
    """The grade of each row, finite."""

    @classmethod
    def of_dicts(cls, grades: Mapping[str, Mapping[str, float]]) -> Judgments:
        """Return the columns of ``{query_id: {doc_id: grade}}``, which has been checked."""
        lengths = np.fromiter(map(len, grades.values()), np.int64, len(grades))
        starts = np.concatenate([[0], np.cumsum(lengths)])
        documents = list(chain.from_iterable(grades.values()))
        values = chain.from_iterable(judged.values() for judged in grades.values())
        judgments = cls(
            tuple(grades),
            starts,
            HeldIds(documents),
            np.fromiter(values, np.float64, len(documents)),
        )
        judgments._dicts.update(enumerate(grades.values()))
        return judgments

    def __len__(self) -> int:
        return len(self.grades)

    @cached_property
    def codes(self) -> Mapping[str, int]:
        """The place of each query in the set, by its id."""
        return {query_id: code for code, query_id in enumerate(self.query_ids)}

    def of_query(self, code: int) -> Mapping[str, float]:
        """Return the grade of each judged document of a query, given its place in the set.

        Whole grades are int, as they were written.
        """
        judged = self._dicts.get(code)
        if judged is None:
            start, end = self.starts[code : code + 2].tolist()
            grades = self.grades[start:end].tolist()
            documents = self.documents.part(start, end).texts()
            judged = dict(zip(documents, map(_as_written, grades), strict=True))
            self._dicts[code] = judged
        return judged

    @cached_property
    def _dicts(self) -> dict[int, Mapping[str, float]]:
        return {}

    def __iter__(self) -> Iterator[tuple[str, Mapping[str, float]]]:
        for code, query_id in enumerate(self.query_ids):
            yield query_id, self.of_query(code)

    @cached_property
    def texts(self) -> TextIds:
        """The documents as text in polars. An id that UTF-8 cannot hold is null.

        Only for callers that have loaded polars.
        """
        import polars as pl

        if isinstance(self.documents, TextIds):
            return self.documents
        if isinstance(self.documents, NumberIds):
            return TextIds(pl.Series(self.documents.ids).cast(pl.String))
        ids = self.documents.texts()
        try:
            return TextIds(pl.Series(ids, dtype=pl.String))
        except UnicodeEncodeError:  # a lone surrogate
            return TextIds(pl.Series(map(_in_utf8, ids), dtype=pl.String))

    @cached_property
    def numbers(self) -> tuple[NumberIds, IntArray]:
        """The documents whose ids are whole numbers as they are spelled, and their rows."""
        if isinstance(self.documents, NumberIds):
            return self.documents, np.arange(len(self))
        spelled = [number_spelled(doc_id) for doc_id in self.documents.texts()]
        rows = np.array([row for row, number in enumerate(spelled) if number is not None], np.int64)
        found = np.array([number for number in spelled if number is not None], np.int64)
        return NumberIds(found), rows


def _as_written(grade: float) -> float:
    return int(grade) if grade.is_integer() and abs(grade) < 2**53 else grade


def _in_utf8(doc_id: str) -> str | None:
    try:
        doc_id.encode()
    except UnicodeEncodeError:
        return None
    return doc_id
