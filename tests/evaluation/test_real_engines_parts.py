"""Parts on real engines: Spark on two local threads, and Dask with two workers (nox -s scale)."""

import os
import random
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from pytest_rankcheck import (
    ConfigurationError,
    Conventions,
    Evaluation,
    GoldenSet,
    Run,
    RunError,
    evaluate,
    evaluate_part,
)
from pytest_rankcheck.spark import evaluate_spark

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


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    pyspark = pytest.importorskip("pyspark")
    pytest.importorskip("pyarrow")
    if shutil.which("java") is None:
        pytest.skip("Java is not installed")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = (
        pyspark.sql.SparkSession.builder.master("local[2]")
        .appName("rankcheck")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "5")
        .config("spark.sql.files.maxPartitionBytes", "40000")
        .config("spark.sql.files.openCostInBytes", "1000")
        .config("spark.driver.memory", "1g")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


@pytest.fixture(scope="module")
def frame(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Return the run in Parquet, read in so small pieces that queries are cut."""
    folder = tmp_path_factory.mktemp("run") / "parts"
    folder.mkdir()
    for number, start in enumerate(range(0, len(FRAME), 6000)):
        FRAME[start : start + 6000].to_parquet(folder / f"part-{number}.parquet", index=False)
    found = spark.read.parquet(str(folder))
    assert found.rdd.getNumPartitions() > 4
    return found


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


class TestSpark:
    def test_it_is_like_one_machine(self, frame: Any) -> None:
        merged = evaluate_spark(frame, GOLDEN, name="night")
        assert_same(merged)
        assert merged.name == "night"
        assert len(merged.extra) == 20

    def test_the_recipe(self, frame: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        assert_same(recipe("spark_job.py", tmp_path, monkeypatch)["measured"](frame))

    def test_queries_without_judgments_can_be_an_error(self, frame: Any) -> None:
        with pytest.raises(RunError, match=r"has queries without judgments .*, 20: q"):
            evaluate_spark(frame, GOLDEN, conventions=Conventions(extra="error"))

    def test_other_columns_and_numbers_as_ids(self, spark: Any) -> None:
        rows = [(1, 7, 1), (1, 8, 2), (2, 7, 1), (2, 10, 2)]
        frame = spark.createDataFrame(rows, "`my query` int, document long, place int")
        golden = GoldenSet.from_dict({"1": {"8": 1}, "2": {"7": 1}})
        columns = {"query_id": "my query", "doc_id": "document", "rank": "place"}
        merged = evaluate_spark(frame, golden, columns=columns)
        assert merged.values("RR").tolist() == [0.5, 1]

    def test_wrong_frames_are_one_clear_error(self, spark: Any) -> None:
        usual = "query_id string, doc_id string, score double"
        frames: tuple[tuple[list[Any], str, str], ...] = (
            ([("q1", "d1", 1.0), (None, "d1", 1.0)], usual, "query_id"),
            ([("q1", None, 1.0)], usual, "doc_id"),
            ([("q1", "d1", 1.0), ("q1", "d1", 0.5)], usual, "document 'd1' is ranked twice"),
            ([("q1", "d1", None), ("q1", "d2", 1.0)], usual, "score of document 'd1' is empty"),
            ([(1.0, "d1", 1.0)], f"query_id double{usual[15:]}", "'query_id' has the type double"),
            ([("q1", "d1", "1")], f"{usual[:-6]}string", "score must be numbers: cast it"),
            ([("q1", "d1")], usual[:30], "no column score or rank"),
            ([(7, "d1", 1.0)], f"query_id int{usual[15:]}", "they share no query: the run has 7"),
            ([], usual, "they share no query"),
        )
        for rows, schema, message in frames:
            with pytest.raises(RunError, match=message) as caught:
                evaluate_spark(spark.createDataFrame(rows, schema), GOLDEN)
            assert "Traceback" not in str(caught.value)

    def test_rows_have_no_order(self, frame: Any) -> None:
        with pytest.raises(ConfigurationError, match="whose rows have no order"):
            evaluate_spark(frame, GOLDEN, ties="input")


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
