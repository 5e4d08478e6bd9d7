"""Scores that are not what they are taken for: from rankers, dicts and JSON lines."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pandas as pd
import pytest

from pytest_rankcheck import GoldenSet, RankcheckError, Run, RunError, rank
from pytest_rankcheck.files import packed_files
from pytest_rankcheck.files.whole_files import readable_json

Pairs = Sequence[tuple[str, float]]

FALLING = [("a", 3.0), ("b", 2.0), ("c", 1.0)]
RISING = [("a", 1.0), ("b", 2.0), ("c", 3.0)]
DISTANCES = [("a", 0.1), ("b", 0.1), ("c", 0.4), ("d", 0.4)]
TIED = [("a", 1.0), ("b", 1.0), ("c", 1.0)]
PINNED = [("c", 1.0), ("a", 3.0), ("b", 2.0)]
DIVERSIFIED = [("a", 3.0), ("c", 1.0), ("b", 2.0)]


def golden_for(lists: Mapping[str, Pairs]) -> GoldenSet:
    return GoldenSet.from_dict({q: {"a": 1} for q in lists}, queries={q: q for q in lists})


def of_a_dict(lists: Mapping[str, Pairs], folder: Path) -> Run:
    return Run.from_dict(lists)


def of_a_ranker(lists: Mapping[str, Pairs], folder: Path) -> Run:
    return rank(lists.__getitem__, golden_for(lists))


def _file(lists: Mapping[str, Pairs], folder: Path) -> Path:
    lines = (
        readable_json({"query_id": q, "ranking": [d for d, _ in p], "scores": [s for _, s in p]})
        for q, p in lists.items()
    )
    (folder / "run.jsonl").write_text("\n".join(lines) + "\n")
    return folder / "run.jsonl"


def of_json_lines(lists: Mapping[str, Pairs], folder: Path) -> Run:
    return Run.load(_file(lists, folder))


Make = Callable[[Mapping[str, Pairs], Path], Run]
MAKERS = [of_a_dict, of_a_ranker, of_json_lines]


@pytest.fixture(params=MAKERS)
def make(request: pytest.FixtureRequest) -> object:
    return request.param


def test_lists_in_the_wrong_order_are_refused(make: Make, tmp_path: Path) -> None:
    for lists in (
        {"q": RISING},
        {"q": DISTANCES, "p": DISTANCES},
        {"q": RISING, "p": RISING, "o": FALLING},
        {"q": RISING[:2], "p": RISING[:2]},
        # queries without different scores say nothing
        {"q": RISING, "p": TIED, "o": TIED, "n": [("a", 1.0)], "m": []},
    ):
        with pytest.raises(RankcheckError, match="the scores rise down the list in ") as failure:
            make(lists, tmp_path)
        said = str(failure.value)
        assert "such as 'q' (a " in said
        assert "If the highest score is best, sort the lists and dicts by falling scores" in said
        assert "if the lowest is best, as with distances, negate the scores" in said


def test_single_inversions_are_allowed(make: Make, tmp_path: Path) -> None:
    for lists in (
        {"q": FALLING},
        {"q": TIED},
        {"q": TIED, "p": TIED},
        {"q": [("a", 1.0)]},
        {"q": RISING[:2]},  # a single inversion: the first document may be pinned
        {"q": RISING[:2], "p": []},
        {"q": RISING, "p": FALLING},  # half of the queries
        {"q": RISING, "p": PINNED},
        {"q": PINNED, "p": PINNED},
        {"q": DIVERSIFIED, "p": DIVERSIFIED},
        {"q": [("a", 2.0), ("b", 2.0), ("c", 1.0)]},
    ):
        run = make(lists, tmp_path)
        assert {q: run[q] for q in lists} == {q: tuple(doc for doc, _ in lists[q]) for q in lists}


def test_the_message_counts_and_shows(tmp_path: Path) -> None:
    lists = {"q1": FALLING, "q2": DISTANCES, "q3": DISTANCES, "q4": TIED}
    with pytest.raises(RunError) as failure:
        Run.from_dict(lists, name="bm25")
    assert str(failure.value).startswith(
        "run 'bm25': the scores rise down the list in 2 of 3 queries, such as 'q2' (a 0.1, b 0.1, "
        "c 0.4, ...); a list is best first, a dict highest score first."
    )
    with pytest.raises(RunError, match=r"run.jsonl: the scores rise down the list in 2 of 3"):
        Run.load(_file(lists, tmp_path))


# --- ranks beside scores ------------------------------------------------------------------------


def rows_of_queries(
    *queries: Sequence[tuple[object, float]],
) -> list[tuple[str, str, object, float]]:
    """Return a row for each rank and score of each query."""
    return [
        (f"q{number}", f"d{place}", *pair)
        for number, pairs in enumerate(queries)
        for place, pair in enumerate(pairs)
    ]


OPPOSED = [(rank, rank / 10) for rank in range(1, 11)]
AGREEING = [(rank, -rank / 10) for rank in range(1, 11)]


def of_trec(rows: list, folder: Path) -> Run:
    lines = (f"{query} Q0 {doc} {rank} {score} tag\n" for query, doc, rank, score in rows)
    (folder / "found.run").write_text("# made by hand\n" + "".join(lines))
    return Run.load(folder / "found.run")


def of_large_trec(rows: list, folder: Path) -> Run:
    """Read with polars where it is installed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(packed_files, "LARGE_FILE", 0)
        return of_trec(rows, folder)


def of_csv(rows: list, folder: Path) -> Run:
    lines = (",".join(map(str, row)) for row in [("query_id", "doc_id", "rank", "score"), *rows])
    (folder / "found.csv").write_text("\n".join(lines))
    return Run.load(folder / "found.csv")


def of_frame(rows: list, folder: Path) -> Run:
    return Run.from_frame(pd.DataFrame(rows, columns=["query_id", "doc_id", "rank", "score"]))


READERS = [of_trec, of_large_trec, of_csv, of_frame]


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("is_split", [False, True])
@pytest.mark.parametrize(
    "queries",
    [
        [OPPOSED] * 3,
        [OPPOSED],
        [OPPOSED, [(1, 5.0)], [(1, 2.0), (2, 2.0)]],  # the others say nothing
        [[(0, 0.1), (1, 0.2), (2, 0.3)]],
        [[(3, 0.3), (1, 0.1), (2, 0.2)]],
    ],
)
def test_ranks_that_oppose_the_scores_in_all_queries_are_refused(
    read: Callable[[list, Path], Run], queries: list, is_split: bool, tmp_path: Path
) -> None:
    rows = rows_of_queries(*queries)
    if is_split:
        rows.sort(key=lambda row: row[1])
    with pytest.raises(
        RunError, match="the ranks say the opposite of the scores in all"
    ) as refused:
        read(rows, tmp_path)
    said = str(refused.value)
    assert "such as 'q0' (d" in said
    assert (
        "If they are distances, negate them, or remove their column (not from TREC), so that the ranks"
        in said
    )
    assert "if they are right, remove the ranks (in TREC, write 0 for each)" in said


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize(
    "queries",
    [
        [AGREEING],
        [OPPOSED, AGREEING],
        [AGREEING, OPPOSED],
        [[(0, score) for _, score in OPPOSED]],  # the remedy in TREC
        [[(1, 0.5), (2, 0.5), (3, 0.5)]],
        [[(1, 0.1), (2, 0.2)]],  # one pair may be pinned
        [[(1, 0.1), (3, 0.2), (2, 0.3)]],
    ],
)
def test_other_ranks_are_ignored(
    read: Callable[[list, Path], Run], queries: list, tmp_path: Path
) -> None:
    read(rows_of_queries(*queries), tmp_path)


def test_ranks_that_are_none_are_ignored(tmp_path: Path) -> None:
    named = rows_of_queries([(f"r{rank}", score) for rank, score in OPPOSED])
    assert of_trec(named, tmp_path)["q0"][0] == "d9"
    assert of_csv(named, tmp_path)["q0"][0] == "d9"


def test_a_table_without_scores_or_without_ranks_is_read(tmp_path: Path) -> None:
    rows = pd.DataFrame(rows_of_queries(OPPOSED), columns=["query_id", "doc_id", "rank", "score"])
    assert Run.from_frame(rows.drop(columns="score"))["q0"][0] == "d0"
    assert Run.from_frame(rows.drop(columns="rank"))["q0"][0] == "d9"
    assert Run.from_frame(rows.assign(score=-rows["score"]))["q0"][0] == "d0"


# --- ranks in a dict -----------------------------------------------------------------------------


def ranked(*docs: str, start: float = 1) -> dict[str, float]:
    return {doc: start + place for place, doc in enumerate(docs)}


DICT_MAKERS: list[Callable[[Mapping[str, object]], Run]] = [
    Run.from_dict,
    lambda dicts: Run.from_dict(dicts, depth=100),
    lambda dicts: rank(
        dicts.__getitem__, GoldenSet.from_dict({q: {} for q in dicts}, {q: q for q in dicts})
    ),
]


@pytest.mark.parametrize("make_dicts", DICT_MAKERS)
@pytest.mark.parametrize("kind", [int, float])
@pytest.mark.parametrize("start", [0, 1])
def test_ranks_given_as_scores_are_refused(
    make_dicts: Callable[[Mapping[str, object]], Run], start: int, kind: type
) -> None:
    dicts = {
        q: {doc: kind(score) for doc, score in ranked(*docs, start=start).items()}
        for q, docs in {"q1": "abcdef", "q2": "fedc", "q3": "a"}.items()
    }
    with pytest.raises(
        RankcheckError, match="are ranks in 2 of 2 queries, such as 'q1'"
    ) as failure:
        make_dicts(dicts)
    assert "give a list of ids, best first" in str(failure.value)
    assert "give (id, score) pairs, sorted by falling scores" in str(failure.value)


@pytest.mark.parametrize("make_dicts", DICT_MAKERS)
def test_ranks_in_more_than_half_of_the_queries_are_enough(
    make_dicts: Callable[[Mapping[str, object]], Run],
) -> None:
    dicts = {f"q{n}": ranked(*"abcdef") for n in range(20)} | {
        "odd": {"a": 0.5, "b": 2.0, "c": 1.0}
    }
    with pytest.raises(RankcheckError, match="are ranks in 20 of 21 queries, such as 'q0'"):
        make_dicts(dicts)


@pytest.mark.parametrize("make_dicts", DICT_MAKERS)
@pytest.mark.parametrize(
    "dicts",
    [
        {"q": dict(RISING)},
        {"q": dict(DISTANCES), "p": dict(DISTANCES), "o": dict(FALLING)},
        {"q": ranked(*"abcdefghi")},  # too few documents for ranks
        {"q": ranked(*"abcdefghij", start=2), "p": {"a": 0.5, "b": 2.0}},
        {"q": dict(RISING), "p": dict(TIED), "o": {"a": 1.0}},
    ],
)
def test_distances_in_rising_order_are_refused_as_in_a_list(
    make_dicts: Callable[[Mapping[str, object]], Run], dicts: Mapping[str, object]
) -> None:
    with pytest.raises(RankcheckError, match=r"the scores rise down the .* such as 'q' \(a "):
        make_dicts(dicts)


@pytest.mark.parametrize("make_dicts", DICT_MAKERS)
@pytest.mark.parametrize(
    "dicts",
    [
        {"q": ranked(*"abcdefghij"), "p": {"a": 2.0, "b": 0.5, "c": 1.5}},
        {"q": {"a": 0.9, "b": 0.1}} | {f"q{n}": {"no": 0.0, "yes": 1.0} for n in range(20)},
        {"q": {"a": 1.0, "b": 2.0}, "p": {"a": 0.5, "b": 2.0}},
        {"q": dict(reversed(ranked(*"abcdefghij").items()))},
        {"q": dict.fromkeys("abcdefghij", 1.0)},
    ],
)
def test_other_scores_of_dicts_are_scores(
    make_dicts: Callable[[Mapping[str, object]], Run], dicts: Mapping[str, Mapping[str, float]]
) -> None:
    run = make_dicts(dicts)
    assert run["q"] == tuple(sorted(dicts["q"], key=lambda doc: (-dicts["q"][doc], [-ord(doc)])))
