"""The bounds of each input: our errors only, seconds of CPU time, and some memory."""

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from hypothesis import HealthCheck, settings

from pytest_rankcheck import RankcheckError

SECONDS = 20
"""Of CPU time: far more than the slowest input needs, so that only a hang reaches it."""

MEMORY = 512 << 20
"""In bytes: what reading one input of at most a megabyte may add to the peak of the process."""


def few() -> settings:
    """Return fewer examples than tests have: the everyday suite has a smoke of fuzzing."""
    slow = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
    return settings(max_examples=settings().max_examples // 5, suppress_health_check=slow)


class _Hangs(Exception):
    pass


@contextmanager
def loads_or_refuses(case: object = "") -> Iterator[None]:
    """Check that a block ends well or with one of our errors, within the bounds."""
    before = peak_memory()
    try:
        with _alarm():
            yield
    except RankcheckError as refusal:
        text = str(refusal)
        assert text.strip(), "an error without a message"
        text.encode("utf-8")  # it can be shown
    except (AssertionError, KeyboardInterrupt):
        raise
    except BaseException as failure:  # polars panics with a BaseException
        text = f"{case}: {type(failure).__name__}: {str(failure)[:300]}"
        raise AssertionError(text) from failure
    assert peak_memory() - before <= MEMORY, "too much memory"


def peak_memory() -> int:
    """Return the largest resident size of this process so far, in bytes."""
    try:
        import resource
    except ModuleNotFoundError:  # Windows
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak << 10


@contextmanager
def _alarm() -> Iterator[None]:
    """Raise in a block that takes too much CPU time, where the system can."""
    if not hasattr(signal, "setitimer"):
        yield
        return

    def give_up(number: int, frame: FrameType | None) -> None:
        raise _Hangs(f"more than {SECONDS} s of CPU time")

    previous = signal.signal(signal.SIGPROF, give_up)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, previous)
