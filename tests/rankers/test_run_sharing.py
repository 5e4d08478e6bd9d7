"""A run is computed by one process, and read by the others."""

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from pytest_rankcheck import Run
from pytest_rankcheck.rankers.kept_answers import run_computed_once

WORKER = """
    import os, sys, time
    from pathlib import Path
    from pytest_rankcheck import Run
    from pytest_rankcheck.rankers.kept_answers import run_computed_once

    folder, name, together = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])

    def compute():
        (folder / f"computed-by-{name}").touch()
        if name == "dies":
            os._exit(9)
        while len(list(folder.glob("started-*"))) < together:
            time.sleep(0.02)
        time.sleep(0.1)  # longer than one attempt to lock
        return Run.from_dict({"q": [("b", 2.0), ("a", 0.1 + 0.2)]}, name="shared", depth=5)

    (folder / f"started-{name}").touch()
    run = run_computed_once(folder, "key", compute)
    print(run.name, run.depth, run["q"], run.to_frame()["score"].tolist())
"""
EXPECTED = "shared 5 ('b', 'a') [2.0, 0.30000000000000004]"


def start(folder: Path, name: str, together: int = 1) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(WORKER), str(folder), name, str(together)],
        stdout=subprocess.PIPE,
        text=True,
    )


def test_several_processes_compute_a_run_once(tmp_path: Path) -> None:
    workers = [start(tmp_path, str(number), together=2) for number in range(2)]
    outputs = [worker.communicate(timeout=300)[0].strip() for worker in workers]
    assert outputs == [EXPECTED] * 2
    assert len(list(tmp_path.glob("computed-by-*"))) == 1


def test_a_process_that_dies_does_not_block_the_others(tmp_path: Path) -> None:
    dying = start(tmp_path, "dies")
    dying.communicate(timeout=300)
    assert dying.returncode == 9
    assert (tmp_path / "computed-by-dies").exists()
    run = run_computed_once(tmp_path, "key", lambda: Run.from_dict({"q": ["a"]}))
    assert run["q"] == ("a",)


@pytest.mark.parametrize(
    "run",
    [
        Run.from_dict({"q": ["b", "a"], "p": []}, name="plain"),
        Run.from_dict({"q": {"a": 1.0, "b": 1.0}}, ties="input", depth=3),
        Run.from_dict({"q": ["a", "b", "a"]}, name="repeats", duplicates="close_gaps"),
        Run.from_dict({"q\n1": [("\u2028\ud800", 1e-300), ("é", -2.5)]}, name="line\nbreak"),
    ],
    ids=lambda run: repr(run.name),
)
def test_an_equal_run_comes_back(tmp_path: Path, run: Run) -> None:
    def again() -> Run:
        raise AssertionError("computed twice")

    run = run.with_facts(notes=("1 chunk was lost",), largest_batch=4, failed={"q9": "lost"})
    first = run_computed_once(tmp_path, "key", lambda: run)
    second = run_computed_once(tmp_path, "key", again)
    assert first is run
    assert second.rankings() == run.rankings()
    assert (second.notes, second.largest_batch, second.failed) == (
        ("1 chunk was lost",),
        4,
        {"q9": "lost"},
    )
    assert (second.name, second.depth) == (run.name, run.depth)
    assert (second.ties, second.duplicates) == (run.ties, run.duplicates)


def test_nothing_is_kept_after_a_failure(tmp_path: Path) -> None:
    def fail() -> Run:
        raise ValueError("no model")

    with pytest.raises(ValueError, match="no model"):
        run_computed_once(tmp_path, "key", fail)
    run = run_computed_once(tmp_path, "key", lambda: Run.from_dict({"q": ["a"]}))
    assert run["q"] == ("a",)
