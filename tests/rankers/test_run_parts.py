"""A folder of parts, or a pattern, is one run."""

from __future__ import annotations

import gzip
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path

import pandas as pd
import pytest

from pytest_rankcheck import Evaluation, GoldenSet, Run, RunError, evaluate, evaluate_part

RANKINGS: Mapping[str, Mapping[str, float]] = {
    f"q{q}": {f"d{(q + d) % 30}": float(-(d // 2)) for d in range(20)} for q in range(9)
}
GOLDEN = GoldenSet.from_dict({query: {"d3": 1, "d7": 2} for query in RANKINGS})
WHOLE = Run.from_dict(RANKINGS)
FORMATS = ["trec", "jsonl", "csv", "tsv", "parquet"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "2026-11-21").mkdir()
    return tmp_path / "2026-11-21"


def rows(rankings: Mapping[str, Mapping[str, float]] = RANKINGS) -> pd.DataFrame:
    return pd.DataFrame(
        [(query, doc, s) for query, docs in rankings.items() for doc, s in docs.items()],
        columns=["query_id", "doc_id", "score"],
    )


def save_parts(folder: Path, format: str, count: int = 3) -> None:
    queries = list(RANKINGS)
    for number in range(count):
        own = {query: RANKINGS[query] for query in queries[number::count]}
        Run.from_dict(own).save(folder / f"part-{number}.{format}", format)


def assert_whole(run: Run) -> None:
    """The same rankings, whatever the order of the queries."""
    assert sorted(run) == sorted(WHOLE)
    assert {query: list(run[query]) for query in run} == {
        query: list(WHOLE[query]) for query in WHOLE
    }
    for name in ("nDCG@5", "AP", "ERR@20"):
        assert evaluate(run, GOLDEN).values(name).tobytes() == (
            evaluate(WHOLE, GOLDEN).values(name).tobytes()
        )


@pytest.mark.parametrize("format", FORMATS)
def test_a_folder_is_one_run(folder: Path, format: str) -> None:
    if format == "parquet":
        pytest.importorskip("polars")
    save_parts(folder, format)
    assert_whole(Run.load(folder))
    assert_whole(Run.load(f"{folder}/"))
    assert_whole(Run.load(str(folder / "part-*")))
    assert Run.load(folder).name == "2026-11-21"
    assert Run.load(folder / "part-*").name == "part"
    scanned = Run.scan(folder)
    assert not scanned.is_in_memory
    assert evaluate(scanned, GOLDEN).mean("AP") == evaluate(WHOLE, GOLDEN).mean("AP")
    assert scanned.top(5)["q0"] == WHOLE.top(5)["q0"]
    merged = Evaluation.merge([evaluate_part(folder, GOLDEN)], GOLDEN)
    assert merged.mean("AP") == evaluate(WHOLE, GOLDEN).mean("AP")


@pytest.mark.parametrize("format", ["trec", "csv", "parquet"])
def test_a_query_whose_rows_are_in_several_parts_is_put_together(folder: Path, format: str) -> None:
    if format == "parquet":
        pytest.importorskip("polars")
        pytest.importorskip("pyarrow")
    shuffled = rows().sample(frac=1, random_state=1)
    for number in range(4):
        some = shuffled[number::4]
        file = folder / f"part-{number}.{format}"
        if format == "trec":
            file.write_text(
                "".join(f"{q} Q0 {d} 1 {s} t\n" for q, d, s in some.itertuples(index=False))
            )
        elif format == "csv":
            some.to_csv(file, index=False)
        else:
            some.to_parquet(file, index=False)
    assert_whole(Run.load(folder))
    assert_whole(Run.scan(folder))


def test_notes_say_that_rows_of_several_files_were_brought_together(folder: Path) -> None:
    half = len(rows()) // 2 + 3  # within the fifth of nine queries
    rows()[:half].to_csv(folder / "part-0.csv", index=False)
    rows()[half:].to_csv(folder / "part-1.csv", index=False)
    cut = Run.load(folder)
    assert_whole(cut)
    assert cut.part_notes == ()  # the files continue each other
    rows()[::2].to_csv(folder / "part-0.csv", index=False)
    rows()[1::2].to_csv(folder / "part-1.csv", index=False)
    (note,) = evaluate(Run.load(folder), GOLDEN).notes
    assert note == (
        "9 queries have rows in several files, which were brought together, such as 'q0' in "
        f"{folder / 'part-0.csv'} and {folder / 'part-1.csv'}; if these are files of two runs, "
        "give the files of one"
    )


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("date=2026-11-14", "date=2026-11-21"),
        ("2026-11-14", "2026-11-21"),
        ("20261114", "20261121"),
        ("when=2026-11-14T08%3A00", "when=2026-11-21T08%3A00"),
        ("year=2026/month=10", "year=2026/month=11"),
        ("model=a", "model=b"),
        ("run_id=7", "run_id=8/more"),
    ],
)
def test_two_runs_do_not_become_one(folder: Path, format: str, one: str, other: str) -> None:
    """The rankings have no document in common, so no duplicate shows that they are two."""
    if format == "parquet":
        pytest.importorskip("polars")
    for place, name in enumerate((one, other)):
        (folder / name).mkdir(parents=True)
        own = {q: dict(list(docs.items())[place::2]) for q, docs in RANKINGS.items()}
        Run.from_dict(own).save(folder / name / f"part-0.{format}", format)
    for read in (Run.load, Run.scan):
        with pytest.raises(RunError) as caught:
            evaluate(read(folder), GOLDEN)
        if "a whole ranking in two files" not in str(caught.value):
            assert "these are two runs, which must not become one ranking" in str(caught.value)
            assert "query 'q0' has rows in" in str(caught.value)
            assert "(9 such queries in all)" in str(caught.value)
    with pytest.raises(RunError, match=r"two runs|in two files"):
        evaluate_part(folder, GOLDEN)
    assert sorted(Run.load(folder / one)) == sorted(RANKINGS)


@pytest.mark.parametrize(("one", "other"), [("shard=0", "shard=1"), ("2026-11-20/a", "b")])
def test_shards_of_an_index_are_one_run(folder: Path, one: str, other: str) -> None:
    for place, name in enumerate((one, other)):
        (folder / name).mkdir(parents=True)
        rows()[place::2].to_csv(folder / name / "part-0.csv", index=False)
    assert_whole(Run.load(folder))


def test_notes_name_a_file_that_is_much_older_than_the_others(folder: Path) -> None:
    save_parts(folder, "csv")
    assert Run.load(folder).part_notes == ()
    os.utime(folder / "part-1.csv", (1_700_000_000, 1_700_000_000))  # 2023-11-14 22:13:20 UTC
    (note,) = evaluate(Run.load(folder), GOLDEN).notes
    assert note == (
        "1 of 3 files is more than a day older than the newest (the oldest is of 2023-11-14 22:13 "
        f"UTC): {folder / 'part-1.csv'}; check that none of them belongs to an earlier run"
    )


def test_partitions_of_several_days_are_of_several_days(folder: Path) -> None:
    save_parts(folder, "csv")
    for day in range(3):
        (folder / f"date=2026-11-0{day + 1}").mkdir()
        (folder / f"part-{day}.csv").rename(folder / f"date=2026-11-0{day + 1}" / "part-0.csv")
    os.utime(folder / "date=2026-11-01" / "part-0.csv", (1_700_000_000, 1_700_000_000))
    assert Run.load(folder).part_notes == ()


def test_ranks_may_go_on_in_the_next_part(folder: Path) -> None:
    frame = rows()
    frame["rank"] = frame.groupby("query_id").cumcount() + 1
    frame = frame.drop(columns="score")
    half = len(frame) // 2 + 3  # within a query
    frame[:half].to_csv(folder / "part-0.csv", index=False)
    frame[half:].to_csv(folder / "part-1.csv", index=False)
    run = Run.load(folder)
    assert {query: list(run[query]) for query in run} == {
        query: list(docs) for query, docs in RANKINGS.items()
    }


def test_files_that_engines_leave_beside_the_parts_are_left_out(folder: Path) -> None:
    save_parts(folder, "csv")
    (folder / "_SUCCESS").write_text("")
    (folder / ".part-0.csv.crc").write_bytes(b"crc\0")
    (folder / "_logs").mkdir()
    (folder / "_logs" / "part-9.csv").write_text("query_id,doc_id,score\nq0,zzz,99\n")
    (folder / "more").mkdir()
    (folder / "part-2.csv").rename(folder / "more" / "part-2.csv")
    assert_whole(Run.load(folder))


def test_packed_parts(folder: Path) -> None:
    save_parts(folder, "trec")
    for file in list(folder.iterdir()):
        (folder / f"{file.name}.gz").write_bytes(gzip.compress(file.read_bytes()))
        file.unlink()
    assert_whole(Run.load(folder))


class TestHivePartitions:
    @pytest.mark.parametrize("format", ["csv", "parquet"])
    def test_partition_columns_are_columns(self, folder: Path, format: str) -> None:
        if format == "parquet":
            pytest.importorskip("polars")
            pytest.importorskip("pyarrow")
        for query_id, own in rows().groupby("query_id"):
            below = folder / "date=2026-11-21" / f"query_id={query_id}"
            below.mkdir(parents=True)
            kept = own.drop(columns="query_id")
            if format == "csv":
                kept.to_csv(below / "part-0.csv", index=False)
            else:
                kept.to_parquet(below / "part-0.parquet", index=False)
        assert_whole(Run.load(folder))
        assert_whole(Run.load(folder / "date=2026-11-21"))
        files = sorted(folder.rglob("part-*"))
        merged = Evaluation.merge([evaluate_part(file, GOLDEN) for file in files], GOLDEN)
        assert merged.mean("AP") == evaluate(WHOLE, GOLDEN).mean("AP")

    def test_a_value_with_escaped_characters(self, folder: Path) -> None:
        below = folder / "query_id=caf%C3%A9%20au%3Dlait"
        below.mkdir()
        (below / "part-0.csv").write_text("doc_id,score\nd1,1\n")
        assert list(Run.load(folder)) == ["café au=lait"]

    def test_a_partition_without_a_value_is_an_error(self, folder: Path) -> None:
        below = folder / "query_id=__HIVE_DEFAULT_PARTITION__"
        below.mkdir()
        (below / "part-0.csv").write_text("doc_id,score\nd1,1\n")
        with pytest.raises(RunError, match=r"part-0\.csv.*: query_id is empty"):
            Run.load(folder)

    def test_a_file_may_have_the_column_of_its_folder_with_the_same_value(
        self, folder: Path
    ) -> None:
        below = folder / "date=yesterday" / "query_id=q1" / "score=1"
        below.mkdir(parents=True)
        file = below / "part-0.csv"
        file.write_text("query_id,doc_id,score,date\nq1,d1,1,today\nq1,d2,1,today\n")
        assert Run.load(folder)["q1"] == ("d2", "d1")
        file.write_text("query_id,doc_id,score\nq1,d1,1\n2,d1,1\n")
        message = r"part-0\.csv:3: query_id is '2', but its folder is query_id=q1; move the file"
        with pytest.raises(RunError, match=message):
            Run.load(folder)
        with pytest.raises(RunError, match=message):
            evaluate_part(file, GOLDEN)

    def test_the_column_of_a_folder_of_numbers(self, folder: Path) -> None:
        pytest.importorskip("polars")
        pytest.importorskip("pyarrow")
        below = folder / "query_id=7" / "score=2"
        below.mkdir(parents=True)
        table = pd.DataFrame({"query_id": [7], "doc_id": ["d1"], "score": [2.0]})
        table.to_parquet(below / "p.parquet")
        assert list(Run.load(folder)) == ["7"]
        table.assign(query_id="007").to_parquet(below / "p.parquet")
        with pytest.raises(RunError, match="row 1: query_id is '007', but its folder is query_id="):
            Run.load(folder)


@pytest.mark.parametrize("role", ["query_id", "doc_id"])
def test_ids_of_another_type_in_one_part_are_an_error(folder: Path, role: str) -> None:
    pytest.importorskip("polars")
    pytest.importorskip("pyarrow")
    golden = GoldenSet.from_dict({f"{q:03}": {"5": 1} for q in range(4)})
    table = pd.DataFrame({"query_id": ["000", "001"], "doc_id": "5", "score": 1.0})
    table.to_parquet(folder / "p0.parquet")
    more = table.assign(query_id=["002", "003"])
    more.to_parquet(folder / "p1.parquet")
    assert evaluate(Run.load(folder), golden).mean("RR") == 1
    more[role] = more[role].astype(int)
    more.to_parquet(folder / "p1.parquet")
    message = rf"p1\.parquet, row 1: {role} is a column of whole numbers here, but of text from "
    with pytest.raises(RunError, match=message):
        Run.load(folder)


@pytest.mark.parametrize("format", ["csv", "parquet"])
@pytest.mark.parametrize("scanned", [False, True])
def test_a_part_without_rows_is_in_the_notes(folder: Path, format: str, scanned: bool) -> None:
    if format == "parquet":
        pytest.importorskip("polars")
        pytest.importorskip("pyarrow")
    save_parts(folder, format)
    run = Run.scan(folder) if scanned else Run.load(folder)
    assert not evaluate(run, GOLDEN).notes
    nothing = folder / f"part-3.{format}"
    if format == "csv":
        nothing.write_text((folder / "part-0.csv").read_text().partition("\n")[0] + "\n")
    else:
        pd.read_parquet(folder / "part-0.parquet")[:0].to_parquet(nothing)
    run = Run.scan(folder) if scanned else Run.load(folder)
    note = f"1 file has no rows (of 4 parts): {nothing}"
    assert list(evaluate(run, GOLDEN).notes) == [note]
    assert list(evaluate(run.top(3), GOLDEN).notes) == [note]


def two_formats(folder: Path) -> None:
    save_parts(folder, "csv")
    Run.from_dict({"q": ["d"]}).save(folder / "readme.jsonl")


def other_columns(folder: Path) -> None:
    save_parts(folder, "csv")
    (folder / "part-3.csv").write_text("query_id,doc_id,rank\nq,d,1\n")


def truncated(folder: Path) -> None:
    pytest.importorskip("polars")
    save_parts(folder, "parquet")
    file = folder / "part-1.parquet"
    file.write_bytes(file.read_bytes()[:-40])


def cut_within_a_line(folder: Path) -> None:
    save_parts(folder, "trec")
    file = folder / "part-1.trec"
    file.write_bytes(file.read_bytes()[:-20])


def cut_to_nothing(folder: Path) -> None:
    save_parts(folder, "csv")
    (folder / "part-1.csv").write_bytes(b"")


def unfinished(folder: Path) -> None:
    save_parts(folder, "csv")
    (folder / "_temporary").mkdir()


def only_marks(folder: Path) -> None:
    (folder / "_SUCCESS").write_text("")


def twice(folder: Path) -> None:
    save_parts(folder, "jsonl")
    (folder / "part-9.jsonl").write_bytes((folder / "part-0.jsonl").read_bytes())


def copied(folder: Path) -> None:
    save_parts(folder, "csv")
    (folder / "part-9.csv").write_bytes((folder / "part-0.csv").read_bytes())


WRONG: list[tuple[Callable[[Path], None], str]] = [
    (two_formats, r"different formats: .*part-0\.csv is csv, .*readme\.jsonl is jsonl; move"),
    (
        other_columns,
        r"part-0\.csv and .*part-3\.csv have different columns: only .*part-0\.csv has score; write",
    ),
    (truncated, r"part-1\.parquet: cannot be read as Parquet"),
    (cut_within_a_line, r"part-1\.trec:\d+: "),
    (cut_to_nothing, r"part-1\.csv is empty: was it written to the end\?"),
    (unfinished, r"the job that writes it has not finished: _temporary still exists"),
    (only_marks, r"2026-11-21 has no parts; files and folders whose names begin"),
    (twice, r"query 'q0' has a whole ranking in two files"),
    (copied, r"query 'q0': document 'd\d' is ranked twice"),
]


@pytest.mark.parametrize(("spoil", "message"), WRONG)
def test_wrong_parts_are_one_clear_error(
    folder: Path, spoil: Callable[[Path], None], message: str
) -> None:
    spoil(folder)
    with pytest.raises(RunError, match=message):
        Run.load(folder)
    with pytest.raises(RunError, match=message):
        evaluate_part(folder, GOLDEN)


def test_a_pattern_that_matches_nothing(folder: Path) -> None:
    with pytest.raises(RunError, match=r"no file matches '.*part-\*\.csv'"):
        Run.load(folder / "part-*.csv")


def test_a_pattern_of_folders(folder: Path) -> None:
    for day in ("2026-11-20", "2026-11-21"):
        (folder / day).mkdir()
    save_parts(folder / "2026-11-20", "csv", count=1)
    assert_whole(Run.load(folder / "2026-11-2*"))


@pytest.mark.parametrize("pattern", ["*", "**", "../2026-11-2?/*", "../2026-*-21"])
def test_a_pattern_of_files_and_folders(folder: Path, pattern: str) -> None:
    save_parts(folder, "csv")
    (folder / "more").mkdir()
    (folder / "part-1.csv").rename(folder / "more" / "part-1.csv")
    (folder / "_SUCCESS").write_text("")
    (folder / ".part-0.csv.crc").write_text("crc")
    assert_whole(Run.load(folder / pattern))


@pytest.mark.parametrize("pattern", ["*", "**/part-*.csv"])
def test_a_pattern_finds_a_job_that_has_not_finished(folder: Path, pattern: str) -> None:
    save_parts(folder, "csv")
    (folder / "_temporary").mkdir()
    save_parts(folder / "_temporary", "csv", count=1)
    message = f"^{re.escape(str(folder))}: the job that writes it has not finished"
    with pytest.raises(RunError, match=message):
        Run.load(folder / pattern)


def test_messages_name_the_file_and_the_row(folder: Path) -> None:
    save_parts(folder, "csv")
    file = folder / "part-2.csv"
    file.write_text(file.read_text() + "q8,,1,2\n")
    lines = file.read_text().count("\n")
    with pytest.raises(RunError, match=rf"part-2\.csv:{lines}: doc_id is empty"):
        Run.load(folder)


def test_nan_in_a_folder_is_not_called_empty(folder: Path) -> None:
    pytest.importorskip("polars")
    pytest.importorskip("pyarrow")
    table = pd.DataFrame({"query_id": "q1", "doc_id": ["a", "b"], "score": [2.0, float("nan")]})
    table.to_parquet(folder / "p0.parquet")
    with pytest.raises(RunError, match=r"p0\.parquet, row 2: .* document 'b' is empty or NaN$"):
        Run.load(folder)


def test_the_beginning_of_a_parquet_file_is_called_that(folder: Path) -> None:
    (folder / "part-0.parquet").write_bytes(b"PAR1xxxx")
    for path in (folder, folder / "part-0.parquet"):
        with pytest.raises(RunError, match="begins like a Parquet file but is incomplete"):
            Run.load(path)
