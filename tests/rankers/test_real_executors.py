"""Ranking on loky, on a Dask cluster and on MPI: the serial run, and lost workers lose no query.

`nox -s scale` installs all three. Processes of the standard library are tested every day, in
tests/rankers/test_executors.py.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

import pytest

from pytest_rankcheck import RankerError, rank
from tests import worker_rankers as workers
from tests.worker_rankers import GOLDEN

pytestmark = [
    pytest.mark.slow,
    # What the engines leave open or do in their old ways is not ours.
    pytest.mark.filterwarnings("ignore"),
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(workers.FOLDER, str(tmp_path))
    return tmp_path


@pytest.fixture(params=["loky", "dask"])
def make_executor(request: pytest.FixtureRequest, folder: Path) -> Iterator[Callable[[], Executor]]:
    """Yield what `rank` is given: a function that makes an executor of two workers."""
    if request.param == "loky":
        loky = pytest.importorskip("loky")
        made: list[Any] = []

        def make() -> Executor:
            made.append(loky.ProcessPoolExecutor(2))
            executor: Executor = made[-1]
            return executor

        yield make
        for executor in made:
            executor.shutdown(kill_workers=True)
        return
    distributed = pytest.importorskip("distributed")
    dask = pytest.importorskip("dask")
    with (
        # By default, Dask itself lets a chunk kill four workers before it gives it up.
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50
        ) as cluster,
    ):
        yield lambda: distributed.Client(cluster, set_as_default=False).get_executor(pure=False)


def test_the_run_is_that_of_a_serial_ranking(make_executor: Any) -> None:
    for ranker in ("search", "tied", "by_locale", "batched", "scored", "embedded"):
        name = f"tests.worker_rankers:{ranker}"
        run = rank(name, GOLDEN, executor=make_executor, chunk=7, depth=5)
        here = rank(getattr(workers, ranker), GOLDEN, depth=5)
        assert run.rankings() == here.rankings()
        assert list(run) == list(here)


def test_a_worker_that_exits_stops_the_ranking(make_executor: Any, folder: Path) -> None:
    with pytest.raises(RankerError, match="a worker died"):
        rank("tests.worker_rankers:always_exits", GOLDEN, executor=make_executor, chunk=10)


def test_the_executor_of_a_client_is_left_open(folder: Path) -> None:
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=2, dashboard_address=None, silence_logs=50
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        executor = client.get_executor(pure=False)
        for _ in range(2):
            run = rank("tests.worker_rankers:search", GOLDEN, executor=executor, chunk=5)
            assert run.rankings() == rank(workers.search, GOLDEN).rankings()
        run = rank(lambda text: ["d1"], GOLDEN, executor=executor)  # which Dask can send
        assert run["q1"] == ("d1",)
        executor.shutdown()
        with pytest.raises(RankerError, match="was shut down"):
            rank("tests.worker_rankers:search", GOLDEN, executor=executor)


MPI_JOB = """
from mpi4py.futures import MPIPoolExecutor

from pytest_rankcheck import RankerError, rank
from tests import worker_rankers as workers
from tests.worker_rankers import GOLDEN

if __name__ == "__main__":
    with MPIPoolExecutor() as pool:
        run = rank("tests.worker_rankers:search", GOLDEN, executor=pool, chunk=7)
        assert run.rankings() == rank(workers.search, GOLDEN).rankings()
        assert list(run) == list(GOLDEN.query_ids)
        rank("tests.worker_rankers:Engine()", GOLDEN, executor=pool, chunk=7)
        try:
            rank("tests.worker_rankers:raising", GOLDEN, executor=pool, chunk=10)
        except RankerError as error:
            print(error)
"""


def test_mpi4py(folder: Path) -> None:
    """An MPI job: the first process ranks with two workers, which the others are."""
    pytest.importorskip("mpi4py")
    beside = Path(sys.executable).with_name("mpiexec")
    mpiexec = str(beside) if beside.exists() else shutil.which("mpiexec")
    if mpiexec is None:
        pytest.skip("no mpiexec is installed")
    (folder / "job.py").write_text(MPI_JOB)
    path = os.pathsep.join(filter(None, sys.path))
    done = subprocess.run(
        [mpiexec, "-n", "3", sys.executable, "-m", "mpi4py.futures", str(folder / "job.py")],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "failed on 2 of 60 queries, first on 'q3'" in done.stdout
    assert "also failed: q47" in done.stdout
    made = (folder / "made").read_text().split()
    assert 1 <= len(made) <= 2
    assert len(set(made)) == len(made)
