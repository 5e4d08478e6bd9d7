"""Every form of a run and a golden set gives the same bits, and those of a reference in plain Python."""

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pytest_rankcheck import GoldenSet, Metric, Run, evaluate
from pytest_rankcheck.evaluation import judged_matches
from pytest_rankcheck.files import id_columns, packed_files, trec_columns
from pytest_rankcheck.rankers import ranked_columns, run_tables
from tests.examples import examples, run_of

pl = pytest.importorskip("polars", reason="polars is not installed")
pa = pytest.importorskip("pyarrow", reason="pyarrow cannot be imported", exc_type=ImportError)

pytestmark = pytest.mark.filterwarnings("ignore::pytest_rankcheck.errors.MetricWarning")

METRICS = ["nDCG@3", "nDCG", "AP", "RR", "P@2", "R@4", "ERR", "Bpref", "TauAP", "judged@5"]

Scored = dict[str, dict[str, float]]

FLOATS = [0.0, -0.0, 1.0, 1.5, -2.0, 1e300, 0.1 + 0.2, 0.3]

WORDS = ["a", "b", "é", "ß", "日本", "𝒳", "a b", '"', "d,1", "z" * 40]
NUMBERS = ["0", "7", "-3", "12", "70", "123456789012345678", "99"]
MIXED = ["7", "07", "+7", "7.0", "x", "-0", "٣", "70"]
PLAIN = ["a", "b", "é", "ß", "日本", "𝒳", "d_1", "z" * 40]
IDS = {"words": WORDS, "numbers": NUMBERS, "mixed": MIXED, "plain": PLAIN}


@st.composite
def sets(draw: st.DrawFn, ids: str) -> tuple[Scored, Scored]:
    """Return a run as scores and judgments, with ties, unjudged, missing and extra queries.

    All scores are floats, or whole, or both, or equal. Some rankings may be empty.
    """
    documents = st.sampled_from(IDS[ids])
    kinds: list[list[float]] = [FLOATS, [-2, 0, 1, 2, 2**53], [-2, 0, 0.5, 1.0, 7], [1], [2.5]]
    scores = st.sampled_from(draw(st.sampled_from(kinds)))
    queries = ["1", "2", "-4", "30"] if ids == "numbers" else ["q1", "q2", "ü", "q 4"]
    queries = [query.replace(" ", "_") for query in queries] if ids == "plain" else queries
    ranked = st.dictionaries(documents, scores, min_size=draw(st.integers(0, 1)), max_size=8)
    # Any grades; small whole ones, which are held in bytes; and the first that no byte can hold.
    grades = draw(st.sampled_from([[-1, 0, 1, 2, 0.5], [0, 1, 2], [0, 254, 255]]))
    judged = st.dictionaries(documents, st.sampled_from(grades), min_size=1, max_size=8)
    run = draw(st.dictionaries(st.sampled_from(queries), ranked, min_size=1, max_size=4))
    golden = draw(st.dictionaries(st.sampled_from(queries), judged, min_size=1, max_size=4))
    return run, golden


def rows_of(scored: Scored, seed: int | None) -> list[tuple[str, str, float]]:
    """Return rows in the order of the dicts; with a seed, the queries are interleaved."""
    rows = [(query, doc, score) for query, docs in scored.items() for doc, score in docs.items()]
    if seed is not None:
        random.Random(seed).shuffle(rows)
    return rows


def columns_of(scored: Scored, seed: int | None, value: str) -> dict[str, list[object]]:
    rows = rows_of(scored, seed)
    if not all(isinstance(row[2], int) for row in rows):  # a column of a table has one type
        rows = [(query, doc, float(number)) for query, doc, number in rows]
    names = ("query_id", "doc_id", value)
    return {name: [row[index] for row in rows] for index, name in enumerate(names)}


def as_numbers(columns: dict[str, list[object]]) -> dict[str, list[object]]:
    return {
        name: list(map(int, values)) if name.endswith("id") else values
        for name, values in columns.items()
    }  # type: ignore[call-overload]


def reference(run: Scored, golden: Scored) -> dict[str, dict[str, int]]:
    """Return the rank of each judged document, by a sort in plain Python."""
    ranks: dict[str, dict[str, int]] = {}
    for query, judged in golden.items():
        order = sorted(
            run.get(query, {}).items(), key=lambda pair: (pair[1], pair[0]), reverse=True
        )
        ranks[query] = {doc: rank for rank, (doc, _) in enumerate(order, 1) if doc in judged}
    return ranks


def trec(folder: Path, run: Scored, seed: int | None) -> Run:
    path = folder / "x.run"
    lines = [f"{query} Q0 {doc} 1 {score!r} t\n" for query, doc, score in rows_of(run, seed)]
    path.write_text("".join(lines), encoding="utf-8")
    return Run.scan(path)


def parquet(folder: Path, run: Scored, seed: int | None) -> Run:
    path = folder / "x.parquet"
    pl.DataFrame(columns_of(run, seed, "score")).write_parquet(path)
    return Run.scan(path)


def csv(folder: Path, run: Scored, seed: int | None) -> Run:
    path = folder / "x.csv"
    pl.DataFrame(columns_of(run, seed, "score")).write_csv(path)
    return Run.load(path)


def jsonl(folder: Path, run: Scored, seed: int | None) -> Run:
    path = folder / "x.jsonl"
    Run.from_dict(run).save(path)
    return Run.scan(path)


RUNS: dict[str, Callable[[Path, Scored, int | None], Run]] = {
    "lists": lambda _, run, __: Run.from_dict({q: Run.from_dict(run)[q] for q in run}),
    "pairs": lambda _, run, __: Run.from_dict(
        {q: [(doc, run[q][doc]) for doc in Run.from_dict(run)[q]] for q in run}
    ),
    "parquet": parquet,
    "csv": csv,
    "jsonl": jsonl,
    "pandas": lambda _, run, seed: Run.from_frame(pd.DataFrame(columns_of(run, seed, "score"))),
    "polars": lambda _, run, seed: Run.from_frame(pl.DataFrame(columns_of(run, seed, "score"))),
    "Arrow": lambda _, run, seed: Run.from_frame(pa.table(columns_of(run, seed, "score"))),
}
NUMBERED_RUNS: dict[str, Callable[[Path, Scored, int | None], Run]] = {
    "pandas numbers": lambda _, run, seed: Run.from_frame(
        pd.DataFrame(as_numbers(columns_of(run, seed, "score")))
    ),
    "polars numbers": lambda _, run, seed: Run.from_frame(
        pl.DataFrame(as_numbers(columns_of(run, seed, "score")))
    ),
}
GOLDENS: dict[str, Callable[[Scored, int | None], GoldenSet]] = {
    "dict": lambda golden, _: GoldenSet.from_dict(golden),
    "pandas": lambda golden, seed: GoldenSet.from_frame(
        pd.DataFrame(columns_of(golden, seed, "relevance"))
    ),
}
NUMBERED_GOLDENS: dict[str, Callable[[Scored, int | None], GoldenSet]] = {
    "pandas numbers": lambda golden, seed: GoldenSet.from_frame(
        pd.DataFrame(as_numbers(columns_of(golden, seed, "relevance")))
    )
}


def bits(run: Run, golden: GoldenSet, order: list[str]) -> list[bytes]:
    evaluation = evaluate(run, golden)
    places = evaluation.places(order)
    return [
        np.ascontiguousarray(evaluation.values(Metric.parse(name))[places]).tobytes()
        for name in METRICS
    ]


def ranks(run: Run, golden: GoldenSet) -> dict[str, dict[str, int]]:
    evaluation = evaluate(run, golden)
    found = {query: evaluation.ranks(query) for query in golden.query_ids}
    return {q: {d: r for d, r in found[q].items() if d in golden.grades(q)} for q in found}


WAYS = ["usual", "small blocks", "few hashes", "few judged", "lines"]


@contextmanager
def read_in(way: str) -> Iterator[None]:
    """Read in small blocks, with hashes that nearly all ids share, or without polars; or look up
    the judged documents among the ranked ones, as if they were few.
    """
    with pytest.MonkeyPatch.context() as patch:
        if way == "small blocks":
            patch.setattr(run_tables, "_BATCH_ROWS", 3)
            patch.setattr(ranked_columns, "_BLOCK_ROWS", 1)
            patch.setattr(judged_matches, "_TIED_ROWS", 1)
            patch.setattr(trec_columns, "LARGE_BLOCK_BYTES", 30)
            patch.setattr(trec_columns, "BLOCK_BYTES", 30)
        if way == "few hashes":
            keys = id_columns.keys_of
            patch.setattr(id_columns, "keys_of", lambda column: keys(column) & np.uint64(1))
            patch.setattr(id_columns, "_mixed", lambda numbers: numbers & np.uint64(1))
        if way == "few judged":
            patch.setattr(judged_matches, "_SPARSE", 0)
        patch.setattr(packed_files, "LARGE_FILE", 1 << 60 if way == "lines" else 0)
        yield


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("ids", IDS)
@examples(40)
@given(data=st.data(), seed=st.none() | st.integers(0, 9))
def test_every_form_gives_the_same_bits(
    ids: str,
    way: str,
    data: st.DataObject,
    seed: int | None,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    run, golden = data.draw(sets(ids))
    assume(any(run.get(query) for query in golden))
    judged, scored, order = GoldenSet.from_dict(golden), run_of(run), list(golden)
    form = data.draw(st.sampled_from(sorted(forms_of_runs(ids))))
    other_form = data.draw(st.sampled_from(sorted(forms_of_goldens(ids))))
    with read_in(way):
        made = forms_of_runs(ids)[form](tmp_path_factory.getbasetemp(), run, seed)
        other = forms_of_goldens(ids)[other_form](golden, seed)
        assert other.fingerprint == judged.fingerprint
        assert ranks(scored, judged) == ranks(made, other) == reference(run, golden)
        assert bits(scored, judged, order) == bits(made, other, order)


def forms_of_runs(ids: str) -> dict[str, Callable[[Path, Scored, int | None], Run]]:
    forms = dict(RUNS)
    if ids in ("plain", "numbers"):
        forms["trec"] = trec
    return forms | NUMBERED_RUNS if ids == "numbers" else forms


def forms_of_goldens(ids: str) -> dict[str, Callable[[Scored, int | None], GoldenSet]]:
    return GOLDENS | NUMBERED_GOLDENS if ids == "numbers" else GOLDENS


def test_a_hash_that_all_ids_share_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The patch of the tests above reaches the join."""
    calls = []
    pairs = id_columns.rows_with_equal_keys
    monkeypatch.setattr(
        id_columns, "rows_with_equal_keys", lambda *args: calls.append(pairs(*args)) or calls[-1]
    )
    monkeypatch.setattr(id_columns, "keys_of", lambda column: np.zeros(len(column), np.uint64))
    monkeypatch.setattr(id_columns, "_mixed", lambda numbers: np.zeros(len(numbers), np.uint64))
    frame = pl.DataFrame(
        {"query_id": ["q"] * 3, "doc_id": ["a", "b", "c"], "score": [3.0, 2.0, 1.0]}
    )
    evaluation = evaluate(Run.from_frame(frame), GoldenSet.from_dict({"q": {"b": 1}}))
    assert evaluation.mean("RR") == 0.5
    assert max(len(first) for first, _ in calls) == 3
