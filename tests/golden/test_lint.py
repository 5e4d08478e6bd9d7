"""The linter: each rule finds what it is for, says where, and is silent if nothing is wrong."""

import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_rankcheck import GoldenSet, GoldenSetError, LintFinding, Run, evaluate
from pytest_rankcheck.golden.lint.lint_rule import LintOptions
from pytest_rankcheck.golden.lint.linter import all_rules, findings_of
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
    assert good_set().lint(scale=(0, 3)) == []


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


def test_reversed_grades_are_found() -> None:
    found = finding(with_grades(CRANFIELD), "reversed-grades")
    assert found.what.startswith(
        "no grade is 0, and the lowest positive grade is the rarest: -1 (225), 1 (128), 2 (387), "
        "3 (734), 4 (363); document 'd"
    )
    assert "grades={-1: 0, 1: 4, 2: 3, 3: 2, 4: 1} (rankcheck_grades), if 1 is" in found.remedy


def test_usual_grades_do_not_look_reversed() -> None:
    cases: list[tuple[dict[float, int], bool]] = [
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
    ]
    for counts, is_found in cases:
        found = finding(with_grades(counts), "reversed-grades")
        assert (found is not None) == is_found, counts


CLICKS = {"no-relevant", "ceiling"}
"""True of clicks and of queries of LightGBM's example."""


def test_whole_collections_have_no_findings_that_are_not_true() -> None:
    for name, true in {
        "cranfield/cran.qrels": {"reversed-grades"},  # 1 is the best
        "trec_eval/qrels.test": {"few-queries"},  # three queries
        "trec_eval/qrels.rel_level": {"few-queries"},
        "trec_eval/qrels-302.test": {"few-queries"},
        "trec-session-2013/graded.qrels.gz": set(),
        "trec-session-2013/clicks.qrels": CLICKS,
        "lightgbm-lambdarank/rank.train": CLICKS,
        "lightgbm-lambdarank/rank.test": CLICKS,
    }.items():
        golden = GoldenSet.load(reference.data(name))
        doc_ids = [doc_id for query_id in golden.query_ids for doc_id in golden.grades(query_id)]
        assert {each.rule for each in golden.lint(documents=doc_ids)} <= true, name


# --- judgments ---------------------------------------------------------------------------------


def test_a_tab_or_a_line_end_in_an_id() -> None:
    for judged, what in (
        ({"q": {"s1\tdeep": 1, "b": 0}}, "1 id has a tab or a line end: s1"),
        ({"q\n": {"a": 1}, "p": {"b\u2028": 1}}, "2 ids have a tab or a line end: q"),
        ({"q 1": {"a b": 1}}, None),
    ):
        frame = GoldenSet.from_dict(judged).judgments
        for golden in (GoldenSet.from_dict(judged), GoldenSet.from_frame(frame)):
            found = finding(golden, "broken-id")
            assert (found and found.what.startswith(what)) == (True if what else None)
            assert found is None or found.level == "error"


def test_a_broken_id_is_shown_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "web.csv").write_text('query_id,doc_id,relevance\nq,a,1\nq,"s1\tdeep",1\n')
    found = finding(GoldenSet.load(tmp_path / "web.csv"), "broken-id")
    assert found is not None
    assert found.places == (f"{tmp_path / 'web.csv'}:3",)


def test_a_duplicate_judgment(tmp_path: Path) -> None:
    golden = loaded(tmp_path, "q 0 d 1\nr 0 d 1\nq 0 d 1\nq 0 e 0\nq 0 e 0\n")
    found = finding(golden, "repeated-judgment")
    assert found.query_ids == ("q",)
    assert found.what == "2 duplicate judgments: document 'd' of query 'q', again"
    assert [place.rpartition(":")[2] for place in found.places] == ["3", "5"]
    assert "web.qrels:3" in found.message
    assert finding(golden.subset(["r"]), "repeated-judgment") is None
    assert finding(golden, "contradictory-judgment") is None


def test_contradictory_grades(tmp_path: Path) -> None:
    golden = loaded(tmp_path, "q 0 d 1\nq 0 d 2\n", contradictions="first")
    found = finding(golden, "contradictory-judgment")
    assert found.what.endswith("document 'd' of query 'q', 1 and 2")
    assert found.places[0].endswith("web.qrels:2")
    assert finding(golden, "repeated-judgment") is None


def test_a_grade_off_the_scale(tmp_path: Path) -> None:
    golden = loaded(tmp_path, "q 0 a 1\nq 0 b 9\nr 0 a -1\nr 0 b 3\n")
    found = finding(golden, "grade-off-scale", scale=(0, 3))
    assert found.query_ids == ("q", "r")
    assert "2 grades are not between 0 and 3: document 'b' of query 'q' has 9" in found.what
    assert [place.rpartition(":")[2] for place in found.places] == ["2", "3"]
    assert finding(golden, "grade-off-scale", scale=(-1, 9)) is None
    assert finding(golden, "grade-off-scale") is None


def test_queries_that_cannot_score(tmp_path: Path) -> None:
    (tmp_path / "web.jsonl").write_text(
        '{"query_id": "bare"}\n\n{"query_id": "zero", "relevance": {"a": 0, "b": -1}}\n'
        '{"query_id": "one", "relevance": {"a": 1}}\n'
        '{"query_id": "good", "relevance": {"a": 1, "b": 0}}\n'
    )
    golden = GoldenSet.load(tmp_path / "web.jsonl")
    for rule, level, query_id, line in (
        ("no-judgment", "error", "bare", 1),
        ("no-relevant", "warning", "zero", 3),
    ):
        found = finding(golden, rule)
        assert (found.level, found.query_ids) == (level, (query_id,))
        assert found.places == (f"{tmp_path / 'web.jsonl'}:{line}",)
        assert finding(golden.subset(["good", "one"]), rule) is None


def test_only_positive_judgments_are_no_finding() -> None:
    clicks = GoldenSet.from_dict({f"q{n}": {f"d{n}": 1} for n in range(40)})
    assert clicks.lint() == []
    nothing = GoldenSet.from_dict({f"q{n}": {f"d{n}": 0} for n in range(40)})
    assert {found.rule for found in nothing.lint()} == {"no-relevant", "ceiling"}


# --- texts -------------------------------------------------------------------------------------

TWINS = GoldenSet.from_dict(
    {"a": {"x": 1}, "b": {"y": 1}, "c": {"z": 1, "n": 0}, "d": {"w": 1}},
    {"a": "caf\u00e9", "b": "cafe\u0301", "c": "tea", "d": "Tea!"},
)


def test_the_ceiling_of_identical_queries_with_different_single_answers() -> None:
    """One ranking for both: x, y. a scores 1; b scores 1/log2(3) = 0.63093. Mean 0.815465."""
    pair = TWINS.subset(["a", "b"])
    assert math.isclose(pair.ceiling(), (1 + 1 / math.log2(3)) / 2)
    found = finding(TWINS, "ceiling")
    assert len(found.query_ids) == 1
    assert "a perfect ranker reaches nDCG@10 of 0.9077 on this set" in found.what  # (0.815 + 1) / 2
    assert finding(TWINS.subset(["a", "c", "d"]), "ceiling") is None
    hopeless = GoldenSet.from_dict({"q": {"d": 1}, "r": {"d": 0}, "s": {}, "t": {"d": 2}})
    assert hopeless.ceiling() == 0.5


def test_queries_with_candidates_of_their_own_are_not_the_same(tmp_path: Path) -> None:
    file = tmp_path / "set.csv"
    file.write_text(
        "query_id,query,doc_id,grade,f\n1,tea,a,1,1\n1,tea,b,0,2\n2,Tea,c,1,3\n2,Tea,d,0,4\n"
    )
    golden = GoldenSet.load(file)
    assert golden.ceiling() == 1
    for rule in ("duplicate-query", "ceiling"):
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


def test_empty_texts() -> None:
    texts = {"a": "tea", "b": "nan", "c": "None", "d": "", "e": "nan bread", "f": "none", "g": "?"}
    golden = GoldenSet.from_dict({each: {"x": 1} for each in texts}, texts)
    found = finding(golden, "empty-text")
    assert found.query_ids == ("b", "c", "d")
    assert found.what == (
        "3 queries (b, c, d) without a text, or with nan or None, as pandas writes it"
    )
    for blank in (None, " ", "\t\n", "\u00a0"):
        queries = {"a": "tea"} if blank is None else {"a": "tea", "b": blank}
        found = finding(GoldenSet.from_dict({"a": {"x": 1}, "b": {"x": 1}}, queries), "empty-text")
        assert found is not None, blank
        assert found.query_ids == ("b",)
    assert finding(GoldenSet.from_dict({"a": {"x": 1}}), "empty-text") is None


def test_duplicates_of_both_kinds() -> None:
    golden = GoldenSet.from_dict(
        {"a": {"x": 1}, "b": {"x": 1}, "c": {"x": 1}, "d": {"y": 1}},
        {"a": "tea", "b": "tea", "c": "ale", "d": "ale"},
    )
    found = finding(golden, "duplicate-query")
    assert found.what.startswith(
        '2 groups of queries with the same text, 1 with different judgments: 2 queries (c, d) "ale"'
    )
    assert found.query_ids == ("c", "d", "a", "b")
    double = finding(golden.subset(["a", "b"]), "duplicate-query")
    assert "0 with different judgments" in double.what


def test_attributes_and_samples_of_traffic_explain_equal_judgments() -> None:
    judged = {f"q{n}": {"x": 1} for n in range(6)}
    texts = {f"q{n}": f"tea {n // 2}" for n in range(6)}
    for market, is_found in (("de", True), (None, False)):
        attributes = {f"q{n}": {"market": market or f"m{n}"} for n in range(6)}
        golden = GoldenSet.from_dict(judged, texts, attributes=attributes)
        assert (finding(golden, "duplicate-query") is not None) == is_found
    users = {f"q{n}": {"user": "u"} for n in range(6)}
    sample = GoldenSet.from_dict(judged, texts, attributes=users).clustered(by="user")
    assert finding(sample, "duplicate-query") is None


def split_set(*queries: tuple[str, object], name: str = "split") -> GoldenSet:
    return GoldenSet.from_dict(
        {f"q{n}": {"d": 1} for n in range(len(queries))},
        {f"q{n}": text for n, (text, _) in enumerate(queries)},
        attributes={f"q{n}": {name: value} for n, (_, value) in enumerate(queries)},
    )


def test_a_text_in_two_splits() -> None:
    golden = split_set(
        ("Red  shoes", "train"), ("boots", "train"), ("red shoes", "test"), ("hats", "test")
    )
    found = finding(golden, "split-leakage")
    assert found.query_ids == ("q0", "q2")
    assert found.what == (
        "1 text is in more than one value of 'split': \"Red  shoes\" in train (q0) and test (q2)"
    )
    leaked = (("red shoes", "train"), ("red shoes", "test"))
    assert finding(split_set(*leaked), "split-leakage") is not None
    for sound in (
        split_set(("red shoes", "train"), ("red shoes", "train"), ("boots", "test")),
        split_set(*leaked, name="locale"),
        GoldenSet.from_dict({"q": {"d": 1}, "r": {"d": 1}}, {"q": "tea", "r": "tea"}),
        GoldenSet.from_dict(
            {"q": {"d": 1}, "r": {"d": 1}}, attributes={"q": {"split": 1}, "r": {"split": 2}}
        ),
    ):
        assert finding(sound, "split-leakage") is None


# --- sizes -----------------------------------------------------------------------------


def test_fewer_queries_than_a_gate_needs() -> None:
    found = finding(good_set(25), "few-queries")
    assert found.what == "25 queries, fewer than 30"
    assert "falls from 1 to 0 moves the mean by 0.0400" in found.why
    assert finding(good_set(30), "few-queries") is None
    assert finding(good_set(25), "few-queries", min_queries=20) is None


# --- options -----------------------------------------------------------------------------------


def test_levels_and_options_are_parsed() -> None:
    options = LintOptions.parse(
        ["scale=0..4", "min_queries = 10", "no-relevant=error", "few-queries=ignore"], NAMES
    )
    assert options == LintOptions((0, 4), 10, {"no-relevant": "error", "few-queries": "ignore"})
    golden = GoldenSet.from_dict({"q": {"a": 0}, "r": {}})
    found = findings_of(golden, options, ["no-relevant", "few-queries", "no-judgment"])
    assert [(one.rule, one.level) for one in found] == [
        ("no-judgment", "error"), ("no-relevant", "error"),
    ]  # fmt: skip


def test_malformed_options_are_refused() -> None:
    for line, message in {
        "scale": "is invalid; give the lowest and the highest grade",
        "scale=3": "is invalid; give the lowest and the highest grade: scale=0..3",
        "scale=a..b": "scale=('a', 'b') is invalid; give the lowest and the highest grade: scale=0..3",
        "scale=3..0": "scale=(3, 0) is invalid; give the lowest and the highest grade",
        "min_queries=-1": "min_queries=-1 is invalid; give a whole number from 1 on",
        "min_queries=few": "min_queries=few is invalid; give a whole number from 1 on",
        "scale=0..inf": "scale=(0, 'inf') is invalid; give the lowest and the highest grade",
        "scale=-inf..3": "scale=('-inf', 3) is invalid",
        "min_queries=2.5": "min_queries=2.5 is invalid; give a whole number from 1 on",
        "no-relevent=error": "'no-relevent' is neither an option nor a rule of the linter; did you",
        "zebra=1": "neither an option nor a rule of the linter; known: scale, min_queries",
        "no-relevant=fatal": "the level of a rule is error, warning or ignore",
    }.items():
        with pytest.raises(GoldenSetError) as refusal:
            LintOptions.parse([line], NAMES)
        assert message in str(refusal.value), line


def test_invalid_options_of_the_method_are_refused() -> None:
    golden = GoldenSet.from_dict({"q": {"a": 1}})
    unknown = "is not a rule of the linter"
    cases: list[tuple[dict[str, Any], str]] = [
        ({"rules": ["no-relevent"]}, f"'no-relevent' {unknown}; did you mean 'no-relevant'?"),
        ({"rules": ["zebra"]}, f"'zebra' {unknown}; known: "),
        ({"scale": ("0", "3")}, "scale=('0', '3') is invalid"),
        ({"min_queries": 0}, "min_queries=0 is invalid; give a whole number from 1 on"),
    ]
    for options, message in cases:
        with pytest.raises(GoldenSetError) as refusal:
            golden.lint(**options)
        assert str(refusal.value).startswith(message), options
    assert golden.lint(rules=["no-relevant"], scale=[0, 3]) == []  # type: ignore[arg-type]
