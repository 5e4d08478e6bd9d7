"""The linter: each rule finds what it is for, says where, and is silent if nothing is wrong."""

from __future__ import annotations

import math
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_rankcheck import GoldenSet, GoldenSetError, LintFinding, Metric, Run, evaluate
from pytest_rankcheck.golden.lint.lint_options import LintOptions
from pytest_rankcheck.golden.lint.linter import all_rules, findings_of
from pytest_rankcheck.golden.lint.metric_spreads import MEASURED, spread_for
from tests import reference
from tests.examples import examples

NAMES = [rule.name for rule in all_rules()]


def finding(golden: GoldenSet, rule: str, **options: object) -> LintFinding | None:
    """Return the finding of a rule, after checking that it is complete."""
    found = golden.lint(rules=[rule], **options)  # type: ignore[arg-type]
    assert len(found) <= 1
    for one in found:
        assert one.rule == rule
        assert one.what
        assert one.why
        assert one.remedy
        assert one.message.startswith(f"{one.what}. {one.why}; {one.remedy}")
    return found[0] if found else None


def good_set(count: int = 40) -> GoldenSet:
    return GoldenSet.from_dict(
        {f"q{n}": {f"d{n}": 2, f"e{n}": 1, f"x{n}": 0} for n in range(count)},
        {f"q{n}": f"text number {n}" for n in range(count)},
        attributes={f"q{n}": {"locale": "de", "note": f"only {n}"} for n in range(count)},
    )


def test_a_good_set_has_no_findings() -> None:
    assert good_set().lint(scale=(0, 3), tolerance=0.05) == []


def test_every_rule_has_a_name_a_level_and_a_description() -> None:
    assert len(set(NAMES)) == len(NAMES)
    for rule in all_rules():
        assert rule.level in ("error", "warning")
        assert rule.summary.endswith(".")


def loaded(tmp_path: Path, text: str, **options: object) -> GoldenSet:
    (tmp_path / "web.qrels").write_text(text)
    return GoldenSet.load(tmp_path / "web.qrels", **options)  # type: ignore[arg-type]


# --- grades ------------------------------------------------------------------------------------

CRANFIELD = {-1: 225, 1: 128, 2: 387, 3: 734, 4: 363}
"""How often each code of the Cranfield collection occurs; 1 is the best."""


def with_grades(counts: dict[float, int]) -> GoldenSet:
    """Return a set in which each grade occurs as often as given, over ten queries."""
    grades = [grade for grade, count in counts.items() for _ in range(count)]
    return GoldenSet.from_dict(
        {f"q{n}": {f"d{i}": grade for i, grade in enumerate(grades[n::10])} for n in range(10)}
    )


def test_negative_grades_are_found(tmp_path: Path) -> None:
    golden = loaded(tmp_path, "q 0 a 2\nq 0 b 0\nr 0 c 1\nr 0 d -1\nr 0 e -2\n")
    found = finding(golden, "negative-grade")
    assert found is not None
    assert found.query_ids == ("r",)
    assert found.what == "2 grades are negative: document 'd' of query 'r' has -1"
    assert [place.rpartition("/")[2] for place in found.places] == ["web.qrels:4", "web.qrels:5"]
    assert "grades={-2: 0, -1: 0, 0: 0, 1: 1, 2: 2}" in found.remedy
    assert finding(golden, "negative-grade", scale=(-2, 3)) is None
    assert finding(golden, "negative-grade", scale=(-1, 3)).query_ids == ("r",)  # type: ignore[union-attr]
    same = {-2: -2, -1: -1, 0: 0, 1: 1, 2: 2}
    assert finding(loaded(tmp_path, "q 0 a -1\n", grades=same), "negative-grade") is None
    assert finding(loaded(tmp_path, "q 0 a 0\n"), "negative-grade") is None


def test_reversed_grades_are_found() -> None:
    found = finding(with_grades(CRANFIELD), "reversed-grades")
    assert found is not None
    assert found.what.startswith(
        "no grade is 0, and the lowest positive grade is the rarest: -1 (225), 1 (128), 2 (387), "
        "3 (734), 4 (363); document 'd"
    )
    assert "grades={-1: 0, 1: 4, 2: 3, 3: 2, 4: 1} if 1 is the best" in found.remedy
    negative = finding(with_grades(CRANFIELD), "negative-grade")
    assert negative is not None
    assert "grades={-1: 0, 1: 4, 2: 3, 3: 2, 4: 1}" in negative.remedy  # the same advice


def test_the_cranfield_collection_is_found_until_its_codes_are_mapped() -> None:
    file = reference.data("cranfield/cran.qrels")
    found = finding(GoldenSet.load(file), "reversed-grades")
    assert found is not None
    assert found.places == (f"{file}:30",)
    mapped = GoldenSet.load(file, grades={-1: 0, 1: 4, 2: 3, 3: 2, 4: 1})
    for rule in ("reversed-grades", "negative-grade"):
        assert finding(mapped, rule) is None


@pytest.mark.parametrize(
    ("counts", "is_found"),
    [
        ({1: 5, 2: 10, 3: 30}, True),
        ({1: 5, 2: 4, 3: 30}, False),
        ({1: 5, 2: 5, 3: 30}, False),
        ({1: 30, 2: 10, 3: 5}, False),  # the best are few, as usual
        ({0: 1, 1: 5, 2: 10, 3: 30}, False),  # 0 is not relevant
        ({-1: 5, 1: 5, 2: 30}, True),
        ({1: 5, 2: 30}, False),
        ({1: 60}, False),
        ({-1: 60}, False),
        ({1: 1, 2: 2, 3: 3}, False),  # too few to say
        ({0.1: 5, 0.5: 10, 1.0: 30}, False),  # no codes
        ({grade: grade * 3 for grade in range(1, 15)}, False),
    ],
)
def test_usual_grades_do_not_look_reversed(counts: dict[float, int], is_found: bool) -> None:
    assert (finding(with_grades(counts), "reversed-grades") is not None) == is_found


@pytest.mark.parametrize(
    "name",
    [
        "trec_eval/qrels.test",
        "trec_eval/qrels.rel_level",
        "trec_eval/qrels-302.test",
        "trec-session-2013/clicks.qrels",
        "trec-session-2013/graded.qrels.gz",
        "lightgbm-lambdarank/rank.train",
        "lightgbm-lambdarank/rank.test",
    ],
)
def test_no_other_collection_looks_reversed_or_mixed(name: str) -> None:
    golden = GoldenSet.load(reference.data(name))
    for rule in ("reversed-grades", "mixed-column"):
        assert finding(golden, rule) is None


# --- columns -----------------------------------------------------------------------------------


def test_a_column_that_may_be_an_attribute_with_a_wrong_cell(tmp_path: Path) -> None:
    locales = [["de", "de"], ["en", "en"], ["fr", "fr"], ["de", "dd"], ["en", "en"]]
    rows = [
        f"q{query},d{place},1,{locale},{place}.5"
        for query, of_query in enumerate(locales)
        for place, locale in enumerate(of_query)
    ]
    file = tmp_path / "a.csv"
    file.write_text("\n".join(["query_id,doc_id,relevance,locale,price", *rows]) + "\n")
    golden = GoldenSet.load(file)
    assert golden.attributes == ()
    found = finding(golden, "mixed-column")
    assert found is not None
    assert found.query_ids == ("q3",)
    assert found.what == (
        "1 column varies in few queries only: 'locale' has one value in 4 of 5 queries, but in "
        "query 'q3' 'de' for document 'd0' and 'dd' for document 'd1'"
    )
    assert found.places == (f"{file}:8",)
    assert finding(GoldenSet.load(file, attributes=[]), "mixed-column") is None
    file.write_text(file.read_text().replace("dd", "de"))
    assert finding(GoldenSet.load(file), "mixed-column") is None


# --- judgments ---------------------------------------------------------------------------------


def test_a_duplicate_judgment(tmp_path: Path) -> None:
    golden = loaded(tmp_path, "q 0 d 1\nr 0 d 1\nq 0 d 1\nq 0 e 0\nq 0 e 0\n")
    found = finding(golden, "repeated-judgment")
    assert found is not None
    assert found.level == "warning"
    assert found.query_ids == ("q",)
    assert found.what == "2 duplicate judgments: document 'd' of query 'q', again"
    assert [place.rpartition(":")[2] for place in found.places] == ["3", "5"]
    assert "web.qrels:3" in found.message
    assert finding(golden.subset(["r"]), "repeated-judgment") is None
    assert finding(golden, "contradictory-judgment") is None


def test_contradictory_grades(tmp_path: Path) -> None:
    golden = loaded(tmp_path, "q 0 d 1\nq 0 d 2\n", contradictions="first")
    found = finding(golden, "contradictory-judgment")
    assert found is not None
    assert found.level == "error"
    assert found.what.endswith("document 'd' of query 'q', 1 and 2")
    assert found.places[0].endswith("web.qrels:2")
    assert finding(golden, "repeated-judgment") is None


def test_a_grade_off_the_scale(tmp_path: Path) -> None:
    golden = loaded(tmp_path, "q 0 a 1\nq 0 b 9\nr 0 a -1\nr 0 b 3\n")
    found = finding(golden, "grade-off-scale", scale=(0, 3))
    assert found is not None
    assert found.level == "error"
    assert found.query_ids == ("q", "r")
    assert "2 grades are not between 0 and 3: document 'b' of query 'q' has 9" in found.what
    assert [place.rpartition(":")[2] for place in found.places] == ["2", "3"]
    assert finding(golden, "grade-off-scale", scale=(-1, 9)) is None
    assert finding(golden, "grade-off-scale") is None


def test_queries_that_cannot_score_and_queries_that_cannot_fail(tmp_path: Path) -> None:
    (tmp_path / "web.jsonl").write_text(
        '{"query_id": "bare"}\n\n{"query_id": "zero", "relevance": {"a": 0, "b": -1}}\n'
        '{"query_id": "all", "relevance": {"a": 1, "b": 2}}\n'
        '{"query_id": "one", "relevance": {"a": 1}}\n'
        '{"query_id": "good", "relevance": {"a": 1, "b": 0}}\n'
    )
    golden = GoldenSet.load(tmp_path / "web.jsonl")
    for rule, level, query_id, line in (
        ("no-judgment", "error", "bare", 1),
        ("no-relevant", "warning", "zero", 3),
        ("only-relevant", "warning", "all", 4),
    ):
        found = finding(golden, rule)
        assert found is not None
        assert (found.level, found.query_ids) == (level, (query_id,))
        assert found.places == (f"{tmp_path / 'web.jsonl'}:{line}",)
        assert finding(golden.subset(["good", "one"]), rule) is None


def test_one_grade() -> None:
    found = finding(GoldenSet.from_dict({"q": {"a": 1}, "r": {"b": 1, "c": 1}}), "one-grade")
    assert found is not None
    assert found.what == "all judgments have the grade 1"
    assert finding(GoldenSet.from_dict({"q": {"a": 1, "b": 0}}), "one-grade") is None


# --- texts -------------------------------------------------------------------------------------

TWINS = GoldenSet.from_dict(
    {"a": {"x": 1}, "b": {"y": 1}, "c": {"z": 1, "n": 0}, "d": {"w": 1}},
    {"a": "caf\u00e9", "b": "cafe\u0301", "c": "tea", "d": "Tea!"},
)


def test_duplicate_queries_whose_judgments_differ() -> None:
    found = finding(TWINS, "duplicate-query")
    assert found is not None
    assert found.query_ids == ("a", "b")
    assert "1 group of queries with the same text" in found.what
    textless = GoldenSet.from_dict({"a": {"x": 1}, "b": {"y": 1}})
    assert finding(textless, "duplicate-query") is None


def test_near_duplicates_have_the_same_words() -> None:
    found = finding(TWINS, "near-duplicate-query")
    assert found is not None
    assert found.query_ids == ("c", "d")
    golden = GoldenSet.from_dict(
        {"a": {"x": 1}, "b": {"y": 1}, "c": {"z": 1}, "d": {"!": 1}, "e": {"?": 1}},
        {"a": "red shoes", "b": "Shoes, RED", "c": "red shoe", "d": "!!", "e": "??"},
    )
    found = finding(golden, "near-duplicate-query")
    assert found is None  # another order


def test_the_ceiling_of_identical_queries_with_different_single_answers() -> None:
    """One ranking for both: x, y. a scores 1; b scores 1/log2(3) = 0.63093. Mean 0.815465."""
    pair = TWINS.subset(["a", "b"])
    assert math.isclose(pair.ceiling(), (1 + 1 / math.log2(3)) / 2)
    found = finding(TWINS, "ceiling")
    assert found is not None
    assert len(found.query_ids) == 1
    assert "a perfect ranker reaches nDCG@10 of 0.9077 on this set" in found.what  # (0.815 + 1) / 2
    assert finding(TWINS.subset(["a", "c", "d"]), "ceiling") is None
    hopeless = GoldenSet.from_dict({"q": {"d": 1}, "r": {"d": 0}, "s": {}, "t": {"d": 2}})
    assert hopeless.ceiling() == 0.5


def test_the_ceiling_of_more_identical_queries_than_are_computed_at_once() -> None:
    """700 times the pair above, and a group of three that reaches 1, 0.63093 and 0.5: 1/log2(4)."""
    pairs = {f"{n}{side}": {f"{n}{side}": 1} for n in range(700) for side in "ab"}
    three = {name: {name: 1} for name in "xyz"}
    texts = {query_id: query_id.rstrip("ab") for query_id in pairs} | dict.fromkeys("xyz", "text")
    golden = GoldenSet.from_dict({**pairs, **three}, texts)
    total = 700 * (1 + 1 / math.log2(3)) + 1 + 1 / math.log2(3) + 1 / math.log2(4)
    assert math.isclose(golden.ceiling(), total / 1403)
    found = finding(golden, "ceiling")
    assert found is not None
    assert len(found.query_ids) == 702


def test_queries_with_candidates_of_their_own_are_not_the_same(tmp_path: Path) -> None:
    file = tmp_path / "set.csv"
    file.write_text(
        "query_id,query,doc_id,grade,f\n1,tea,a,1,1\n1,tea,b,0,2\n2,Tea,c,1,3\n2,Tea,d,0,4\n"
    )
    golden = GoldenSet.load(file)
    assert golden.ceiling() == 1
    for rule in ("duplicate-query", "near-duplicate-query", "ceiling"):
        assert finding(golden, rule) is None


grades = st.dictionaries(st.sampled_from("uvwxyz"), st.integers(-1, 3), min_size=1, max_size=5)


@examples(60)
@given(judgments=st.lists(grades, min_size=1, max_size=3), cutoff=st.integers(1, 6))
def test_no_ranking_that_sees_the_text_alone_exceeds_the_ceiling(
    judgments: list, cutoff: int
) -> None:
    """Try all orders of the documents, each as the answer to every query."""
    from itertools import permutations

    golden = GoldenSet.from_dict(
        {f"q{n}": judged for n, judged in enumerate(judgments)},
        {f"q{n}": "the same" for n in range(len(judgments))},
    )
    docs = sorted({doc for judged in judgments for doc in judged})[:6]
    best = 0.0
    for order in permutations(docs, min(len(docs), 4)):
        ranked = [*order, *(doc for doc in docs if doc not in order)]
        run = Run.from_dict(dict.fromkeys(golden.query_ids, ranked))
        best = max(best, evaluate(run, golden).mean(f"nDCG@{cutoff}"))
    ceiling = golden.ceiling(cutoff)
    assert best <= ceiling + 1e-9
    if len(docs) <= 5 or cutoff <= 4:  # then the orders tried include the best one
        assert math.isclose(best, ceiling, abs_tol=1e-9)


# --- ids and sizes -----------------------------------------------------------------------------


@pytest.mark.parametrize("odd", ["a b", "a\t", "a\u00a0b", "a\u200bb", "a\x1b[2J", "\u202ea"])
def test_odd_ids(odd: str) -> None:
    for golden in (
        GoldenSet.from_dict({odd: {"d": 1}, "r": {"e": 1}}),
        GoldenSet.from_dict({"q": {odd: 1}, "r": {"e": 1}}),
    ):
        found = finding(golden, "odd-id")
        assert found is not None
        assert len(found.query_ids) == 1
        assert "1 id has white space or control characters" in found.what
        assert found.message.isprintable() or "\u00a0" in found.message
        assert finding(golden.subset(["r"]), "odd-id") is None


def test_a_text_that_is_the_id_of_its_query_is_not_odd() -> None:
    golden = GoldenSet.from_dict({"red shoes": {"d": 1}}, {"red shoes": "red shoes"})
    assert finding(golden, "odd-id") is None


@pytest.mark.parametrize(
    ("one", "other"), [("doc-A", "DOC-a"), ("caf\u00e9", "cafe\u0301"), ("①", "1"), ("Straße", "strasse")]
)  # fmt: skip
def test_ids_that_look_alike(one: str, other: str) -> None:
    golden = GoldenSet.from_dict({"q": {one: 1}, "r": {other: 1}, "s": {"third": 1}})
    found = finding(golden, "look-alike-id")
    assert found is not None
    assert found.query_ids == ("q", "r")
    of_same_name = GoldenSet.from_dict({one: {one: 1}, "r": {other: 1}})
    found = finding(of_same_name, "look-alike-id")
    assert found is not None
    assert found.query_ids == (one, "r")
    golden = GoldenSet.from_dict({one: {"d": 1}, other: {"e": 1}, "s": {"third": 1}})
    found = finding(golden, "look-alike-id")
    assert found is not None
    assert found.query_ids == (one, other)
    assert finding(golden.subset(["s"]), "look-alike-id") is None


def test_slices_too_small_to_gate() -> None:
    golden = GoldenSet.from_dict(
        {f"q{n}": {f"d{n}": 1} for n in range(50)},
        attributes={f"q{n}": {"locale": "de" if n < 45 else "fr", "id": n} for n in range(50)},
    )
    found = finding(golden, "small-slice")
    assert found is not None
    assert "1 slice has fewer than 30 queries: locale=fr (5)" in found.what
    assert found.query_ids == tuple(f"q{n}" for n in range(45, 50))
    assert finding(golden, "small-slice", min_queries=5) is None


def test_too_few_queries_for_the_tolerance() -> None:
    """nDCG@10: ((1.6449 + 0.8416) * 0.09 / 0.02)^2 = 125.2: 126 queries detect a fall of 0.02.

    With 0.04 instead of 0.09 it is 24.7, with 0.14 302.9. 125 queries detect 2.4865 * 0.09 /
    sqrt(125) = 0.0200, or 0.0089, or 0.0311.
    """
    assert finding(good_set(126), "few-queries", tolerance=0.02) is None
    found = finding(good_set(125), "few-queries", tolerance=0.02)
    assert found is not None
    assert found.what == "125 queries for a tolerance of 0.02 of nDCG@10"
    assert found.why == (
        "Between two versions of a ranker, a query's nDCG@10 changes with a standard deviation of "
        "0.04 to 0.14, so the smallest fall that can be detected with 80% power is 0.009 to 0.031, "
        "typically 0.020"
    )
    assert found.remedy == (
        "judge 126 queries (25 to 303), set the tolerance to 0.020, or give your own standard "
        "deviation as spread="
    )
    found = finding(good_set(40), "few-queries", tolerance=0.01)
    assert found is not None
    assert "a single query that falls from 1 to 0 moves the mean by 0.0250" in found.what


def test_how_many_queries_depends_on_the_metric() -> None:
    """Success@5: ((1.6449 + 0.8416) * 0.22 / 0.02)^2 = 748.1."""
    found = finding(good_set(126), "few-queries", tolerance=0.02, metric="Success@5")
    assert found is not None
    assert found.what.endswith("tolerance of 0.02 of Success@5")
    assert "0.09 to 0.36, so" in found.why
    assert "judge 749 queries" in found.remedy
    near = finding(good_set(40), "few-queries", tolerance=0.02, metric="nDCG(gain=exponential)@12")
    assert near is not None
    assert "of nDCG(gain=exponential)@12 of a query" not in near.why
    assert "0.04 to 0.14 (measured for nDCG@10)" in near.why
    other = finding(good_set(40), "few-queries", tolerance=0.02, metric="nERR@10")
    assert other is not None
    assert "0.01 to 0.43 (measured for other metrics)" in other.why
    with pytest.raises(GoldenSetError, match="metric: unknown metric 'nDGC'"):
        good_set().lint(metric="nDGC@10")


def test_a_spread_of_the_project_overrides_what_was_measured() -> None:
    """((1.6449 + 0.8416) * 0.1 / 0.02)^2 = 154.56."""
    options = LintOptions(tolerance=0.02, spread=0.1)
    assert findings_of(good_set(155), options, ["few-queries"]) == []
    (found,) = findings_of(good_set(154), options, ["few-queries"])
    assert found.why == (
        "If the differences between queries have a standard deviation of 0.1, the smallest fall "
        "that can be detected with 80% power is 0.0200"
    )
    assert found.remedy == "judge 155 queries, or set the tolerance to 0.020"


def test_every_measured_spread_is_of_a_metric_and_in_order() -> None:
    for name, spreads in MEASURED.items():
        assert spread_for(Metric.parse(name)).of == name
        assert 0 < spreads[0] <= spreads[1] <= spreads[2] < 0.5
    assert spread_for(Metric.parse("nDCG@1000")).of == "nDCG"
    assert spread_for(Metric.parse("R@34")).of == "R@50"  # 50/34 is less than 34/20


# --- options -----------------------------------------------------------------------------------


def test_levels_and_options_are_parsed() -> None:
    options = LintOptions.parse(
        ["scale=0..4", "tolerance = 0.02", "min_queries=10", "spread=0.2", "no-relevant=error",
         "one-grade=ignore", "metric=RR"], NAMES,
    )  # fmt: skip
    assert options == LintOptions(
        (0, 4), 0.02, 10, 0.2, {"no-relevant": "error", "one-grade": "ignore"}, "RR"
    )
    assert LintOptions.parse([], NAMES, "AP").metric == "AP"
    golden = GoldenSet.from_dict({"q": {"a": 0}, "r": {}})
    found = findings_of(golden, options, ["no-relevant", "one-grade", "no-judgment"])
    assert [(one.rule, one.level) for one in found] == [
        ("no-judgment", "error"), ("no-relevant", "error"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("scale", "not of the form name=value"),
        ("scale=3", "a scale has the form lowest..highest, such as 0..3"),
        ("scale=3..0", "a scale has the form lowest..highest"),
        ("tolerance=-1", "'-1' is not a number above 0"),
        ("tolerance=nan", "is not a number above 0"),
        ("metric=nDGC", "metric: unknown metric"),
        ("metric=", "has no value after '='"),
        ("min_queries=2.5", "is not a whole number"),
        (
            "no-relevent=error",
            "'no-relevent' is neither an option nor a rule of the linter; did you",
        ),
        ("zebra=1", "neither an option nor a rule of the linter; known: scale, tolerance"),
        ("no-relevant=fatal", "the level of a rule is error, warning or ignore"),
    ],
)
def test_malformed_options_are_refused(line: str, message: str) -> None:
    with pytest.raises(GoldenSetError, match=message):
        LintOptions.parse([line], NAMES)


@pytest.mark.slow
def test_fifty_thousand_queries_are_linted_in_seconds() -> None:
    golden = GoldenSet.from_dict(
        {f"q{n}": {f"d{n * 7 + i}": i % 3 for i in range(5)} for n in range(50_000)},
        {f"q{n}": f"text {n // 2}" for n in range(50_000)},
        attributes={f"q{n}": {"kind": n % 5} for n in range(50_000)},
    )
    found = {one.rule: one for one in golden.lint(scale=(0, 1), tolerance=0.5)}
    assert len(found["duplicate-query"].query_ids) == 50_000
    assert "25,000 groups" in found["duplicate-query"].what


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"rules": ["no-relevent"]},
            "'no-relevent' is not a rule of the linter; did you mean 'no-relevant'?",
        ),
        ({"rules": ["zebra"]}, "'zebra' is not a rule of the linter; known: "),
        ({"scale": 3}, "scale=3 is invalid; give (lowest, highest), such as (0, 3)"),
        ({"scale": (3, 0)}, "scale=(3, 0) is invalid; give (lowest, highest), such as (0, 3)"),
        ({"scale": ("0", "3")}, "scale=('0', '3') is invalid; give (lowest, highest)"),
        ({"scale": (0, float("nan"))}, "scale=(0, nan) is invalid; give (lowest, highest)"),
        ({"tolerance": 0}, "tolerance=0 is invalid; give a number above 0, such as 0.02"),
        ({"tolerance": float("nan")}, "tolerance=nan is invalid; give a number above 0"),
        ({"min_queries": 0}, "min_queries=0 is invalid; give a whole number from 1 on"),
    ],
)
def test_invalid_options_of_the_method_are_refused(
    options: dict[str, object], message: str
) -> None:
    golden = GoldenSet.from_dict({"q": {"a": 1}})
    with pytest.raises(GoldenSetError) as refusal:
        golden.lint(**options)  # type: ignore[arg-type]
    assert str(refusal.value).startswith(message)
    assert golden.lint(rules=["no-relevant"], scale=[0, 3], tolerance=0.1) == []  # type: ignore[arg-type]


def test_an_empty_cell_of_a_mixed_column_is_named() -> None:
    rows = [(f"q{n}", f"d{n}{i}", i, f"shop{n}") for n in range(8) for i in range(2)]
    table = pd.DataFrame(rows, columns=["query_id", "doc_id", "relevance", "shop"])
    table.loc[0, "shop"] = None
    found = finding(GoldenSet.from_frame(table), "mixed-column")
    assert found is not None
    assert "nothing for document 'd00' and 'shop0' for document 'd01'" in found.what
