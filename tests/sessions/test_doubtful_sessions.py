"""Ids that are not of one session, and ranks that count from another number."""

from typing import Any

import pytest

from pytest_rankcheck import SessionLog, SessionLogError


def rows_of(sizes: dict[str, int]) -> list[dict[str, Any]]:
    return [
        {"session_id": session, "event": number, "result_count": 5, "selected_rank": None}
        for session, size in sizes.items()
        for number in range(size)
    ]


@pytest.mark.parametrize(
    "placeholder",
    ["null", "NaN", "None", "unknown", "UNDEFINED", "n/a", "-", " anonymous ", "(not set)", "<NA>"],
)
def test_a_placeholder_is_not_a_session(placeholder: str) -> None:
    rows = [*rows_of({"a": 2}), {**rows_of({"b": 1})[0], "session_id": placeholder}]
    with pytest.raises(SessionLogError, match=r"3: the session: '.*' is a placeholder, not the id"):
        SessionLog.from_records(rows)
    log = SessionLog.from_records(rows, lenient=True)
    assert log.session_ids == ("a",)
    assert log.set_aside.reasons == {"no session": 1}


@pytest.mark.parametrize("session", ["0", 0, "unknown-7", "nulls", "na1"])
def test_an_ordinary_id_is_a_session(session: object) -> None:
    log = SessionLog.from_records([{"session_id": session, "selected": None}])
    assert log.session_ids == (str(session),)


def ranked(ranks: list[int | None]) -> list[dict[str, Any]]:
    return [
        {"session_id": f"s{number}", "result_count": 9, "selected_rank": rank}
        for number, rank in enumerate([*ranks, None])
    ]


def test_ranks_that_seem_to_count_from_1_are_reported() -> None:
    """The first result is never selected, and the second 10 times: 0.5 ** 10 < 1/1000."""
    doubtful = "first_rank=0 was given, but no selection has rank 0, and 10 have rank 1"
    log = SessionLog.from_records(ranked([1] * 10 + [2, 3]), first_rank=0)
    assert sum(doubtful in note for note in log.notes) == 1
    for ranks, first_rank in (
        ([1] * 9 + [2], 0),  # too few
        ([0] + [1] * 20, 0),
        ([3] * 20, 0),  # the second is not selected either
        ([2] * 20, 1),
    ):
        log = SessionLog.from_records(ranked(ranks), first_rank=first_rank)  # type: ignore[arg-type]
        assert not any("first_rank" in note for note in log.notes)
