"""The clocks of time-machine and freezegun in `assert_deterministic`, as the manual gives them.

`nox -s engines` installs them.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from pytest_rankcheck import GoldenSet, assert_deterministic

MANUAL = Path(__file__).parents[2] / "docs" / "behaviour.md"
GOLDEN = GoldenSet.from_dict(
    {f"q{n}": {"d1": 1} for n in range(5)}, {f"q{n}": f"text {n}" for n in range(5)}, name="news"
)

Clock = Callable[[float], AbstractContextManager[object]]


def time_machine_clock() -> Clock:
    pytest.importorskip("time_machine")
    _, _, rest = MANUAL.read_text("utf-8").partition('```python title="clocks.py"\n')
    namespace: dict[str, Clock] = {}
    exec(rest.partition("```")[0], namespace)
    return namespace["later"]


def freezegun_clock() -> Clock:
    freezegun = pytest.importorskip("freezegun")

    def later(seconds: float) -> AbstractContextManager[object]:
        frozen: AbstractContextManager[object] = freezegun.freeze_time(
            datetime.now(UTC) + timedelta(seconds=seconds), tick=True
        )
        return frozen

    return later


def by_day_of_the_clock(text: str) -> list[str]:
    return ["d1", "d2"] if int(time.time() / 86_400) % 2 else ["d2", "d1"]


def by_day_of_the_calendar(text: str) -> list[str]:
    return ["d1", "d2"] if datetime.now(UTC).toordinal() % 2 else ["d2", "d1"]


def always_the_same(text: str) -> list[str]:
    return ["d1", "d2"]


CLOCKS = pytest.mark.parametrize("clock", [time_machine_clock, freezegun_clock])


@CLOCKS
@pytest.mark.parametrize("ranker", [by_day_of_the_clock, by_day_of_the_calendar])
def test_a_ranker_that_reads_the_clock_is_found(
    clock: Callable[[], Clock], ranker: Callable[[str], list[str]]
) -> None:
    with pytest.raises(AssertionError, match="is not deterministic: clock") as failure:
        assert_deterministic(ranker, GOLDEN, clock=clock())
    assert "5 of 5 queries ranked differently (1 hour later, 1 day later" in str(failure.value)


@CLOCKS
def test_a_ranker_that_does_not_read_the_clock_passes(clock: Callable[[], Clock]) -> None:
    assert_deterministic(always_the_same, GOLDEN, clock=clock())
