"""Rankers that the processes of executors import by name; a folder lets them remember."""

import os
import threading
from concurrent.futures import Executor, ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from types import SimpleNamespace

from pytest_rankcheck import GoldenSet, Query, rankers
from pytest_rankcheck.rankers import adapter_protocol
from pytest_rankcheck.rankers.adapter_protocol import Adapter, OnAnswer, QueryAnswer, RankingTask

FOLDER = "RANKCHECK_TEST_FOLDER"
"""The environment variable with the folder."""
DEADLY = 31
RAISING = (3, 47)

GOLDEN = GoldenSet.from_dict(
    {f"q{n}": {f"d{n}": 2, f"d{n + 1}": 1} for n in range(60)},
    {f"q{n}": f"text {n}" for n in range(60)},
    attributes={f"q{n}": {"locale": "en"} for n in range(0, 60, 2)},
)


def number(text: str | None) -> int:
    return int(str(text).rpartition(" ")[2])


def note(name: str, text: str) -> None:
    """Append a line to a file of the folder."""
    with (Path(os.environ[FOLDER]) / name).open("a") as file:
        file.write(f"{text}\n")


def search(text: str) -> list[str]:
    n = number(text)
    return [f"d{n + 1}", f"d{n}", "other"]


def tied(text: str) -> dict[str, float]:
    n = number(text)
    return {"b": 1.0, "a": 1, "c": 2.5, f"d{n}": 1.0}


def repeated(text: str) -> list[tuple[str, float]]:
    return [("a", 3.0), (f"d{number(text)}", 2.0), ("a", 1.0)]


def by_locale(query: Query, depth: int, candidates: list[str]) -> list[str]:
    found = [*candidates, str(query.attributes.get("locale")), query.id]
    return found[:depth]


def raising(text: str) -> list[str]:
    if number(text) in RAISING:
        raise Unpicklable(number(text))
    return search(text)


def always_exits(text: str) -> list[str]:
    if number(text) == DEADLY:
        note("asked", text)
        os._exit(1)
    return search(text)


def quits(text: str) -> list[str]:
    if number(text) == DEADLY:
        raise SystemExit(3)
    return search(text)


FOUND = ["of the module"]


def found(text: str) -> list[str]:
    return FOUND


async def search_async(text: str) -> list[str]:
    return search(text)


class Unpicklable(Exception):
    """An exception that cannot be sent, and whose message cannot be shown."""

    def __init__(self, n: int) -> None:
        super().__init__(n, threading.Lock())
        self.n = n

    def __str__(self) -> str:
        return f"bad {self.n}"


class Engine:
    """Notes that it was made, and in which process."""

    def __init__(self) -> None:
        note("made", str(os.getpid()))

    def __call__(self, text: str) -> list[str]:
        return search(text)


class Clocked:
    """Replaces the clock of its process by one that only a query moves: by its number of hours."""

    def __init__(self) -> None:
        self.now = 0.0
        adapter_protocol.time = SimpleNamespace(perf_counter=lambda: self.now)  # type: ignore[assignment]

    def __call__(self, text: str) -> list[str]:
        self.now += 3600.0 * number(text)
        return search(text)


class BrokenEngine:
    def __init__(self) -> None:
        raise OSError("no such model")


class ExitingEngine:
    def __init__(self) -> None:
        raise SystemExit(4)


def many(texts: list[str]) -> list[list[str]]:
    return [search(text) for text in texts]


def score(text: str, documents: list[str]) -> list[float]:
    return [-float(len(document)) for document in documents]


def encode(texts: list[str]) -> list[list[float]]:
    return [[float(number(text) % 7), 1.0] for text in texts]


batched = rankers.batch(many, size=8)
scored = rankers.scorer(score)
embedded = rankers.embedder(encode, {f"d{n}": f"document {n}" for n in range(9)})


class Odd(Adapter):
    """An adapter that leaves a query out, or answers one twice."""

    name = "odd"

    def __init__(self, left_out: str = "", twice: str = "") -> None:
        self.left_out, self.twice = left_out, twice

    def ask(self, task: RankingTask, on_answer: OnAnswer) -> None:
        for query in task.golden:
            for _ in range((query.id != self.left_out) + (query.id == self.twice)):
                on_answer(QueryAnswer(query, ["a"]))


def make_processes() -> Executor:
    return ProcessPoolExecutor(2, mp_context=get_context("spawn"))
