"""Ids that never meet: the run ranks other documents than those that the golden set judges."""

import warnings
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from pytest_rankcheck import (
    Expectation,
    GoldenSet,
    MetricWarning,
    Run,
    RunError,
    assert_at_least,
    assert_at_most,
    assert_expectations,
    assert_invariant,
    assert_not_regressed,
    evaluate,
)
from pytest_rankcheck.evaluation.evaluation import Evaluation
from tests.libraries import forms

NAMES = ("red-hat", "blue-scarf", "green-shoe", "grey-coat", "white-sock", "black-tie")


def golden_set(queries: int = 6, doc_id: Callable[[int], str] | None = None) -> GoldenSet:
    """Return queries with one relevant and one irrelevant document each."""
    named = doc_id or (lambda number: NAMES[number % len(NAMES)] + f".{number}")
    return GoldenSet.from_dict(
        {
            f"q{number}": {named(number): 1, named(number + queries): 0}
            for number in range(1, queries + 1)
        },
        name="shop",
    )


def run_with_ids(golden: GoldenSet, doc_id: Callable[[str], str]) -> Run:
    """Return the perfect run with its ids spelled in another way."""
    return Run.from_dict({query.id: list(map(doc_id, golden.grades(query.id))) for query in golden})


def measured(run: Run, golden: GoldenSet) -> Evaluation:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MetricWarning)
        return evaluate(run, golden)


def test_the_error_names_the_rule_that_makes_both_sides_meet() -> None:
    cases: tuple[tuple[Callable[[int], str], Callable[[str], str], str], ...] = (
        (lambda n: f"red-hat{n}", str.upper, 'doc_id="lower"'),
        (lambda n: f"00{n}", lambda doc: doc.lstrip("0"), 'doc_id="strip_zeros"'),
        (lambda n: f"page{n}", lambda doc: f"{doc} ", 'doc_id="strip"'),
        (lambda n: f"caf\u00e9 {n}", lambda doc: doc.replace("\u00e9", "e\u0301"), 'doc_id="nfc"'),
        (lambda n: f"a page {n}", lambda doc: doc.replace(" ", "%20"), 'doc_id="unquote"'),
        (str, lambda doc: f"{doc}.0", 'doc_id="before:."'),
        (lambda n: f"guide{n}", lambda doc: f"{doc}#0", 'doc_id="before:#"'),
        (lambda n: f"guide{n}#1", lambda doc: doc.split("#")[0], 'doc_id="before:#"'),
        (lambda n: f"hat{n}", lambda doc: f"https://a.b/{len(doc)}/{doc}", 'doc_id="after:/"'),
        (lambda n: f"hat{n}", lambda doc: f"{doc}.html", 'doc_id="remove_suffix:.html"'),
        (str, lambda doc: f"doc_{doc}", 'doc_id="remove_prefix:doc_"'),
        (str, lambda doc: f"doc{doc}", 'doc_id="remove_prefix:doc"'),
        (lambda n: f"hat{n}", lambda doc: f"{doc.upper()}#7", 'doc_id=["lower", "before:#"]'),
        (lambda n: f"doc-{n}", lambda doc: f"{doc}-3", "map the ids with doc_id="),
        (lambda n: f"x{n}", lambda doc: f"y{doc}", "map the ids with doc_id="),
        (
            lambda n: f"a page {n}",
            lambda doc: doc.upper().replace(" ", "%20"),
            'doc_id=["unquote", "lower"]',
        ),
    )
    for judged, ranked, advice in cases:
        golden = golden_set(doc_id=judged)
        evaluation = measured(run_with_ids(golden, ranked), golden)
        unmet = evaluation.source.unmet_ids
        assert unmet is not None
        assert advice in unmet.lines[-1]
        assert [line.count(",") for line in unmet.lines[1:3]] == [2, 2]
        with pytest.raises(RunError, match="no ranked document is judged in any of the 6 queries"):
            assert_at_least(evaluation, "RR", 0.0)


def test_the_message() -> None:
    golden = golden_set(doc_id=lambda number: f"red-hat{number}")
    run = run_with_ids(golden, str.upper)
    with pytest.warns(MetricWarning) as warned:
        evaluation = evaluate(run, golden)
    assert str(warned[0].message) == (
        "run 'run' on golden set 'shop': no ranked document is judged in any of the 6 queries with a "
        "relevant judgment\n"
        "  judged: red-hat1, red-hat2, red-hat3\n"
        "  ranked: RED-HAT1, RED-HAT2, RED-HAT3\n"
        '  The ids differ only in case. To match them, set rankcheck_doc_id = ["lower"], or give '
        'doc_id="lower" to both the golden set and the run'
    )
    assert warned[0].filename == __file__
    assert len(warned) == 1
    assert evaluation.mean("RR") == 0


def test_all_assertions_refuse_it_and_both_sides_of_a_comparison_count() -> None:
    golden = golden_set()
    unmet = measured(run_with_ids(golden, str.upper), golden)
    fine = evaluate(run_with_ids(golden, str), golden)
    checks: tuple[Callable[[], None], ...] = (
        lambda: assert_at_least(unmet, "RR", 0.0),
        lambda: assert_at_least(unmet, {"RR": 0.0, "AP": 0.0}),
        lambda: assert_at_most(unmet, "RR", 1.0),
        lambda: assert_not_regressed(unmet, unmet, "RR"),
        lambda: assert_not_regressed(fine, unmet, "RR"),
    )
    for check in checks:
        with pytest.raises(RunError, match=r'doc_id="lower"'):
            check()
    assert_not_regressed(fine, fine, "RR")


def test_ids_are_escaped() -> None:
    golden = golden_set(doc_id=lambda number: f"\x1b[2J{number}")
    unmet = measured(run_with_ids(golden, lambda doc: f"\x1b{doc}"), golden).source.unmet_ids
    assert unmet is not None
    assert "\x1b" not in "".join(unmet.lines)
    assert "\\x1b[2J1" in unmet.lines[1]


# --- how many queries ----------------------------------------------------------------------------


def test_fewer_than_five_queries_are_warned_of_only_with_a_rule() -> None:
    golden = golden_set(queries=4)
    with pytest.warns(MetricWarning, match=r'doc_id="lower"'):
        evaluation = evaluate(run_with_ids(golden, str.upper), golden)
    assert_at_most(evaluation, "RR", 0.5)
    evaluation = evaluate(run_with_ids(golden, lambda doc: f"{hash(doc)}"), golden)
    assert evaluation.source.unmet_ids is None, "a ranker may miss the documents of four queries"


def test_queries_without_a_relevant_judgment_do_not_count() -> None:
    judged = {f"q{number}": {f"doc{number}": int(number < 4)} for number in range(10)}
    golden = GoldenSet.from_dict(judged)
    assert evaluate(Run.from_dict({"q1": ["x"], "q9": ["y"]}), golden).source.unmet_ids is None
    golden = GoldenSet.from_dict({**judged, "q4": {"doc4": 1}})
    unmet = measured(Run.from_dict({"q1": ["x"], "q9": ["y"]}), golden).source.unmet_ids
    assert unmet is not None
    assert "any of the 5 queries" in unmet.lines[0]
    assert unmet.is_error


def test_one_judged_document_is_enough_below_fifty_queries() -> None:
    golden = golden_set(queries=49)
    run = Run.from_dict({f"q{number}": ["x"] for number in range(2, 50)} | {"q1": ["blue-scarf.1"]})
    assert evaluate(run, golden).source.unmet_ids is None


def test_below_one_percent_is_a_warning() -> None:
    for queries, meeting, warns in (
        (100, 1, False),
        (101, 1, True),
        (202, 2, True),
        (200, 2, False),
    ):
        golden = golden_set(queries=queries)
        rankings = {
            query.id: list(golden.grades(query.id)) if place < meeting else ["x"]
            for place, query in enumerate(golden)
        }
        evaluation = measured(Run.from_dict(rankings), golden)
        unmet = evaluation.source.unmet_ids
        assert (unmet is not None) == warns
        if unmet is not None:
            assert f"only {meeting}" in unmet.lines[0]
            assert not unmet.is_error
            assert_at_least(evaluation, "RR", 0.0)


# --- every source of a run -----------------------------------------------------------------------


@pytest.mark.parametrize("ending", forms("run", "parquet", "csv", "jsonl"))
@pytest.mark.parametrize("read", [Run.load, Run.scan])
def test_runs_of_files(ending: str, read: Callable[[Path], Run], tmp_path: Path) -> None:
    golden = golden_set()
    path = tmp_path / f"bm25.{ending}"
    run_with_ids(golden, str.upper).save(path, "trec" if ending == "run" else ending)
    run = read(path)
    was_in_memory = run.is_in_memory
    unmet = measured(run, golden).source.unmet_ids
    assert unmet is not None
    assert 'doc_id="lower"' in unmet.lines[-1]
    assert run.is_in_memory == was_in_memory, "the sample comes from the tops that are kept"
    assert measured(read(path).top(1), golden).source.unmet_ids is not None
    run_with_ids(golden, str).save(path, "trec" if ending == "run" else ending)
    assert measured(read(path), golden).source.unmet_ids is None


# --- the search for a rule -----------------------------------------------------------------------


def test_query_ids_that_never_meet() -> None:
    golden = golden_set()
    run = Run.from_dict({query_id.upper(): ["a"] for query_id in golden.query_ids})
    with pytest.raises(RunError, match=r"share no query: the run has Q1, .*, the golden set q1, "):
        evaluate(run, golden)


# --- right ids, bad ranker -----------------------------------------------------------------------


def test_documents_with_expectations_have_the_right_ids(tmp_path: Path) -> None:
    path = tmp_path / "shop.jsonl"
    expect = '"expect": [{"in_top": 1, "documents": ["e"]}]'
    path.write_text(
        "".join(f'{{"query_id": "q{n}", "relevance": {{"d{n}": 1}}, {expect}}}\n' for n in range(5))
    )
    golden = GoldenSet.load(path)
    run = Run.from_dict({f"q{number}": ["e"] for number in range(5)})
    assert_expectations(run, golden)
    with pytest.warns(MetricWarning, match="from expectations"):
        evaluation = evaluate(run, golden)
    assert_at_least(evaluation, "RR", 0.0)
    other = [Expectation.in_top(1, "f", query="q1")]
    with pytest.raises(RunError, match="no ranked document is judged"):
        assert_expectations(Run.from_dict({f"q{n}": ["g"] for n in range(5)}), golden, other)
    assert_expectations(Run.from_dict({f"q{n}": ["f"] for n in range(5)}), golden, other)


def test_the_candidates_of_the_golden_set_have_the_right_ids() -> None:
    rows = [
        (f"q{number}", f"{doc}{number}", grade, 1, feature)
        for number in range(6)
        for doc, grade, feature in (("a", 1, 1), ("b", None, 5), ("c", None, 6))
    ]
    columns = ["query_id", "doc_id", "relevance", "candidate", "price"]
    golden = GoldenSet.from_frame(pd.DataFrame(rows, columns=columns))
    run = Run.from_dict({f"q{number}": [f"c{number}", f"b{number}"] for number in range(6)})
    evaluation = measured(run, golden)
    assert evaluation.source.unmet_ids is not None
    assert "the ids are right" in evaluation.source.unmet_ids.lines[-1]
    assert_at_least(evaluation, "RR", 0.0)


def test_documents_of_other_queries_have_the_right_ids_though_their_beginnings_are_judged() -> None:
    """``before:-`` would make the ids meet, but both are documents of the golden set."""
    slugs = {f"q{n}": {f"shoe{n}": 1} for n in range(6)} | {
        "all": {f"shoe{n}-red": 1 for n in range(6)}
    }
    golden = GoldenSet.from_dict(slugs)
    run = Run.from_dict({f"q{n}": [f"shoe{n}-red"] for n in range(6)} | {"all": ["x"]})
    unmet = measured(run, golden).source.unmet_ids
    assert unmet is not None
    assert "judged for other queries" in unmet.lines[-1]
    assert not unmet.is_error


# --- assertions about behaviour ------------------------------------------------------------------


def test_a_perturbation_cannot_move_a_metric_without_a_judged_document() -> None:
    texts = {f"q{number}": f"text {number}" for number in range(6)}
    golden = GoldenSet.from_dict({query_id: {"red-hat": 1} for query_id in texts}, texts)

    def other_ids(text: str) -> list[str]:
        return ["RED-HAT"]

    with pytest.raises(RunError, match=r'doc_id="lower"'):
        assert_invariant(other_ids, golden, str.upper, max_drop=0.1)
    with pytest.raises(RunError, match=r'doc_id="lower"'):
        assert_invariant(
            lambda text: ["RED-HAT", "RED-HAT"],
            golden,
            str.upper,
            max_drop=0.1,
            duplicates="keep_places",
        )
    assert_invariant(other_ids, golden, str.upper, min_rbo=1.0)


def test_an_expectation_that_a_document_is_absent_needs_ids_that_meet() -> None:
    golden = golden_set()
    absent = [Expectation.not_in_top(3, "red-hat.0", query="q1")]
    with pytest.raises(RunError, match=r'doc_id="lower"'):
        assert_expectations(run_with_ids(golden, str.upper), golden, absent)
    assert_expectations(run_with_ids(golden, str), golden, absent)
    unjudged = GoldenSet.from_dict({f"q{number}": {} for number in range(1, 7)})
    assert_expectations(run_with_ids(golden, str.upper), unjudged, absent)
