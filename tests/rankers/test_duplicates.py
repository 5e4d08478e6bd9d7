"""Duplicate documents in rankings: an error, gaps closed, or places kept, however a run is made."""

from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_rankcheck import GoldenSet, Run, evaluate
from pytest_rankcheck.rankers.ranking import Duplicates
from tests.libraries import forms
from tests.run_forms import RUN_FORMS, run_form, saved

METRICS = ["nDCG@10", "AP", "RR", "R@5", "P@5", "Judged@5", "NumRet", "Bpref", "Distinct@5"]

RULES: list[Duplicates] = ["close_gaps", "keep_places"]

CHUNKS = {"q": ["a"] * 5 + ["b"], "p": ["b", "c", "b", "a", "c", "d"], "o": ["a", "b"]}
GOLDEN = GoldenSet.from_dict(
    {"q": {"b": 1, "x": 1}, "p": {"a": 2, "b": 1, "c": 0, "y": 1, "z": 1}, "o": {"b": 1}}
)


@pytest.fixture(params=forms(*RUN_FORMS))
def make(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Run]:
    return run_form(request.param, monkeypatch)


@pytest.mark.parametrize("duplicates", RULES)
def test_every_way_to_make_a_run_gives_the_same_values(
    make: Callable[..., Run], tmp_path: Path, duplicates: Duplicates
) -> None:
    run = make(CHUNKS, tmp_path, duplicates=duplicates)
    lists = Run.from_dict(CHUNKS, duplicates=duplicates)
    table, expected = (evaluate(each, GOLDEN).table(METRICS) for each in (run, lists))
    assert table.to_numpy().tolist() == expected.to_numpy().tolist()
    assert run.duplicates == duplicates


@pytest.mark.parametrize(
    ("duplicates", "recall", "reciprocal", "precision", "retrieved"),
    [("close_gaps", 0.5, 1 / 2, 1 / 5, 2), ("keep_places", 0.0, 1 / 6, 0.0, 6)],
)
def test_a_chunk_beyond_the_fifth_place_is_not_among_five(
    make: Callable[..., Run],
    tmp_path: Path,
    duplicates: Duplicates,
    recall: float,
    reciprocal: float,
    precision: float,
    retrieved: int,
) -> None:
    """The reader of ``["a"] * 5 + ["b"]`` sees five chunks of a, and b is the sixth."""
    run = make(CHUNKS, tmp_path, duplicates=duplicates)
    values = evaluate(run, GOLDEN).table(["R@5", "RR", "P@5", "NumRet"])
    assert values.loc["q"].tolist() == [recall, reciprocal, precision, retrieved]


def test_a_duplicate_is_an_error_that_names_both_rules_and_the_ini_line(
    make: Callable[..., Run], tmp_path: Path
) -> None:
    with pytest.raises(Exception, match=r"document '[ab]' is ranked twice, at 1 and ") as failure:
        evaluate(make(CHUNKS, tmp_path, duplicates="error"), GOLDEN)
    for part in (
        "duplicates='keep_places'",
        "duplicates='close_gaps'",
        "duplicates=keep_places in rankcheck_conventions",
    ):
        assert part in str(failure.value)


def test_kept_places_survive_files_and_cuts(tmp_path: Path) -> None:
    run = Run.from_dict(CHUNKS, duplicates="keep_places")
    assert run["q"] == ("a", "a", "a", "a", "a", "b")
    assert run.top(5)["q"] == ("a",) * 5
    run.save(tmp_path / "again.csv")
    again = Run.load(tmp_path / "again.csv", duplicates="keep_places")
    assert {query: again[query] for query in again} == {query: run[query] for query in run}
    assert (
        Run.load(saved(CHUNKS, tmp_path, "run"), duplicates="keep_places").top(5)["p"]
        == run["p"][:5]
    )
