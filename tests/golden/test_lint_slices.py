"""Lint rules for slices, judges and splits: shifts that matter are found, chance is not."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import mannwhitneyu, wilcoxon

from pytest_rankcheck import GoldenSet
from pytest_rankcheck.array_types import FloatArray
from pytest_rankcheck.golden.lint.slice_rules import clear_shifts
from pytest_rankcheck.statistics.dominance import Dominance, dominance, paired_dominance
from tests.golden.test_lint import finding

# --- slices ------------------------------------------------------------------------------------


def sliced(grades: dict[str, list[float]], attribute: str = "locale") -> GoldenSet:
    """Return a set in which each query of a slice has one judgment."""
    flat = [(label, grade) for label, of_slice in grades.items() for grade in of_slice]
    return GoldenSet.from_dict(
        {f"q{n}": {"d": grade} for n, (_, grade) in enumerate(flat)},
        attributes={f"q{n}": {attribute: label} for n, (label, _) in enumerate(flat)},
    )


SHIFTED = {"de": [0, 0, 0, 1, 1, 1, 1, 1], "en": [2, 2, 2, 3, 3, 3, 3, 3], "fr": [0, 1, 1, 3]}


def test_a_slice_with_other_grades_is_found() -> None:
    """Every grade of ``en`` is above every one of ``de``: Cliff's delta is 1."""
    found = finding(sliced(SHIFTED), "slice-shift")
    assert found is not None
    assert found.what == (
        "1 pair of slices with clearly different grades: locale=en has a mean grade of 2.62, "
        "locale=de of 0.62 (Cliff's delta 1.00)"
    )
    assert found.query_ids == ()


def test_pairs_of_slices_are_one_family_by_hand() -> None:
    """p = 0.004 of 3 pairs is 0.012 by Holm, above 0.01; p = 0.003 is 0.009. (0.004 then 0.008.)"""
    values = np.array([1.0]), np.array([0.0])

    def clear(*p_values: float, delta: float = 0.5) -> int:
        pairs = [((f"a{p}", "b"), values, Dominance(delta, p)) for p in p_values]
        return len(clear_shifts(pairs))

    assert clear(0.004, 0.5, 0.6) == 0
    assert clear(0.003, 0.5, 0.6) == 1
    assert clear(0.003, 0.004, 0.6) == 2
    assert clear(0.003, delta=0.29) == 0
    assert clear(0.003, delta=-0.3) == 1


def test_the_findings_agree_with_scipy_and_statsmodels() -> None:
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    generator = np.random.default_rng(11)
    samples = {
        label: (generator.integers(0, 4, 25) + shift).astype(float).tolist()
        for label, shift in (("a", 0), ("b", 0), ("c", 1), ("d", 2))
    }
    names = [(one, other) for one in samples for other in samples if one < other]
    tests = [mannwhitneyu(samples[one], samples[other]) for one, other in names]
    rejected = multitest.multipletests([test.pvalue for test in tests], alpha=0.01, method="holm")[
        0
    ]
    deltas = [2 * test.statistic / 25**2 - 1 for test in tests]
    expected = sum(
        is_clear and abs(delta) >= 0.3 for is_clear, delta in zip(rejected, deltas, strict=True)
    )
    found = finding(sliced(samples), "slice-shift")
    assert found is not None
    assert 1 < expected < len(names)
    assert found.what.startswith(f"{expected} pairs of slices")
    largest = f"(Cliff's delta {max(map(abs, deltas)):.2f})"
    assert found.what.endswith(largest)


def test_a_small_difference_is_not_reported_however_certain() -> None:
    """1,000 queries each; one in four is a grade higher: delta is 0.25, p below 1e-20."""
    one, other = [1.0] * 1000, [1.0] * 750 + [2.0] * 250
    found = dominance(np.array(other), np.array(one))
    assert math.isclose(found.delta, 0.25)
    assert found.p < 1e-20
    assert finding(sliced({"a": one, "b": other}), "slice-shift") is None
    more = [1.0] * 690 + [2.0] * 310
    assert finding(sliced({"a": one, "b": more}), "slice-shift") is not None


def test_only_slices_are_compared() -> None:
    few = {"de": [0.0] * 4, "en": [3.0] * 40}
    assert finding(sliced(few), "slice-shift") is None
    assert finding(sliced({**few, "de": [0.0] * 5}), "slice-shift") is not None
    notes = {f"note {n}": [float(n % 2 * 3)] * 5 for n in range(21)}
    assert finding(sliced(notes), "slice-shift") is None
    weighted = sliced({"1": [0.0] * 20, "2": [3.0] * 20}, "weight").weighted("weight")
    assert finding(weighted, "slice-shift") is None


def test_a_query_of_both_slices_is_in_neither() -> None:
    judged = {f"q{n}": {"d": 3 * (n % 2)} for n in range(24)}
    labels = [["new"], ["old"]]
    golden = GoldenSet.from_dict(
        judged, attributes={f"q{n}": {"tags": labels[n % 2]} for n in range(24)}
    )
    assert finding(golden, "slice-shift") is not None
    both = {f"q{n}": {"tags": labels[n % 2] if n > 17 else ["new", "old"]} for n in range(24)}
    assert finding(GoldenSet.from_dict(judged, attributes=both), "slice-shift") is None


@pytest.mark.slow
def test_slices_by_chance_are_seldom_reported() -> None:
    """Of 300 random divisions into 5 slices of 12 queries, at most 1% and what chance adds."""
    generator = np.random.default_rng(5)
    reported = 0
    for _ in range(300):
        grades = generator.integers(0, 4, (5, 12)).astype(float).tolist()
        golden = sliced(dict(zip("abcde", grades, strict=True)))
        reported += bool(golden.lint(rules=["slice-shift"]))
    assert reported <= 9  # P(X > 9) = 0.1% at 1%


# --- judges ------------------------------------------------------------------------------------


def judged_table(
    grades: dict[str, list[int]], name: str = "judge", *, same_documents: bool = False
) -> pd.DataFrame:
    """Return a table in which each judge grades one document of each query, or all the same."""
    rows = [
        (f"q{n}", "d" if same_documents else f"d-{judge}", grade, judge)
        for judge, of_judge in grades.items()
        for n, grade in enumerate(of_judge)
    ]
    return pd.DataFrame(rows, columns=["query_id", "doc_id", "relevance", name])


LENIENT = {"ann": [3, 3, 2, 3, 2, 3, 3, 2, 3, 3, 2, 3], "bob": [1, 0, 1, 1, 0, 1, 1, 1, 0, 1, 1, 0]}


@pytest.mark.parametrize("same_documents", [False, True])
@pytest.mark.parametrize("name", ["judge", "Rater ID", "judged_by", "annotator"])
def test_a_lenient_judge_is_found(name: str, same_documents: bool) -> None:
    table = judged_table(LENIENT, name, same_documents=same_documents)
    golden = GoldenSet.from_frame(table, contradictions="first")
    assert not golden.has_candidates  # who judged is no feature of a document
    found = finding(golden, "judge-shift")
    assert found is not None
    assert found.what == (
        "1 pair of judges with clearly different grades for the same queries: judge 'ann' has a "
        "mean grade of 2.67, judge 'bob' of 0.67 (Cliff's delta 1.00)"
    )
    assert wilcoxon(LENIENT["ann"], LENIENT["bob"]).pvalue < 0.01
    part = golden.subset([f"q{n}" for n in range(4)])
    assert finding(part, "judge-shift") is None  # too few queries that both judged


@pytest.mark.parametrize("contradictions", ["first", "last", "highest"])
def test_each_judge_keeps_the_own_grade_whichever_counts(contradictions: str) -> None:
    table = judged_table(LENIENT, same_documents=True)
    golden = GoldenSet.from_frame(table, contradictions=contradictions)  # type: ignore[arg-type]
    found = finding(golden, "judge-shift")
    assert found is not None
    assert "'ann' has a mean grade of 2.67, judge 'bob' of 0.67" in found.what


def test_judges_of_other_queries_are_not_compared() -> None:
    table = judged_table(LENIENT)
    table.loc[table["judge"] == "bob", "query_id"] += "-bob"
    golden = GoldenSet.from_frame(table)
    assert golden.attributes == ("judge",)  # one judge for each query
    assert finding(golden, "judge-shift") is None
    assert finding(golden, "slice-shift") is not None


def test_documents_that_both_judged_decide() -> None:
    """The second judge looks again at the best document of each query only, and agrees."""
    rows = [(f"q{n}", f"d{i}", 3 if i == 0 else 0, "first") for n in range(20) for i in range(5)]
    rows += [(f"q{n}", "d0", 3, "second") for n in range(20)]
    columns = ["query_id", "doc_id", "relevance", "judge"]
    golden = GoldenSet.from_frame(pd.DataFrame(rows, columns=columns))
    assert finding(golden, "judge-shift") is None


def test_of_many_judges_those_with_the_most_queries_are_compared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Forty judges of 6 queries each agree; the two who judged 40 queries do not."""
    compared = []

    def counted(first: FloatArray, second: FloatArray) -> Dominance:
        compared.append(len(first))
        return paired_dominance(first, second)

    monkeypatch.setattr("pytest_rankcheck.golden.lint.judge_rules.paired_dominance", counted)
    rows = [(f"q{n}", f"d{judge}", 1, f"judge{judge}") for judge in range(40) for n in range(6)]
    table = pd.DataFrame(rows, columns=["query_id", "doc_id", "relevance", "judge"])
    lenient = {judge: (grades * 4)[:40] for judge, grades in LENIENT.items()}
    golden = GoldenSet.from_frame(pd.concat([table, judged_table(lenient)]))
    found = finding(golden, "judge-shift")
    assert found is not None
    assert "1 pair of judges" in found.what
    assert "judge 'ann'" in found.what
    assert len(compared) == 20 * 19 / 2


def test_judges_in_a_file_with_features(tmp_path: Path) -> None:
    """Judges with numbers are no features, also where two of them judged one document."""
    table = judged_table(LENIENT, same_documents=True).assign(price=[*range(12), *range(12)])
    table["judge"] = table["judge"].map({"ann": 1, "bob": 2})
    file = tmp_path / "judged.csv"
    table.to_csv(file, index=False)
    golden = GoldenSet.load(file, contradictions="last")
    found = finding(golden, "judge-shift")
    assert found is not None
    assert "judge '1' has a mean grade of 2.67, judge '2' of 0.67" in found.what
    named = table.rename(columns={"judge": "candidate:judge"}).drop_duplicates(["query_id"])
    assert GoldenSet.from_frame(named).candidates["judge"].tolist() == [1.0] * 12
    mapped = GoldenSet.load(file, contradictions="last", doc_id="lower")
    assert finding(mapped, "judge-shift") is not None


@pytest.mark.slow
def test_judges_who_agree_are_seldom_reported() -> None:
    generator = np.random.default_rng(8)
    reported = 0
    for _ in range(200):
        truth = generator.integers(0, 4, 30)
        grades = {
            judge: np.clip(truth + generator.integers(-1, 2, 30), 0, 3).tolist() for judge in "abc"
        }
        golden = GoldenSet.from_frame(judged_table(grades))
        reported += bool(golden.lint(rules=["judge-shift"]))
    assert reported <= 7  # P(X > 7) = 0.1% at 1%


# --- splits ------------------------------------------------------------------------------------


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
    assert found is not None
    assert found.query_ids == ("q0", "q2")
    assert found.what == (
        "1 text is in more than one value of 'split': \"Red  shoes\" in train (q0) and test (q2)"
    )


def test_texts_that_are_not_leaked() -> None:
    same = (("red shoes", "train"), ("red shoes", "train"), ("boots", "test"))
    assert finding(split_set(*same), "split-leakage") is None
    leaked = (("red shoes", "train"), ("red shoes", "test"))
    assert finding(split_set(*leaked, name="locale"), "split-leakage") is None
    assert finding(split_set(*leaked, name="Data-Split"), "split-leakage") is not None
    assert finding(split_set(*leaked, name="fold"), "split-leakage") is not None
    assert finding(split_set(("red shoes", ["train", "test"])), "split-leakage") is not None
    without = GoldenSet.from_dict({"q": {"d": 1}, "r": {"d": 1}}, {"q": "tea", "r": "tea"})
    assert finding(without, "split-leakage") is None
    textless = GoldenSet.from_dict(
        {"q": {"d": 1}, "r": {"d": 1}}, attributes={"q": {"split": 1}, "r": {"split": 2}}
    )
    assert finding(textless, "split-leakage") is None


def test_grades_near_the_largest_number_do_not_crash() -> None:
    """Their sums are infinite; warnings are errors in these tests."""
    judged = {f"q{n}": {"a": 8e307, "b": 8e307, "c": 8e307, "d": 0} for n in range(20)}
    locale = {f"q{n}": {"locale": "xy"[n % 2]} for n in range(20)}
    golden = GoldenSet.from_dict(judged, attributes=locale)
    assert golden.lint(rules=["slice-shift"]) == []
