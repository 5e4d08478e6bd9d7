"""The sessions of the events of a log, as codes."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pytest_rankcheck.array_types import IntArray
from pytest_rankcheck.files.table_batches import Batch
from pytest_rankcheck.sessions.log_cells import id_of
from pytest_rankcheck.sessions.log_columns import per_distinct_value
from pytest_rankcheck.sessions.log_layouts import Layouts
from pytest_rankcheck.sessions.log_problems import Problems

__all__ = ["SessionIds"]

_NO_SESSION = "the event has no session; give it a session id"


class SessionIds:
    """Gives each session of a log a code."""

    def __init__(self, layouts: Layouts, problems: Problems) -> None:
        self._layouts, self._problems = layouts, problems
        self._codes: dict[str, int] = {}
        self.ids: list[str] = []
        """The id of each code."""

    def codes(self, batch: Batch, layout: Mapping[str, int]) -> IntArray:
        """Return the session of each row, ``[N]``; -1 for rows without one, which become problems.

        Args:
            batch: the rows.
            layout: the index of the column with each role.
        """
        if "session" not in layout:
            self._layouts.note_without_session(batch.numbers[0], tuple(batch.header))
            for number in batch.numbers:
                self._problems.add(number, None, "no session", _NO_SESSION)
            return np.full(len(batch), -1, dtype=np.int64)
        ids, places, errors = per_distinct_value(batch.column(layout["session"]), id_of)
        known = np.array([-1 if text is None else self._code(text) for text in ids], dtype=np.int64)
        codes: IntArray = known[places]
        for row in np.flatnonzero(codes < 0).tolist():
            text = f"the session: {errors[row]}" if row in errors else _NO_SESSION
            self._problems.add(batch.numbers[row], None, "no session", text)
        return codes

    def _code(self, session_id: str) -> int:
        code = self._codes.setdefault(session_id, len(self.ids))
        if code == len(self.ids):
            self.ids.append(session_id)
        return code
