"""``import-judgments``: grades from a judged CSV into the file of a golden set, or nothing."""

import csv
import gzip
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_rankcheck import Expectation, GoldenSet, Run
from pytest_rankcheck.command_line.main import main

HEADER = "query_id,query,doc_id,title,relevance,rank,metric,influence\n"


def judged(*rows: tuple[str, str, object], query: str = "") -> None:
    """Write ``judged.csv``, with a row for each query, document and grade."""
    with Path("judged.csv").open("w", encoding="utf-8", newline="") as file:
        file.write(HEADER)
        csv.writer(file).writerows((q, query, d, "title", grade, 1, "", 0) for q, d, grade in rows)


def imported(*arguments: str, golden: str = "g.jsonl") -> int:
    return main(["import-judgments", "judged.csv", "--golden", golden, *arguments])


@pytest.fixture(autouse=True)
def golden(folder: Path) -> GoldenSet:
    """A golden set with all that the format holds, in ``g.jsonl``."""
    golden = GoldenSet.from_dict(
        {"q1": {"d1": 2, "d2": 0}, "q2": {}, "q3": {"d1": 0.5}},
        queries={"q1": "red", "q2": "blue", "q3": "green"},
        attributes={"q3": {"locale": "de", "tags": ["a"]}},
        scale=4,
    ).expecting(Expectation.in_top(3, "d1", query="q1"))
    golden.save("g.jsonl")
    return golden


def test_a_pool_is_judged_imported_and_linted(capsys: pytest.CaptureFixture[str]) -> None:
    Run.from_dict({"q1": ["d1", "d3", "-d4"], "q2": ["d5"]}).save("a.jsonl")
    assert main(["pool", "a.jsonl", "--golden", "g.jsonl", "--out", "a list.csv"]) == 0
    command = shlex.split(capsys.readouterr().out.splitlines()[-1])
    with Path("a list.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    grades = {"d3": "4", "d5": "1"}
    with Path("a list.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows({**row, "relevance": grades.get(row["doc_id"], "")} for row in rows)
    before = Path("g.jsonl").read_text("utf-8").splitlines()
    assert command[:3] == ["python", "-m", "pytest_rankcheck"]
    assert main(command[3:]) == 0
    assert capsys.readouterr().out == (
        "3 rows: 2 to add, 0 to replace, 0 known already\n"
        "g.jsonl: written; its baselines are stale now: pytest --snapshot-update\n"
    )
    after = Path("g.jsonl").read_text("utf-8").splitlines()
    # The scale need not be written once a judgment has that grade.
    assert after == [
        before[1].replace('"d2": 0', '"d2": 0, "d3": 4'),
        before[2].replace("{}", '{"d5": 1}'),
        before[3],
    ]
    assert main(["lint", "g.jsonl"]) == 0


def test_conflicts_are_listed_and_nothing_is_written_until_they_are_to_be_replaced(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    judged(("q1", "d1", 1), ("q1", "d2", 0), ("q1", "d3", ""), ("q2", "d\x1b3", 3), ("q3", "d1", 2))
    before = Path("g.jsonl").read_bytes()
    monkeypatch.setattr(sys, "argv", ["", "import-judgments", "judged.csv", "--golden", "g.jsonl"])
    assert imported() == 1
    assert capsys.readouterr().out == (
        "judged already, with another grade:\n"
        "  judged.csv:2: query 'q1', document 'd1': 2 -> 1\n"
        "  judged.csv:6: query 'q3', document 'd1': 0.5 -> 2\n"
        "nothing was written; to replace these grades, and add the others:\n"
        "  python -m pytest_rankcheck import-judgments judged.csv --golden g.jsonl --replace\n"
    )
    assert Path("g.jsonl").read_bytes() == before
    assert imported("--replace") == 0
    out = capsys.readouterr().out
    assert "5 rows: 1 to add, 2 to replace, 1 known already\ng.jsonl: written" in out
    golden = GoldenSet.load("g.jsonl")
    assert golden.grades("q1") == {"d1": 1, "d2": 0}
    assert golden.grades("q2") == {"d\x1b3": 3}
    assert golden.grades("q3") == {"d1": 2}
    assert golden.scale == 4
    assert imported() == 0
    assert capsys.readouterr().out == "5 rows: 0 to add, 0 to replace, 4 known already\n"


def test_what_is_invalid_is_named_and_nothing_is_written(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for row, says in (
        (("q9", "d3", 1), "judged.csv:2: query 'q9' is not in the golden set, or has another text"),
        (("q3", "d3", "2,5"), "judged.csv:2: the grade of document 'd3' is '2,5'"),
        (("q3", "d3", 5), "judged.csv:2: query 'q3': the grade 5 is above the scale, 4"),
        (("q3", "", 1), "judged.csv:2: a document id is empty"),
        (("q3", "d3", ""), "no row has a grade in the column relevance yet"),
    ):
        judged(row, ("q1", "d3", ""))
        before = Path("g.jsonl").read_bytes()
        assert imported("--replace") == 2
        assert says in capsys.readouterr().err
        assert Path("g.jsonl").read_bytes() == before


def test_a_judgment_of_another_text_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    judged(("q1", "d3", 1), query="pink")
    assert imported() == 2
    assert "query 'q1' is not in the golden set, or has another text" in capsys.readouterr().err
    judged(("q1", "d3", 1), query="red")
    assert imported() == 0


@pytest.mark.parametrize("name", ["g.qrels", "g.csv", "g.tsv", "g.jsonl.gz", "g.qrels.gz", "qrels"])
def test_a_file_keeps_its_format(name: str) -> None:
    golden = GoldenSet.from_dict(
        {"q1": {"d1": 2, "d2": 0}, "q2": {"d1": 1}},
        queries={"q1": "red", "q2": "blue"},
        attributes={"q1": {"locale": "de"}, "q2": {"locale": "en"}},
    )
    golden.save(name, "trec" if name == "qrels" else None)
    judged(("q1", "d3", 1), ("q2", "d1", 2))
    assert imported("--replace", golden=name) == 0
    read = GoldenSet.load(name)
    assert dict(read.columns) == {"q1": {"d1": 2, "d2": 0, "d3": 1}, "q2": {"d1": 2}}
    assert read.queries.equals(golden.queries)
    data = Path(name).read_bytes()
    text = (gzip.decompress(data) if name.endswith(".gz") else data).decode()
    golden.merge(
        GoldenSet.from_dict({"q1": {"d3": 1}, "q2": {"d1": 2}}), contradictions="last"
    ).save(f"x-{name}", "trec" if name == "qrels" else None)
    expected = Path(f"x-{name}").read_bytes()
    assert text == (gzip.decompress(expected) if name.endswith(".gz") else expected).decode()


def test_another_format_is_refused_with_the_line_that_converts_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("my cases.json").write_text('[{"query": "red", "relevant": ["d1"]}]', "utf-8")
    judged(("red", "d2", 1))
    assert imported(golden="my cases.json") == 2
    command = capsys.readouterr().err.partition("use the new file: ")[2]
    subprocess.run([sys.executable, *shlex.split(command)[1:]], check=True)
    assert imported(golden="my cases.jsonl") == 0
    assert GoldenSet.load("my cases.jsonl").grades("red") == {"d1": 1, "d2": 1}


def test_a_golden_set_that_is_not_as_its_file_or_has_candidates_is_refused(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    judged(("q1", "d3", 1))
    (folder / "f.csv").write_text("query_id,doc_id,relevance,bm25\nq1,d1,1,0.5\nq1,d2,0,2\n")
    assert imported(golden="f.csv") == 2
    assert "f.csv: it has candidates, or " in capsys.readouterr().err
    before = Path("g.jsonl").read_bytes()
    for option in ("rankcheck_grades = 0=0\n  2=1\n  0.5=3", "rankcheck_doc_id = remove_prefix:d"):
        (folder / "pytest.ini").write_text(f"[pytest]\n{option}\n")
        assert imported() == 2, option
        err = capsys.readouterr().err
        assert "rankcheck_grades or rankcheck_doc_id maps it; add the judgments by hand" in err
        assert Path("g.jsonl").read_bytes() == before


def test_attributes_that_the_project_leaves_out_are_kept(folder: Path) -> None:
    (folder / "pytest.ini").write_text(
        "[pytest]\nrankcheck_golden = g.jsonl\nrankcheck_attributes = locale\n"
    )
    judged(("q2", "d3", 1))
    assert main(["import-judgments", "judged.csv"]) == 0
    assert GoldenSet.load("g.jsonl").attributes == ("locale", "tags")
