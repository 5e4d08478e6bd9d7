"""Rankers with the faults of real ones, each in plain Python, for a new process to import."""

from __future__ import annotations

import hashlib
import itertools
import os
import random
import signal
import socket
import sys
import threading
import time
import zlib
from collections.abc import Callable
from pathlib import Path

DOCS = [f"d{number}" for number in range(12)]


def ranked(text: str, salt: str = "") -> list[str]:
    """Rank by a hash of text and document, which is the same in every process."""
    return sorted(
        DOCS, key=lambda doc: zlib.crc32(f"{salt}{text}|{doc}".encode("utf-8", "surrogatepass"))
    )


def sound(text: str) -> list[str]:
    return ranked(text)


class ColdCache:
    """Caches answers under the length of the query and its last character: keys collide."""

    def __init__(self) -> None:
        self.cache: dict[tuple[int, str], list[str]] = {}

    def __call__(self, text: str) -> list[str]:
        return self.cache.setdefault((len(text), text[-1]), ranked(text))


_CACHE: dict[tuple[int, str], list[str]] = {}


def cached_in_the_module(text: str) -> list[str]:
    """Do the same as ColdCache, in the module."""
    return _CACHE.setdefault((len(text), text[-1]), ranked(text))


def iterates_over_a_set(text: str) -> list[str]:
    """Give all documents one score, and rank them as a set has them."""
    return list({f"{doc} {text}" for doc in DOCS})


class RandomProjections:
    """An approximate index: documents in the query's bucket of a random hash come first."""

    def __init__(self, seed: int | None = None) -> None:
        draw = random.Random(seed)
        self.planes = [[draw.gauss(0, 1) for _ in range(8)] for _ in range(4)]

    def _bucket(self, text: str) -> list[bool]:
        vector = [byte / 255 - 0.5 for byte in hashlib.sha256(text.encode()).digest()[:8]]
        return [sum(a * b for a, b in zip(vector, plane, strict=True)) > 0 for plane in self.planes]

    def __call__(self, text: str) -> list[str]:
        wanted = self._bucket(text)

        def distance(doc: str) -> int:
            return sum(a != b for a, b in zip(self._bucket(doc), wanted, strict=True))

        return sorted(DOCS, key=lambda doc: (distance(doc), doc))


def searches_deeper(text: str, k: int) -> list[str]:
    """Search a graph whose best documents are only reached if many are asked for (ef = k)."""
    order = ranked(text)
    return order[: k + 1][::-1][:k] if int(text.rsplit(maxsplit=1)[-1]) % 3 == 0 else order[:k]


def keeps_its_order(text: str, k: int) -> list[str]:
    return ranked(text)[:k]


CLOCK: Callable[[], float] = time.time


def prefers_the_recent(text: str) -> list[str]:
    """Boost what was published in the last day."""
    now = CLOCK()
    fresh = [doc for place, doc in enumerate(DOCS) if now - 1_800_000_000 < 7_200 * (place % 7)]
    return [*fresh, *(doc for doc in DOCS if doc not in fresh)]


class WarmsUp:
    """Answers from a small fallback until the index is loaded, at the first query of each text."""

    def __init__(self) -> None:
        self.loaded: set[str] = set()

    def __call__(self, text: str) -> list[str]:
        order = ranked(text)
        if text in self.loaded:
            return order
        self.loaded.add(text)
        return order[::-1] if int(text.rsplit(maxsplit=1)[-1]) % 2 else order


class FlipsRarely:
    """Swaps the first two documents of a few answers, at random."""

    def __init__(self, seed: int, rate: float) -> None:
        self.draw = random.Random(seed)
        self.lock = threading.Lock()
        self.rate = rate

    def __call__(self, text: str) -> list[str]:
        first, second, *rest = ranked(text)
        with self.lock:
            flips = self.draw.random() < self.rate
        return [second, first, *rest] if flips else [first, second, *rest]


def depends_on_threads(text: str) -> list[str]:
    return ranked(text, os.environ.get("OMP_NUM_THREADS", ""))


def depends_on_the_time_zone(text: str) -> list[str]:
    return ranked(text, os.environ.get("TZ", ""))


def depends_on_the_locale(text: str) -> list[str]:
    return ranked(text, os.environ.get("LC_ALL", ""))


def depends_on_the_process(text: str) -> list[str]:
    return ranked(text, str(os.getpid()))


def counted(text: str) -> list[str]:
    """Write down each call, in whatever process; too slow for a thread to ask for all twice."""
    with Path(os.environ["COUNTED_CALLS"]).open("a") as file:
        file.write(f"{text}\n")
    time.sleep(0.03)
    return ranked(text)


def make_counted() -> Callable[[str], list[str]]:
    """Return a new function each time."""
    return lambda text: counted(text)  # noqa: PLW0108 - another object


def prints(text: str) -> list[str]:
    """Write to the standard output, as C libraries do."""
    print('{"rankings": {}}', flush=True)
    os.write(1, b"\xff\x00 loading\n")
    return ranked(text)


def is_child() -> bool:
    """Return whether this is one of the new processes that the check starts."""
    return "RANKCHECK_PROCESS_CONDITION" in os.environ


def hangs_in_a_child(text: str) -> list[str]:
    if is_child():
        print("waiting for the index", file=sys.stderr, flush=True)
        time.sleep(600)
    return ranked(text)


def leaves_a_thread_in_a_child(text: str) -> list[str]:
    if is_child():
        threading.Thread(target=time.sleep, args=(600,), daemon=False).start()
    return ranked(text)


def connects_and_hangs_in_a_child(text: str) -> list[str]:
    """Hold a connection open until this process ends."""
    if is_child():
        connection = socket.create_connection(("127.0.0.1", int(os.environ["TEST_PORT"])))
        connection.sendall(sys.stdin.read().encode() + b"started")
        time.sleep(600)
    return ranked(text)


def is_killed_in_a_child(text: str) -> list[str]:
    if is_child():
        os.kill(os.getpid(), signal.SIGSEGV)
    return ranked(text)


def dies_in_a_child(text: str) -> list[str]:
    if is_child():
        print("out of \x1b[31mmemory", file=sys.stderr, flush=True)
        os._exit(137)
    return ranked(text)


def fails_in_a_child(text: str) -> list[str]:
    if is_child() and text.endswith("3"):
        raise ValueError("no\x1b index")
    return ranked(text)


_NUMBERS = itertools.count()


def make_sound() -> Callable[[str], list[str]]:
    """Return a new function each time."""
    number = next(_NUMBERS)

    def search(text: str) -> list[str]:
        assert number >= 0
        return ranked(text)

    return search


THE_ONE = ColdCache()


def get_the_one() -> ColdCache:
    return THE_ONE


def wanted_in_the_child() -> Callable[[str], list[str]]:
    raise FileNotFoundError("models/current\x1b is missing")
