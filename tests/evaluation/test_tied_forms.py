"""Rankings with other scores than falling floats: every form ranks them as a sort in Python does."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from pytest_rankcheck import GoldenSet, Run, RunError, evaluate
from pytest_rankcheck.files import packed_files
from pytest_rankcheck.files.id_columns import HeldIds, falling_ids
from tests.libraries import NEEDS_POLARS

Scored = dict[str, dict[str, float]]
SCORES: dict[str, Callable[[random.Random], float]] = {
    "floats": lambda draw: draw.random(),
    "whole": lambda draw: draw.randrange(10**6),
    "few values": lambda draw: float(draw.randrange(4)),
    "few ties": lambda draw: round(draw.random(), 2),
    "equal": lambda draw: 1.0,
    "whole and floats": lambda draw: draw.choice([0, 0.5, 1, 1.5, 2]),
}


def data(kind: str, ids: str, judged: int) -> tuple[Scored, dict[str, dict[str, int]]]:
    """Return a run of 30 queries, one of them empty, and judgments of some or most documents."""
    draw = random.Random(f"{kind} {ids} {judged}")
    names = [ids.format(number) for number in draw.sample(range(10**6), 400)]
    run = {
        f"q{query}": {
            doc: SCORES[kind](draw) for doc in draw.sample(names, draw.choice([1, 60, 90]))
        }
        for query in range(30)
    }
    run["q7"] = {}
    golden = {
        query: {doc: draw.randrange(3) for doc in draw.sample(names, judged)} for query in run
    }
    return run, golden


def order(scores: dict[str, float], ties: str) -> list[str]:
    """Return the documents best first, by a sort in plain Python."""
    if ties == "input":
        return sorted(scores, key=lambda doc: -scores[doc])
    return sorted(scores, key=lambda doc: (scores[doc], doc), reverse=True)


def of_frame(run: Scored, **rules: Any) -> Run:
    rows = [(query, doc, score) for query, docs in run.items() for doc, score in docs.items()]
    return Run.from_frame(pd.DataFrame(rows, columns=["query_id", "doc_id", "score"]), **rules)


def of_text(run: Scored, **rules: Any) -> Run:
    lines = [
        f"{q} Q0 {doc} 0 {score!r} t" for q, docs in run.items() for doc, score in docs.items()
    ]
    Path("tied.run").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return Run.scan("tied.run", **rules)


FORMS: dict[str, Callable[..., Run]] = {
    "dicts": Run.from_dict,
    "frame": of_frame,
    "text by lines": of_text,
    "text in columns": of_text,
}


@pytest.mark.parametrize("judged", [2, 5, 200])
@pytest.mark.parametrize("ids", ["{}", "https://example.org/a/long/path/é/{}/page"], ids=len)
@pytest.mark.parametrize("kind", SCORES)
@pytest.mark.parametrize(
    "form", [*list(FORMS)[:3], pytest.param("text in columns", marks=NEEDS_POLARS)]
)
def test_ranks_and_tops_are_those_of_a_sort(
    form: str, kind: str, ids: str, judged: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(packed_files, "LARGE_FILE", 0 if form == "text in columns" else 1 << 60)
    run, grades = data(kind, ids, judged)
    golden = GoldenSet.from_dict(grades)
    for ties in ("doc_id", "input"):
        evaluation = evaluate(FORMS[form](run, ties=ties), golden)
        for at, (query, scores) in enumerate(run.items()):
            expected = order(scores, ties)
            assert list(evaluation.ranking(query)[:20]) == expected[:20]
            ranks = [rank for rank, doc in enumerate(expected, 1) if doc in grades[query]]
            found = evaluation.source.hits[0].ranks[at]
            assert found[~np.isnan(found)].tolist() == ranks
            assert evaluation.source.hits[0].retrieved[at] == len(scores)


def test_pairs_keep_their_order_whatever_their_scores() -> None:
    run, grades = data("few values", "{}", 40)
    shuffled = {query: list(docs.items()) for query, docs in run.items()}
    evaluation = evaluate(Run.from_dict(shuffled), GoldenSet.from_dict(grades))
    for query, pairs in shuffled.items():
        assert list(evaluation.ranking(query)) == [doc for doc, _ in pairs]
        assert (evaluation.run.scores(query) or ()) == tuple(score for _, score in pairs)  # type: ignore[union-attr]


@pytest.mark.parametrize("odd", [True, "2", None, 10**400, float("nan"), [1]], ids=repr)
@pytest.mark.parametrize("others", [{}, {"q2": {"x": 2.5, "y": 1.5}}], ids=len)
@pytest.mark.parametrize("first", [7, 7.5])
def test_an_odd_score_among_numbers_is_refused(odd: Any, others: Scored, first: float) -> None:
    scores = {"a": first, "b": odd, "c": -(10**400) if odd == 10**400 else 1}
    for answer in (scores, list(scores.items())):
        if odd is True and isinstance(first, float) and answer is scores:
            continue  # dicts whose first score is a float are only added up
        with pytest.raises(RunError, match="query 'q1': the score of document 'b' is"):
            Run.from_dict({"q1": answer, **others})


@pytest.mark.parametrize("number", [np.float32(0.5), np.int64(3), 3], ids=repr)
def test_numbers_of_every_kind_rank_as_floats_do(number: Any) -> None:
    run = Run.from_dict({"q": {"a": number, "b": 4.5, "c": number}})
    assert run["q"] == ("b", "c", "a")
    assert run.scores("q") == (4.5, float(number), float(number))


@pytest.mark.parametrize(
    "alphabet", ["ab", "a\0b", "aé日𝒳\ud800\U0010ffff", "0123456789"], ids=ascii
)
def test_ids_fall_within_groups_as_python_compares_them(alphabet: str) -> None:
    draw = random.Random(ascii(alphabet))
    for _ in range(300):
        sizes = [draw.choice([1, 2, 30]) for _ in range(draw.randrange(1, 5))]
        lengths = [0, 1, 2, 7, 8, 9, 17]
        texts = ["".join(draw.choices(alphabet, k=draw.choice(lengths))) for _ in range(sum(sizes))]
        starts = np.append(0, np.cumsum(sizes))
        for others in (0, 200):  # if there are many others, only some are looked at
            column = HeldIds(["x"] * others + texts)
            found = falling_ids(column, np.arange(len(texts)) + others, starts).tolist()
            assert sorted(found) == list(range(len(texts)))
            for start, end in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
                falling = sorted(texts[start:end], reverse=True)
                assert [texts[place] for place in found[start:end]] == falling
