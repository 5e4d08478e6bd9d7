"""``pool``: which unjudged documents it lists, in which order, and what it prints and refuses."""

import csv
import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from pytest_rankcheck import GoldenSet, Run
from pytest_rankcheck.command_line.main import main

Rows = list[dict[str, str]]
HOSTILE = ("=1+1", "-x", "@x", "'x", '"x', "two\nlines", "a,b", "a\x1b[2J", "\u202ex")


@pytest.fixture
def pooled(folder: Path) -> Callable[..., Rows]:
    """Pools runs, given by name, and returns the rows of the list."""

    def pool(
        *arguments: str,
        judged: Mapping[str, Mapping[str, float]] | None = None,
        **runs: Mapping[str, list[str]],
    ) -> Rows:
        if judged is not None:
            GoldenSet.from_dict(judged, queries=dict.fromkeys(judged, "red")).save("g.jsonl")
        for name, rankings in runs.items():
            Run.from_dict(rankings).save(f"{name}.jsonl")
        names = [f"{name}.jsonl" for name in runs]
        out = folder / "list.csv"
        out.unlink(missing_ok=True)
        assert main(["pool", *names, "--golden", "g.jsonl", "--out", "list.csv", *arguments]) == 0
        if not out.exists():
            return []
        with out.open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    return pool


def values(rows: Rows) -> list[tuple[str, str, float]]:
    return [(row["query_id"], row["doc_id"], float(row["influence"])) for row in rows]


def test_two_systems_are_told_apart_by_the_difference_of_their_discounts(
    pooled: Callable[..., Rows], capsys: pytest.CaptureFixture[str]
) -> None:
    # The discounts of ranks 1 to 4: 1/log2(2) = 1, 1/log2(3) = 0.630930, 1/log2(4) = 0.5, and
    # 1/log2(5) = 0.430677.
    rows = pooled(
        judged={"q": {"judged": 1}},
        a={"q": ["x", "judged", "y", "same"]},
        b={"q": ["y", "z", "x", "same"], "unknown": ["x"]},
    )
    assert values(rows) == [
        ("q", "z", 0.63093),  # 0 in a, rank 2 in b
        ("q", "x", 0.5),  # 1 - 0.5
        ("q", "y", 0.5),  # 0.5 - 1; the ids break the tie
        ("q", "same", 0.0),
    ]
    assert list(rows[1])[-3:] == ["text", "rank in a.jsonl", "rank in b.jsonl"]
    assert ",".join(rows[1].values()) == "q,red,x,,,1,nDCG@10,0.500000,,1,3"
    assert capsys.readouterr().out == (
        "4 unjudged documents of 1 query in the top 10\n  a.jsonl: 3\n  b.jsonl: 4\n"
        "fill in the column relevance; then:\n"
        "  python -m pytest_rankcheck import-judgments list.csv --golden g.jsonl\n"
    )


def test_three_systems_sum_over_their_pairs_and_one_has_its_discounts(
    pooled: Callable[..., Rows],
) -> None:
    runs = {"a": {"q": ["x", "y"]}, "b": {"q": ["u", "y", "x"]}, "c": {"q": ["v", "y"]}}
    rows = pooled(judged={"q": {"u": 1, "v": 1}}, **runs)
    # x has 1, 0.5 and 0: |1 - 0.5| + |1 - 0| + |0.5 - 0|; y is second in all.
    assert values(rows) == [("q", "x", 2.0), ("q", "y", 0.0)]
    assert values(pooled(a=runs["a"])) == [("q", "x", 1.0), ("q", "y", 0.63093)]
    shallow = ("-o", "rankcheck_unjudged_depth=1")
    assert values(pooled(*shallow, **runs)) == [("q", "x", 2.0)]  # |1 - 0| twice
    assert values(pooled(c=runs["c"], b=runs["b"], a=runs["a"])) == values(rows)


def test_nothing_to_judge_writes_nothing(
    pooled: Callable[..., Rows], capsys: pytest.CaptureFixture[str]
) -> None:
    assert pooled(judged={"q": {"x": 0}}, a={"q": ["x"]}) == []
    assert capsys.readouterr().out.startswith("0 unjudged documents of 0 queries in the top 10")


@pytest.mark.parametrize("kind", ["csv", "jsonl", "beir"])
def test_texts_of_documents_are_shown(pooled: Callable[..., Rows], kind: str) -> None:
    documents = [
        {"_id": "x", "title": "X", "text": "two\n lines"},
        {"_id": "other", "title": "O", "text": "other"},
    ]
    path = Path({"csv": "documents.csv", "jsonl": "documents.jsonl", "beir": "beir"}[kind])
    if kind == "csv":
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, documents[0])
            writer.writeheader()
            writer.writerows(documents)
    else:
        if kind == "beir":
            path.mkdir()
        lines = path / "corpus.jsonl" if kind == "beir" else path
        lines.write_text("".join(f"{json.dumps(each)}\n" for each in documents), "utf-8")
    override = ("-o", f"rankcheck_documents={path}")
    rows = pooled(*override, judged={"q": {}}, a={"q": ["x", "y"]})
    assert [(row["title"], row["text"]) for row in rows] == [("X", "two lines"), ("", "")]


def test_hostile_ids_are_read_back(pooled: Callable[..., Rows], folder: Path) -> None:
    rows = pooled(judged={"=q": {}}, a={"=q": list(HOSTILE)})
    cells = [cell for row in rows for cell in row.values()]
    assert not any(cell.startswith(("=", "-", "+", "@")) or "\n" in cell for cell in cells)
    rows = [{**row, "relevance": "1"} for row in rows]
    with (folder / "list.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    assert GoldenSet.load("list.csv").grades("=q") == dict.fromkeys(HOSTILE, 1)


def test_a_file_that_exists_is_never_overwritten(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "judged.csv").write_text("grades", "utf-8")
    command = ["pool", "good.run", "--golden", "web.jsonl", "--out", "judged.csv"]
    assert main(command) == 2
    assert "judged.csv exists; give --out another name, or delete it" in capsys.readouterr().err
    assert (folder / "judged.csv").read_text("utf-8") == "grades"
