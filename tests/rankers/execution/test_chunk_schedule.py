"""Every query is answered once, whatever is lost; only a query that kills workers is given up."""

from __future__ import annotations

import random
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from pytest_rankcheck.rankers.execution.chunk_schedule import MOST_TRIES, Chunk, ChunkSchedule


def started(schedule: ChunkSchedule) -> list[Chunk]:
    chunks = []
    while (chunk := schedule.start()) is not None:
        chunks.append(chunk)
    return chunks


def test_chunks_are_started_up_to_the_window() -> None:
    schedule = ChunkSchedule("abcdefg", size=2, window=3)
    chunks = started(schedule)
    assert [chunk.query_ids for chunk in chunks] == [("a", "b"), ("c", "d"), ("e", "f")]
    schedule.answered(chunks[1])
    assert [chunk.query_ids for chunk in started(schedule)] == [("g",)]
    assert not schedule.is_done


def test_queries_are_divided_when_they_are_needed() -> None:
    taken = []

    def queries() -> object:
        for n in range(1_000_000):
            taken.append(n)
            yield str(n)

    started(ChunkSchedule(queries(), size=10, window=4))  # type: ignore[arg-type]
    assert len(taken) == 50  # and the one that comes next


def test_no_queries_are_done_at_once() -> None:
    assert ChunkSchedule([], 5, 5).is_done


def test_chunks_lost_together_are_asked_whole_and_one_at_a_time() -> None:
    schedule = ChunkSchedule("abcdef", size=2, window=3)
    chunks = started(schedule)
    assert [schedule.lost(chunk) for chunk in chunks] == [False] * 3
    for query_ids in (("a", "b"), ("c", "d"), ("e", "f")):
        (alone,) = started(schedule)
        assert alone.query_ids == query_ids
        schedule.answered(alone)
    assert schedule.is_done


def test_no_suspect_starts_before_the_others_have_ended() -> None:
    schedule = ChunkSchedule("abcdef", size=2, window=2)
    first, second = started(schedule)
    schedule.lost(first)
    assert not started(schedule)
    schedule.answered(second)
    assert [chunk.query_ids for chunk in started(schedule)] == [("a", "b")]


def test_a_chunk_that_is_lost_alone_is_halved_until_it_holds_one_query() -> None:
    schedule = ChunkSchedule("abcde", size=5, window=4)
    asked = []
    while not schedule.is_done:
        (chunk,) = started(schedule)
        asked.append("".join(chunk.query_ids))
        if "d" not in chunk.query_ids:
            schedule.answered(chunk)
        elif schedule.lost(chunk):
            assert chunk.query_ids == ("d",)
    assert asked == ["abcde", "abc", "de", "d", "d", "d", "e"]


def test_a_query_alone_in_its_chunk_is_asked_three_times_in_all() -> None:
    """Lost first together with another one, and then alone: the first time counts, too."""
    schedule = ChunkSchedule("ab", size=1, window=2)
    first, second = started(schedule)
    assert not schedule.lost(first)
    assert not schedule.lost(second)
    tries = 1
    while True:
        (alone,) = started(schedule)
        assert alone.query_ids == ("a",)
        tries += 1
        if schedule.lost(alone):
            break
    assert tries == MOST_TRIES
    (other,) = started(schedule)
    assert other.query_ids == ("b",)
    schedule.answered(other)
    assert schedule.is_done


@given(
    count=st.integers(0, 60),
    size=st.integers(1, 12),
    window=st.integers(1, 9),
    deadly=st.sets(st.integers(0, 59), max_size=4),
    breaks_all=st.booleans(),
    bad_luck=st.floats(0, 0.3),
    seed=st.integers(0, 2**32),
)
def test_every_query_is_answered_once_or_given_up(
    count: int,
    size: int,
    window: int,
    deadly: set[int],
    breaks_all: bool,
    bad_luck: float,
    seed: int,
) -> None:
    """Workers die of some queries always, and of others at random; alone or all together."""
    draw = random.Random(seed)
    schedule = ChunkSchedule(map(str, range(count)), size, window)
    running: list[Chunk] = []
    ended: Counter[str] = Counter()
    given_up: set[str] = set()
    died_alone: Counter[str] = Counter()
    while not schedule.is_done:
        running += started(schedule)
        assert 0 < len(running) <= window
        if any(chunk.is_suspect for chunk in running):
            assert len(running) == 1
        chunk = running.pop(draw.randrange(len(running)))
        dies = not deadly.isdisjoint(map(int, chunk.query_ids)) or draw.random() < bad_luck
        if not dies:
            schedule.answered(chunk)
            ended.update(chunk.query_ids)
            continue
        lost = [chunk, *running] if breaks_all else [chunk]
        running = [] if breaks_all else running
        for each in lost:
            if len(each.query_ids) == 1:
                died_alone.update(each.query_ids)
            if schedule.lost(each):
                given_up.update(each.query_ids)
                ended.update(each.query_ids)
    assert ended == Counter(map(str, range(count)))
    assert {query_id for query_id in map(str, deadly) if int(query_id) < count} <= given_up
    assert all(died_alone[query_id] == MOST_TRIES for query_id in given_up)
    if bad_luck == 0:
        assert given_up <= set(map(str, deadly))
