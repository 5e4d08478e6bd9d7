"""Lint rules that see a run: a reversed scale and stale documents, on real sets and by hand."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping

import numpy as np
import pytest

from pytest_rankcheck import ConfigurationError, GoldenSet, Run
from pytest_rankcheck.golden.lint.lint_options import Level, LintOptions
from pytest_rankcheck.golden.lint.linter import unchecked_in
from pytest_rankcheck.golden.lint.ranked_judgments import RankedJudgments
from pytest_rankcheck.golden.lint.run_rules import Agreement
from tests import reference
from tests.golden.test_lint import finding

INF, NAN = math.inf, math.nan


def agreement(ranks: list[float], grades: list[float], *starts: int) -> Agreement:
    bounds = [0, *starts, len(ranks)]
    return Agreement.of(np.array(ranks), np.array(grades, dtype=float), bounds)


# --- tau, by hand ------------------------------------------------------------------------------


def test_tau_b_with_equal_grades_by_hand() -> None:
    """Ranks 1, 2, 3 and grades 1, 1, 0: of 3 pairs, 2 agree and 1 has equal grades.

    tau-b = (2 - 0) / sqrt((3 - 0) (3 - 1)) = 2 / sqrt(6).
    """
    found = agreement([1, 2, 3], [1, 1, 0])
    assert math.isclose(found.tau, 2 / math.sqrt(6))


def test_documents_that_are_not_ranked_are_tied_below_all_others_by_hand() -> None:
    """Ranks 1, -, - and grades 0, 2, 1: pairs 1-2 and 1-3 disagree, 2-3 is tied in rank.

    tau-b = (0 - 2) / sqrt((3 - 1) (3 - 0)) = -2 / sqrt(6). Without the grade of the second
    document, there is one pair, which disagrees: -1.
    """
    assert math.isclose(agreement([1, INF, INF], [0, 2, 1]).tau, -2 / math.sqrt(6))
    assert agreement([1, INF, INF], [0, NAN, 1]).tau == -1


def test_the_mean_over_queries_and_its_standard_error_by_hand() -> None:
    """Two documents a query. Taus 1, 1, 1, -1: mean 0.5; deviations 0.5, 0.5, 0.5, -1.5.

    The variance is (0.25 * 3 + 2.25) / 3 = 1, the standard error 1 / sqrt(4) = 0.5: 1 error. The
    last query has one grade, so no tau.
    """
    ranks, grades = [1, 2] * 5, [1, 0, 1, 0, 1, 0, 0, 1, 1, 1]
    found = agreement([*map(float, ranks)], [*map(float, grades)], 2, 4, 6, 8)
    assert found == Agreement(0.5, 1.0, 4)
    nothing = agreement([1], [1])
    assert nothing.queries == 0
    assert math.isnan(nothing.tau)


def test_the_ranks_of_judged_documents_in_a_run() -> None:
    golden = GoldenSet.from_dict({"q": {"a": 2, "b": 1, "c": 0}, "r": {"a": 1}, "s": {"d": 1}})
    run = Run.from_dict({"q": {"x": 3.0, "b": 2.0, "a": 2.0}, "r": ["y", "a"]}, name="new")
    ranked = RankedJudgments.of(run, golden._contents.judgments)
    # b and a have the same score, so they share rank 2; c is not ranked; s is not in the run.
    np.testing.assert_array_equal(ranked.ranks, [2, 2, INF, 2, NAN])
    assert (ranked.name, ranked.depth) == ("new", 3)
    assert ranked.within(2) == {"a", "b"}
    assert ranked.within(1) == set()
    repeated = Run.from_dict({"r": ["a", "y", "a"]}, duplicates="keep_places")
    assert RankedJudgments.of(repeated, golden._contents.judgments).ranks[3] == 1
    declared = Run.from_dict({"r": ["a"]}, depth=1000)
    assert RankedJudgments.of(declared, golden._contents.judgments).depth == 1000


# --- inverted-scale ----------------------------------------------------------------------------

CLEAN = {1: 4, 2: 3, 3: 2, 4: 1}
"""The Cranfield codes, without those of the notes (-1)."""


def cranfield(grades: Mapping[float, float]) -> GoldenSet:
    """Return the Cranfield judgments with these codes, mapped."""
    raw = GoldenSet.load(reference.data("cranfield/cran.qrels"))
    return GoldenSet.from_dict(
        {
            query_id: {
                doc_id: grades[code]
                for doc_id, code in raw.grades(query_id).items()
                if code in grades
            }
            for query_id in raw.query_ids
        }
    )


@pytest.mark.parametrize(
    ("grades", "written"),
    [
        ({code: code for code in (-1, 1, 2, 3, 4)}, "grades={-1: 0, 1: 4, 2: 3, 3: 2, 4: 1}"),
        ({code: code for code in (1, 2, 3, 4)}, "grades={1: 4, 2: 3, 3: 2, 4: 1}"),
        ({code: code - 1 for code in (1, 2, 3, 4)}, "grades={0: 3, 1: 2, 2: 1, 3: 0}"),
    ],
    ids=["raw", "without notes", "from 0"],
)
def test_the_reversed_codes_of_cranfield_are_found(
    grades: dict[float, float], written: str
) -> None:
    run = Run.load(reference.data("cranfield/bm25s.run"))
    found = finding(cranfield(grades), "inverted-scale", run=run)
    assert found is not None
    assert f"; with {written} it is +0.12, +3.3 standard errors" in found.what
    assert written in found.remedy
    assert "without the negative codes" in found.what or -1 not in grades
    # The very map that it names turns it: with it there is no finding.
    assert finding(cranfield(CLEAN), "inverted-scale", run=run) is None


def test_a_code_out_of_place_is_not_a_reversed_scale() -> None:
    """Cranfield's notes are what BM25 finds first; with grade 0 they alone make tau negative."""
    run = Run.load(reference.data("cranfield/bm25s.run"))
    golden = cranfield({-1: 0, **CLEAN})
    judgments = golden._contents.judgments
    ranked = RankedJudgments.of(run, judgments)
    whole = Agreement.of(ranked.ranks, judgments.grades, judgments.starts.tolist())
    assert whole.errors < -4
    assert finding(golden, "inverted-scale", run=run) is None


@pytest.mark.parametrize(
    ("judged", "ranked"),
    [
        ("trec_eval/qrels.test", "trec_eval/results.test"),
        ("trec-session-2013/graded.qrels.gz", "trec-session-2013/shown.run"),
        ("trec-session-2013/clicks.qrels", "trec-session-2013/shown.run"),
        ("lightgbm-lambdarank/rank.test.qrels", "lightgbm-lambdarank/rank.test.lgbm.run"),
    ],
)
def test_clean_sets_have_no_finding_with_a_run(judged: str, ranked: str) -> None:
    golden = GoldenSet.load(reference.data(judged))
    run = Run.load(reference.data(ranked))
    assert golden.lint(run=run, rules=["inverted-scale", "stale-document"]) == []


def toy(queries: int, *, is_reversed: bool, rate: float = 1.0) -> tuple[GoldenSet, Run]:
    """Return queries with three grades; a share of them is ranked by grade or against it."""
    generator = random.Random(5)
    judged, ranked = {}, {}
    for number in range(queries):
        judged[f"q{number}"] = {f"d{grade}": grade for grade in range(3)}
        ids = ["d0", "d1", "d2"] if is_reversed else ["d2", "d1", "d0"]
        if generator.random() >= rate:
            generator.shuffle(ids)
        ranked[f"q{number}"] = ids
    return GoldenSet.from_dict(judged), Run.from_dict(ranked)


def test_a_reversed_scale_needs_enough_queries_and_a_clear_sign() -> None:
    for queries, is_found in ((9, False), (10, True)):
        golden, run = toy(queries, is_reversed=True)
        assert (finding(golden, "inverted-scale", run=run) is not None) == is_found
    for rate, is_found in ((0.5, True), (0.0, False)):
        golden, run = toy(200, is_reversed=True, rate=rate)
        assert (finding(golden, "inverted-scale", run=run) is not None) == is_found
    golden, run = toy(10, is_reversed=True)
    found = finding(golden, "inverted-scale", run=run)
    assert found is not None
    assert found.what.endswith(
        "Kendall's tau between ranking and grades is -1.00 on average over 10 queries; with "
        "grades={0: 2, 1: 1, 2: 0} it is +1.00"
    )
    golden, run = toy(200, is_reversed=False)
    assert finding(golden, "inverted-scale", run=run) is None
    assert finding(golden, "inverted-scale") is None  # no run


def test_binary_grades_can_be_reversed_too() -> None:
    golden = GoldenSet.from_dict({f"q{n}": {"a": 1, "b": 0, "c": 0} for n in range(30)})
    run = Run.from_dict({f"q{n}": ["b", "c", "a"] for n in range(30)})
    found = finding(golden, "inverted-scale", run=run)
    assert found is not None
    assert "grades={0: 1, 1: 0}" in found.remedy


def test_codes_that_no_reversed_scale_turns() -> None:
    """With the negative code alone reversed, there is no map to advise."""
    judged = {f"q{n}": {"a": -2, "b": -1, "c": 1} for n in range(30)}
    run = Run.from_dict({f"q{n}": ["a", "b", "c"] for n in range(30)})
    found = finding(GoldenSet.from_dict(judged), "inverted-scale", run=run)
    assert found is not None
    assert found.remedy == "read what the codes mean, and map them with grades="


@pytest.mark.slow
def test_a_random_ranker_is_not_a_reversed_scale() -> None:
    """Of 300 random rankings of 40 queries with 12 documents, at most 2 are reported."""
    generator = np.random.default_rng(3)
    reported = 0
    for _ in range(300):
        judged = {
            f"q{n}": {f"d{i}": int(g) for i, g in enumerate(generator.integers(0, 3, 12))}
            for n in range(40)
        }
        run = Run.from_dict(
            {f"q{n}": [f"d{i}" for i in generator.permutation(12)[:8]] for n in range(40)}
        )
        reported += bool(GoldenSet.from_dict(judged).lint(run=run, rules=["inverted-scale"]))
    assert reported <= 2


# --- stale-document ----------------------------------------------------------------------------


def deep(found: int, missing: int, depth: int | None = 1000) -> tuple[GoldenSet, Run]:
    """Return queries with a relevant document each; some are found at the last rank, some never."""
    judged = {f"q{n}": {f"d{n}": 1, "x": 0} for n in range(found + missing)}
    ranked = {
        f"q{n}": [*(f"other{i}" for i in range(999)), f"d{n}" if n < found else "other999"]
        for n in range(found + missing)
    }
    return GoldenSet.from_dict(judged), Run.from_dict(ranked, depth=depth, name="deep.run")


def test_relevant_documents_that_no_query_finds() -> None:
    golden, run = deep(20, 10)
    found = finding(golden, "stale-document", run=run)
    assert found is not None
    assert found.what.startswith(
        "run 'deep.run' has 10 of 30 relevant documents (33%) in no top 1,000 of a query that "
        "judges them: d20, d21, d22, d23, d24 and 5 more"
    )
    assert found.query_ids == tuple(f"q{n}" for n in range(20, 30))
    assert finding(*deep(24, 6)[:1], "stale-document", run=deep(24, 6)[1]) is None  # 20%
    assert finding(deep(23, 7)[0], "stale-document", run=deep(23, 7)[1]) is not None
    assert finding(deep(0, 19)[0], "stale-document", run=deep(0, 19)[1]) is None  # too few


def test_a_document_that_one_of_its_queries_finds_is_not_stale() -> None:
    judged = {f"q{n}": {f"d{n // 2}": 1} for n in range(60)}
    ranked = {f"q{n}": [f"d{n // 2}" if n % 2 else "x"] for n in range(60)}
    golden, run = GoldenSet.from_dict(judged), Run.from_dict(ranked, depth=1000)
    assert finding(golden, "stale-document", run=run) is None
    without = Run.from_dict({f"q{n}": ["x"] for n in range(60)}, depth=1000)
    assert finding(golden, "stale-document", run=without) is not None


def test_a_shallow_run_says_nothing_about_stale_documents() -> None:
    golden, run = deep(10, 20, depth=None)
    assert finding(golden, "stale-document", run=run) is not None  # 1,000 documents a query
    assert unchecked_in(golden, LintOptions(), run=run) == ""
    shallow = run.top(999)
    assert finding(golden, "stale-document", run=shallow) is None
    assert unchecked_in(golden, LintOptions(), run=shallow) == (
        "not checked: stale-document (run 'deep.run' has 999 documents a query, not 1,000)"
    )


def test_with_a_corpus_documents_are_looked_up_instead() -> None:
    golden, run = deep(20, 10)
    corpus = [f"d{n}" for n in range(30)] + ["x"]
    assert finding(golden, "stale-document", run=run, corpus=corpus) is None
    assert unchecked_in(golden, LintOptions(), run=run.top(10), corpus=corpus) == ""
    assert unchecked_in(golden, LintOptions(), corpus=corpus) == (
        "not checked: inverted-scale (no run is given)"
    )


def test_rules_that_are_not_checked_are_named() -> None:
    golden, run = toy(3, is_reversed=True)
    assert unchecked_in(golden, LintOptions()) == (
        "not checked: inverted-scale, stale-document (no run is given)"
    )
    one: dict[str, Level] = {"inverted-scale": "ignore"}
    assert unchecked_in(golden, LintOptions(levels=one)) == (
        "not checked: stale-document (no run is given)"
    )
    both: dict[str, Level] = {**one, "stale-document": "ignore"}
    assert unchecked_in(golden, LintOptions(levels=both)) == ""
    other = GoldenSet.from_dict({"unknown": {"d0": 1}})
    assert "has none of the queries" in unchecked_in(other, LintOptions(), run=run)
    assert finding(GoldenSet.from_dict({"unknown": {"d": 1}}), "stale-document", run=run) is None


def test_a_path_is_not_a_run() -> None:
    golden, _ = toy(3, is_reversed=True)
    with pytest.raises(ConfigurationError, match=r"run.*Run\.load\(path\)"):
        golden.lint(run="bm25.run")  # type: ignore[arg-type]
