"""What was selected in an event: ranks, documents or clicks, made 1-based ranks and checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import TracebackType

from pytest_rankcheck.errors import SessionLogError, plural, quoted
from pytest_rankcheck.sessions.event_times import Clock
from pytest_rankcheck.sessions.log_cells import ids_of, number_of, ranks_of
from pytest_rankcheck.sessions.raw_event import Selection

__all__ = ["UnusableError", "naming", "selections_of"]


class UnusableError(Exception):
    """A row that cannot be used, with the kind of reason."""

    def __init__(self, reason: str, text: str) -> None:
        super().__init__(text)
        self.reason = reason


class naming:  # noqa: N801 - read as a verb: with naming(...)
    """Raises `UnusableError` with a reason where a cell cannot be read.

    A class, since a generator would take a good part of the time of an event.
    """

    __slots__ = ("_reason", "_what")

    def __init__(self, reason: str, what: str) -> None:
        self._reason, self._what = reason, what

    def __enter__(self) -> None:
        """Begin to read."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        """Name what could not be read."""
        if kind is not None and issubclass(kind, ValueError):
            raise UnusableError(self._reason, f"{self._what}: {error}") from None


def selections_of(
    cells: Mapping[str, object],
    results: Sequence[str] | None,
    count: int | None,
    *,
    first_rank: int | None,
    clock: Clock,
    row: int,
) -> Sequence[Selection]:
    """Return what was selected.

    Args:
        cells: the cells of the row by their meanings.
        results: the documents shown; None where they are not known.
        count: how many were shown; None where that is not known.
        first_rank: what the rank of the first result is.
        clock: reads the times of clicks.
        row: the row's number.

    Raises:
        UnusableError: a rank or document is none of those shown, or they contradict each other.
        SessionLogError: there are ranks, and nobody said from where they count.
    """
    if cells.get("clicks"):
        return _clicked(cells["clicks"], count, 1 if first_rank is None else first_rank, clock, row)
    with naming("bad selection", "the selection"):
        ranks = ranks_of(cells.get("selected_rank"))
        documents = ids_of(cells.get("selected"))
    if ranks and first_rank is None:
        raise SessionLogError(
            "the log has ranks of selections; say whether the first result has rank 0 or 1: "
            "first_rank=0, or first_rank=1"
        )
    found = [_rank(rank, count, first_rank or 0) for rank in ranks or ()]
    if not documents:
        return tuple(map(Selection, found))
    places = [_place(document, results) for document in documents]
    if ranks and sorted(found) != sorted(places):
        hint = ""
        if [rank + 1 for rank in found] == places or [rank - 1 for rank in found] == places:
            hint = f"; are ranks counted from {1 - (first_rank or 0)}?"
        raise UnusableError(
            "rank and document disagree",
            f"'{quoted(documents[0])}' was selected, which is result {places[0]}, and the rank "
            f"{ranks[0]}, which is result {found[0]}{hint}",
        )
    return tuple(map(Selection, places))


def _clicked(
    clicks: object, count: int | None, first_rank: int, clock: Clock, row: int
) -> Sequence[Selection]:
    """Return the selections of a list of clicks with ranks and times."""
    if not isinstance(clicks, Sequence) or isinstance(clicks, str):
        raise UnusableError("bad selection", f"clicks is '{quoted(clicks, 60)}', not a list")
    found = []
    for click in clicks:
        given = click if isinstance(click, Mapping) else {}
        with naming("bad selection", "a click"):
            rank = number_of(given.get("rank"))
            time = clock.seconds(given.get("start", given.get("time")), row)
        if rank is None or not rank.is_integer():
            raise UnusableError("bad selection", f"the click '{quoted(click, 60)}' has no rank")
        found.append(Selection(_rank(int(rank), count, first_rank), time))
    return tuple(found)


def _rank(rank: int, count: int | None, first_rank: int) -> int:
    """Return a rank counted from 1."""
    if rank < first_rank:
        hint = "; are ranks counted from 0?" if rank == 0 else ""
        what = (
            "negative; leave it empty where nothing was selected"
            if rank < 0
            else "0, although ranks count from 1"
        )
        raise UnusableError("rank too small", f"the selected rank is {what}{hint}")
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
            "rank not known",
            f"'{quoted(document)}' was selected, but what was shown is not known; add the "
            "results, or the selected rank",
        )
    if document not in results:
        raise UnusableError(
            "document not shown",
            f"'{quoted(document)}' was selected, which is none of the "
            f"{plural(len(results), 'result')} shown",
        )
    return list(results).index(document) + 1
