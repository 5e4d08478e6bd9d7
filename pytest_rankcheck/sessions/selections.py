"""The selections of an event, given as ranks, documents or clicks, checked and made 1-based."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import TracebackType

from pytest_rankcheck.errors import SessionLogError, plural, quoted
from pytest_rankcheck.sessions.event_times import Clock
from pytest_rankcheck.sessions.log_cells import id_list_of, number_of, rank_list_of
from pytest_rankcheck.sessions.raw_event import Selection

__all__ = ["UnusableError", "naming", "selections_of"]


class UnusableError(Exception):
    """A row cannot be used; ``reason`` is the kind of problem."""

    def __init__(self, reason: str, text: str) -> None:
        super().__init__(text)
        self.reason = reason


class naming:  # noqa: N801 - read as a verb: with naming(...)
    """Turns a `ValueError` about a cell into an `UnusableError` with a reason.

    A class, because a generator-based context manager would take much of the time per event.
    """

    __slots__ = ("_reason", "_subject")

    def __init__(self, reason: str, subject: str) -> None:
        self._reason, self._subject = reason, subject

    def __enter__(self) -> None:
        """Enter the context."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        """Name the cell that could not be read."""
        if kind is not None and issubclass(kind, ValueError):
            raise UnusableError(self._reason, f"{self._subject}: {error}") from None


def selections_of(
    cells: Mapping[str, object],
    results: Sequence[str] | None,
    count: int | None,
    *,
    first_rank: int | None,
    clock: Clock,
    row: int,
) -> Sequence[Selection]:
    """Return the selections of an event.

    Args:
        cells: the cells of the row, by role.
        results: the documents shown; None if unknown.
        count: how many were shown; None if unknown.
        first_rank: the rank of the first result, 0 or 1; None if not given.
        clock: parses the times of clicks.
        row: the row's number.

    Raises:
        UnusableError: a rank or document was not shown, or ranks and documents disagree.
        SessionLogError: there are ranks, and ``first_rank`` is not given.
    """
    if cells.get("clicks"):
        return _clicked(cells["clicks"], count, 1 if first_rank is None else first_rank, clock, row)
    with naming("bad selection", "the selection"):
        ranks = rank_list_of(cells.get("selected_rank"))
        documents = id_list_of(cells.get("selected"))
    if ranks and first_rank is None:
        raise SessionLogError(
            "the log has ranks of selections; specify whether the first result has rank 0 or 1: "
            "first_rank=0 or first_rank=1"
        )
    checked = [_rank(rank, count, first_rank or 0) for rank in ranks or ()]
    if not documents:
        return tuple(map(Selection, checked))
    places = [_place(document, results) for document in documents]
    if ranks and sorted(checked) != sorted(places):
        hint = ""
        if [rank + 1 for rank in checked] == places or [rank - 1 for rank in checked] == places:
            hint = f"; are ranks counted from {1 - (first_rank or 0)}?"
        raise UnusableError(
            "rank and document disagree",
            f"the selected document '{quoted(documents[0])}' is result {places[0]}, but the "
            f"selected rank {ranks[0]} is result {checked[0]}{hint}",
        )
    return tuple(map(Selection, places))


def _clicked(
    clicks: object, count: int | None, first_rank: int, clock: Clock, row: int
) -> Sequence[Selection]:
    """Return the selections in a list of clicks with ranks and times."""
    if not isinstance(clicks, Sequence) or isinstance(clicks, str):
        raise UnusableError("bad selection", f"clicks is '{quoted(clicks, 60)}', not a list")
    selections = []
    for click in clicks:
        fields = click if isinstance(click, Mapping) else {}
        with naming("bad selection", "a click"):
            rank = number_of(fields.get("rank"))
            time = clock.seconds(fields.get("start", fields.get("time")), row)
        if rank is None or not rank.is_integer():
            raise UnusableError("bad selection", f"the click '{quoted(click, 60)}' has no rank")
        selections.append(Selection(_rank(int(rank), count, first_rank), time))
    return tuple(selections)


def _rank(rank: int, count: int | None, first_rank: int) -> int:
    """Return a rank counted from 1."""
    if rank < first_rank:
        hint = "; are ranks counted from 0?" if rank == 0 else ""
        problem = (
            "negative; leave it empty if nothing was selected"
            if rank < 0
            else "0, although ranks count from 1"
        )
        raise UnusableError("rank too small", f"the selected rank is {problem}{hint}")
    place = rank - first_rank + 1
    if count is not None and place > count:
        hint = "; are ranks counted from 1?" if rank == count and first_rank == 0 else ""
        raise UnusableError(
            "rank beyond the results",
            f"the selected rank is {rank}, counted from {first_rank}, but "
            f"{plural(count, 'result was', 'results were')} shown{hint}",
        )
    return place


def _place(document: str, results: Sequence[str] | None) -> int:
    if results is None:
        raise UnusableError(
            "unknown rank",
            f"'{quoted(document)}' was selected, but the results shown are unknown; add the "
            "results or the selected rank",
        )
    if document not in results:
        raise UnusableError(
            "document not shown",
            f"'{quoted(document)}' was selected, but is not among the "
            f"{plural(len(results), 'result')} shown",
        )
    return list(results).index(document) + 1
