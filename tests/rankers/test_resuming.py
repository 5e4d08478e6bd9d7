"""A ranking that was interrupted continues, under the same key only."""

import asyncio
import errno
import json
import os
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from pytest_rankcheck import ConfigurationError, GoldenSet, Query, RankerError, RunError, rank
from pytest_rankcheck.behaviour.perturbed_answers import reworded
from tests import worker_rankers as workers
from tests.worker_rankers import GOLDEN, number


class Stopped(BaseException):
    """What ends a ranking in the middle, as a time limit does."""


class Counting:
    """A ranker that counts its calls, and fails for some query."""

    def __init__(self, failing: int | None = None) -> None:
        self.asked: list[int] = []
        self.failing = failing

    def __call__(self, text: str) -> list[str]:
        if number(text) == self.failing:
            raise ConnectionError("gone")
        self.asked.append(number(text))
        return workers.search(text)


def stop(done: int, of: int) -> None:
    if done == 25:
        raise Stopped


@pytest.fixture
def parts(tmp_path: Path) -> dict[str, Any]:
    """The options that keep answers in a folder."""
    return {"resume": tmp_path / "parts", "resume_key": "index 1"}


@pytest.fixture
def started(parts: dict[str, Any]) -> dict[str, Any]:
    """The same options, after 25 of 60 queries were ranked."""
    with pytest.raises(Stopped):
        rank(Counting(), GOLDEN, progress=stop, **parts)
    assert (parts["resume"] / "answers.jsonl").exists()
    return parts


def test_a_ranking_continues_where_it_was_stopped(started: dict[str, Any]) -> None:
    ranker = Counting()
    done: list[int] = []
    run = rank(ranker, GOLDEN, progress=lambda now, of: done.append(now), **started)
    assert ranker.asked == list(range(25, 60))
    here = rank(workers.search, GOLDEN)
    assert run.rankings() == here.rankings()
    assert list(run) == list(here)
    assert done == list(range(1, 61))
    assert set(run.seconds) == set(here.seconds)
    assert not started["resume"].exists()
    (note,) = run.notes
    today = datetime.now(UTC).strftime("%Y-%m-%d")
    assert note.startswith(f"25 of 60 queries were ranked before (from {today}")
    assert run.top(3).notes == (note,), "the top of the rankings is as old as they are"


def test_a_process_that_is_killed_loses_at_most_the_chunks_on_their_way(tmp_path: Path) -> None:
    script = textwrap.dedent(
        """
        import multiprocessing, os
        from pytest_rankcheck import rank
        from tests.worker_rankers import GOLDEN

        def die(done, of):
            if done == 23:
                for worker in multiprocessing.active_children():
                    worker.kill()
                os._exit(9)

        if __name__ == "__main__":
            rank("tests.worker_rankers:search", GOLDEN, chunk=5, executor="processes:2",
                 resume="parts", resume_key="k", progress=die)
        """
    )
    path = os.pathsep.join(filter(None, sys.path))
    done = subprocess.run(
        [sys.executable, "-c", script],
        check=False,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": path},
    )
    assert done.returncode == 9
    where: dict[str, Any] = {"resume": tmp_path / "parts", "resume_key": "k"}
    run = rank("tests.worker_rankers:search", GOLDEN, **where)
    assert run.rankings() == rank(workers.search, GOLDEN).rankings()
    assert run.notes[0].startswith("23 of 60 queries were ranked before")


def test_queries_that_failed_are_asked_again(parts: dict[str, Any]) -> None:
    with pytest.raises(RankerError, match="1 of 60 queries"):
        rank(Counting(failing=7), GOLDEN, **parts)
    ranker = Counting()
    assert len(rank(ranker, GOLDEN, **parts)) == 60
    assert ranker.asked == [7]


def test_kept_answers_give_the_same_rankings_as_fresh_ones(parts: dict[str, Any]) -> None:
    for ranker in (workers.tied, workers.repeated, workers.by_locale):
        for options in ({"ties": "input"}, {"duplicates": "keep_places", "depth": 2}):
            chosen: dict[str, Any] = {"duplicates": "close_gaps", **options}
            with pytest.raises(Stopped):
                rank(ranker, GOLDEN, progress=stop, **parts, **chosen)
            run = rank(ranker, GOLDEN, **parts, **chosen)
            assert run.notes
            assert run.rankings() == rank(ranker, GOLDEN, **chosen).rankings(), ranker


def test_an_executor_continues_a_run_that_began_without_one(started: dict[str, Any]) -> None:
    asked = Counting()
    with ThreadPoolExecutor(2) as threads:
        run = rank(asked, GOLDEN, executor=threads, chunk=4, **started)
    assert sorted(asked.asked) == list(range(25, 60))
    assert run.rankings() == rank(workers.search, GOLDEN).rankings()


def test_an_async_ranker_keeps_its_answers_and_its_caller_s_errors(parts: dict[str, Any]) -> None:
    async def search(text: str) -> list[str]:
        await asyncio.sleep(0)
        return workers.search(text)

    def fail(done: int, of: int) -> None:
        if done == 25:
            raise ValueError("no terminal")

    with pytest.raises(ValueError, match="no terminal"):
        rank(search, GOLDEN, progress=fail, **parts)
    assert "of 60 queries were ranked before" in rank(search, GOLDEN, **parts).notes[0]


# --- the key -----------------------------------------------------------------------------------


def refused(message: str, started: dict[str, Any], golden: GoldenSet = GOLDEN, **more: Any) -> None:
    """Check that the rest is not ranked, that nothing is asked, and that nothing is lost."""
    file = started["resume"] / "answers.jsonl"
    before = file.read_bytes()
    ranker = Counting()
    with pytest.raises((ConfigurationError, RunError), match=message):
        rank(ranker, golden, **(started | more))
    assert not ranker.asked
    assert file.read_bytes() == before


def test_other_conditions_are_refused(
    started: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    refused("resume_key was 'index 1' and is 'index 2'", started, resume_key="index 2")
    refused("the depth was '100' and is '20'", started, depth=20)
    for golden in (
        GOLDEN.subset([f"q{n}" for n in range(59)]),
        reworded(GOLDEN, {query.id: Query(query.id, f"{query.text}!") for query in GOLDEN}),
    ):
        refused("the golden set .* was", started, golden)
    with pytest.raises(ConfigurationError, match="the ranker was 'Counting' and is 'search'"):
        rank(workers.search, GOLDEN, **started)
    monkeypatch.setattr("pytest_rankcheck.__version__", "0.0.1")
    refused(r"pytest-rankcheck was '.*' and is '0\.0\.1'", started)


def test_a_folder_and_its_key_need_each_other(tmp_path: Path) -> None:
    for key in (None, ""):
        with pytest.raises(ConfigurationError, match="resume= needs resume_key=, a text that"):
            rank(workers.search, GOLDEN, resume=tmp_path / "parts", resume_key=key)
    for nothing in (None, "", " "):
        with pytest.raises(ConfigurationError, match="and resume_key= needs resume=, a folder"):
            rank(workers.search, GOLDEN, resume=nothing, resume_key="k")


# --- the folder --------------------------------------------------------------------------------


def test_a_last_line_that_was_cut_off_is_ignored(started: dict[str, Any]) -> None:
    file = started["resume"] / "answers.jsonl"
    whole = file.read_bytes()
    file.write_bytes(whole[:-7])
    ranker = Counting()
    with pytest.raises(Stopped):
        rank(ranker, GOLDEN, progress=stop, **started)
    assert ranker.asked == [24]
    assert len(file.read_bytes().splitlines()) == 26
    file.write_bytes(whole[:9])  # the key itself
    assert rank(Counting(), GOLDEN, **started).notes == ()


def test_an_edited_line_is_an_error(started: dict[str, Any]) -> None:
    file = started["resume"] / "answers.jsonl"
    lines = file.read_bytes().splitlines(keepends=True)
    good = json.loads(lines[1])
    for number_of_line, line in [
        (1, '{"key": 3}'),
        (2, "{"),
        (2, "[" * 100_000),
        (2, json.dumps({**good, "scores": [1.0]})),
    ]:
        edited = [*lines]
        edited[number_of_line - 1] = f"{line}\n".encode()
        file.write_bytes(b"".join(edited))
        refused(rf"answers\.jsonl:{number_of_line} was edited after it was written", started)


def test_a_folder_that_does_not_fit_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    for place, message in [
        (tmp_path / "notes.txt", "answers cannot be written there: File exists"),
        (tmp_path / "notes.txt/parts", "answers cannot be written there: Not a directory"),
    ]:
        with pytest.raises(ConfigurationError, match=message):
            rank(workers.search, GOLDEN, resume=place, resume_key="k")

    def refuse(path: Path, *args: object, **kwargs: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.raises(ConfigurationError, match="answers cannot be written there: Permission de"):
        rank(workers.search, GOLDEN, resume=tmp_path / "parts", resume_key="k")


def test_two_rankings_cannot_share_a_folder(parts: dict[str, Any]) -> None:
    def again(text: str) -> list[str]:
        rank(workers.search, GOLDEN, **parts)
        return [text]

    with pytest.raises(ConfigurationError, match="another process is ranking into this folder"):
        rank(again, GOLDEN.subset(["q1"]), **parts)


def test_a_full_disk_is_one_clear_error(
    parts: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = Path.open
    left = [25]

    def fills(path: Path, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
        left[0] -= mode == "a"
        if left[0] < 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        return opened(path, mode, *args, **kwargs)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", fills)
        with pytest.raises(ConfigurationError, match=r"answers cannot be written .*: No space"):
            rank(Counting(), GOLDEN, **parts)
    ranker = Counting()
    assert rank(ranker, GOLDEN, **parts).rankings() == rank(workers.search, GOLDEN).rankings()
    assert len(ranker.asked) == 35


def test_answers_that_cannot_be_deleted_do_no_harm(
    parts: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def unlink(path: Path, missing_ok: bool = False) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", unlink)
        run = rank(workers.search, GOLDEN, **parts)
    again = rank(workers.search, GOLDEN, **parts)
    assert again.rankings() == run.rankings()
    assert "60 of 60 queries were ranked before" in again.notes[0], "and it says so"
    assert not parts["resume"].exists()
