"""Parts on real engines: Dask with two workers, and DuckDB (nox -s scale)."""

import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from pytest_rankcheck import (
    Evaluation,
    GoldenSet,
    Run,
    RunError,
    evaluate,
    evaluate_part,
)

pytestmark = [
    pytest.mark.slow,
    # What the engines leave open or do in their old ways is not ours.
    pytest.mark.filterwarnings("ignore"),
]

METRICS = ["nDCG@10", "ERR@20", "AP", "RR", "R@100", "Distinct@10", "NumRet", "Bpref"]
QUERIES = 400


def golden_set() -> GoldenSet:
    draw = random.Random(1)
    judged = {
        f"q{q}": {f"d{draw.randrange(300)}": draw.randrange(4) for _ in range(6)}
        for q in range(QUERIES)
    }
    return GoldenSet.from_dict(judged, scale=5)


def run_frame() -> pd.DataFrame:
    """Return shuffled rows with ties, queries without judgments, and one query with most rows."""
    draw = random.Random(2)
    found: list[tuple[str, str, float]] = []
    for q in range(QUERIES + 20):
        count = 5000 if q == 7 else 60
        documents = draw.sample(range(max(count, 300)), count)
        found += [(f"q{q}", f"d{d}", float(draw.randrange(40))) for d in documents]
    draw.shuffle(found)
    return pd.DataFrame(found, columns=["query_id", "doc_id", "score"])


GOLDEN, FRAME = golden_set(), run_frame()
WHOLE = evaluate(Run.from_frame(FRAME), GOLDEN)


def assert_same(evaluation: Evaluation) -> None:
    for name in METRICS:
        assert evaluation.values(name).tobytes() == WHOLE.values(name).tobytes(), name
    for query_id in GOLDEN.query_ids:
        assert evaluation.ranking(query_id) == tuple(WHOLE.ranking(query_id)[:20])


def recipe(title: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Return what a program of the manual defines, started in a folder with the golden set."""
    GOLDEN.save(folder / "web.jsonl")
    monkeypatch.chdir(folder)
    page = Path(__file__).parents[2] / "docs" / "scale.md"
    found = re.search(rf"```python title=\"{title}\"\n(.*?)```", page.read_text("utf-8"), re.DOTALL)
    assert found, f"docs/scale.md has no {title}"
    namespace: dict[str, Any] = {"__name__": title}
    exec(compile(found[1], title, "exec"), namespace)
    return namespace


def test_the_recipe_for_duckdb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("duckdb")
    (tmp_path / "shuffled").mkdir()
    for number in range(3):
        FRAME[number::3].to_parquet(tmp_path / "shuffled" / f"part-{number}.parquet")
    evaluation = recipe("shuffled_rows.py", tmp_path, monkeypatch)["evaluation"]
    for name in METRICS:
        assert evaluation.values(name).tobytes() == WHOLE.values(name).tobytes(), name


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    distributed = pytest.importorskip("dask.distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None
        ) as found,
        distributed.Client(found) as connected,
    ):
        yield connected


class TestDask:
    @pytest.fixture
    def files(self, tmp_path: Path) -> list[str]:
        pytest.importorskip("polars")
        some = []
        for number in range(5):
            own = FRAME["query_id"].str[1:].astype(int) % 5 == number
            file = tmp_path / f"part-{number}.parquet"
            FRAME[own].to_parquet(file, index=False)
            some.append(str(file))
        return some

    def test_the_recipe(
        self, client: Any, files: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        measured = recipe("dask_job.py", tmp_path, monkeypatch)["measured"]
        assert_same(measured(client, str(Path(files[0]).parent)))

    def test_a_truncated_part_is_an_error_that_names_it(
        self, client: Any, files: list[str]
    ) -> None:
        broken = Path(files[3])
        broken.write_bytes(broken.read_bytes()[:-100])
        futures = client.map(evaluate_part, files, golden=GOLDEN, pure=False)
        with pytest.raises(RunError, match=r"part-3\.parquet: cannot be read as Parquet"):
            client.gather(futures)
