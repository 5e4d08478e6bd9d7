"""The sessions of the events of a log, as codes."""

from __future__ import annotations

import numpy as np

from pytest_rankcheck.array_types import IntArray
from pytest_rankcheck.files.table_columns import Column
from pytest_rankcheck.sessions.log_cells import Errors, id_of, per_distinct_value
from pytest_rankcheck.sessions.log_problems import Problems

__all__ = ["SessionIds"]

_NO_SESSION = "the event has no session; give it a session id"


class SessionIds:
    """Gives each session of a log a code."""

    def __init__(self, problems: Problems) -> None:
        self._problems = problems
        self._codes: dict[str, int] = {}
        self.ids: list[str] = []
        """The id of each code."""

    def codes(self, column: Column | None, positions: IntArray) -> IntArray:
        """Return the session of each row, ``[N]``; -1 for rows without one, which become problems.

        Args:
            column: the column of sessions; None if there is no such column.
            positions: where the rows are, ``[N]``.
        """
        codes: IntArray = np.full(len(positions), -1, dtype=np.int64)
        errors: Errors = {}
        if column is not None:
            ids, places, errors = per_distinct_value(column, id_of)
            codes = np.array([-1 if text is None else self._code(text) for text in ids])[places]
        for row in np.flatnonzero(codes < 0).tolist():
            text = f"the session: {errors[row]}" if row in errors else _NO_SESSION
            self._problems.add(positions[row], None, "no session", text)
        return codes

    def _code(self, session_id: str) -> int:
        code = self._codes.setdefault(session_id, len(self.ids))
        if code == len(self.ids):
            self.ids.append(session_id)
        return code
