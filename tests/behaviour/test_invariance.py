"""PerturbedQuery queries: what counts as changed, the limits, directions, and the text of a failure."""

import math
from typing import Any

import pandas as pd
import pytest

from pytest_rankcheck import (
    ConfigurationError,
    GoldenSet,
    MetricError,
    Query,
    RankerError,
    RunError,
    assert_invariant,
    rbo,
)
from pytest_rankcheck.rankers import batch, model, scorer
from pytest_rankcheck.reports.findings import Note, Topic
from tests.behaviour.failures import failure_of

# q4 has no judgment, q5 no text, and "42" of q6 has no case.
SHOP = GoldenSet.from_dict(
    {
        "q1": {"a": 3, "b": 1},
        "q2": {"a": 1},
        "q3": {"c": 2},
        "q4": {},
        "q5": {"a": 1},
        "q6": {"a": 1},
    },
    {"q1": "red", "q2": "Blue", "q3": "green", "q4": "hat", "q6": "42"},
    name="shop",
)


def alike(query: Query) -> list[str]:
    return ["a", "b", "c"]


def loud(query: Query) -> list[str]:
    """Rank backwards what is shouted, and nothing for GREEN."""
    text = query.text or ""
    if text == "GREEN":
        return []
    return ["c", "b", "a"] if text.isupper() else ["a", "b", "c"]


def upper(text: str) -> str:
    return text.upper()


# --- rankings ----------------------------------------------------------------------------------


def test_a_ranker_that_does_not_care_passes(entered: list[Note]) -> None:
    assert_invariant(alike, SHOP, "case")
    assert_invariant(alike, SHOP, upper, min_rbo=1, max_drop=0, min_mean_rbo=1, max_mean_drop=0)
    # nDCG@10 of q1 is 1, of q2 1, of q3 (c of grade 2 at rank 3) 1 / log2(4) = 0.5: mean 0.8333.
    assert entered[0] == Note(
        Topic.INVARIANCE,
        "perturbation 'case', ranker 'alike' on golden set 'shop' (6 queries): 0 of 4 "
        "perturbed queries ranked differently, mean RBO 1.0000; nDCG@10 0.8333 -> 0.8333, +0.0000 "
        "over 3 judged queries; 2 queries not perturbed",
        is_check=True,
    )


def test_without_a_limit_nothing_may_change() -> None:
    text = failure_of(lambda: assert_invariant(loud, SHOP, upper, p=0.8))
    # RBO of abc and cba at p = 0.8, by its definition (Webber et al. 2010, equation 32): agreements
    # 0, 1/2, 1 at depths 1 to 3, and 1 beyond: 0.2 (0 + 0.8 / 2 + 0.64) + 0.512 = 0.72. Nothing
    # agrees with an empty ranking: 0. The mean over the four is (3 * 0.72 + 0) / 4 = 0.54.
    # nDCG: q1 with c b a: (1 / log2 3 + 3 / 2) / (3 + 1 / log2 3) = 0.5869; q2 1 -> 0.5; q3 0.5 -> 0.
    # The means: (1 + 1 + 0.5) / 3 = 0.8333 and (0.5869 + 0.5 + 0) / 3 = 0.3623.
    assert text == (
        "perturbation 'upper' changes the answers of ranker 'loud' on golden set 'shop' (6 queries) "
        "by more than allowed; 2 queries not perturbed\n"
        "  4 perturbed queries, 4 variants: mean RBO 0.5400 (p=0.8)\n"
        "  nDCG@10 0.8333 -> 0.3623, -0.4710 over 3 judged queries\n"
        "  every ranking must be the same: broken by 4 of 4 queries\n"
        "  the queries that differ most\n"
        '    q3 "green" -> "GREEN"   RBO 0.000, nDCG@10 0.500 -> 0.000\n'
        "      as it is   1 a   2 b   3 c\n"
        "      perturbed  nothing\n"
        '    q1 "red" -> "RED"   RBO 0.720, nDCG@10 1.000 -> 0.587\n'
        "      as it is   1 a   2 b   3 c\n"
        "      perturbed  1 c   2 b   3 a\n"
        '    q2 "Blue" -> "BLUE"   RBO 0.720, nDCG@10 1.000 -> 0.500\n'
        "      as it is   1 a   2 b   3 c\n"
        "      perturbed  1 c   2 b   3 a\n"
        '    q4 "hat" -> "HAT"   RBO 0.720\n'
        "      as it is   1 a   2 b   3 c\n"
        "      perturbed  1 c   2 b   3 a\n"
        "  to fix: make the ranker answer the variants alike, or allow what is harmless: allowed_queries=, "
        "min_rbo=, max_drop=, min_mean_rbo= or max_mean_drop="
    )
    assert rbo(list("abc"), list("cba"), p=0.8) == pytest.approx(0.72)


def test_each_limit_by_itself() -> None:
    # The mean RBO at p = 0.9 is (3 * 0.855 + 0) / 4 = 0.64125; the values are those of above.
    fine = {"min_mean_rbo": 0.6412, "max_drop": 0.5, "max_mean_drop": 0.4711}
    broken = {
        "min_rbo": (0.01, "every ranking must reach RBO 0.0100: broken by 1 of 4 queries"),
        "min_mean_rbo": (0.6413, "the mean RBO must reach 0.6413: broken"),
        "max_drop": (0.49, "no query may fall by more than 0.4900: broken by 2 of 3 queries"),
        "max_mean_drop": (0.4709, "the mean may not fall by more than 0.4709: broken"),
    }
    assert_invariant(loud, SHOP, upper, **fine)  # type: ignore[arg-type]
    for limit, (value, told) in broken.items():
        for limits in ({limit: value}, {**fine, limit: value}):
            text = failure_of(lambda limits=limits: assert_invariant(loud, SHOP, upper, **limits))
            assert f"\n  {told}\n" in text


def test_only_broken_limits_are_named() -> None:
    """The worst RBO is 0, and the worst fall 0.5."""
    text = failure_of(lambda: assert_invariant(loud, SHOP, upper, max_drop=0.7, min_rbo=0.5))
    assert "every ranking must" in text
    assert "no query may fall" not in text


def test_a_change_far_down_is_a_change() -> None:
    documents = [f"d{place:03}" for place in range(300)]
    swapped = [*documents[:-2], documents[-1], documents[-2]]
    assert rbo(documents, swapped) > 1 - 1e-9

    def search(text: str) -> list[str]:
        return swapped if text.isupper() else documents

    assert_invariant(search, SHOP.subset(["q1"]), upper)  # not in the first hundred
    assert_invariant(search, SHOP.subset(["q1"]), upper, depth=300, min_rbo=0.999999)
    with pytest.raises(AssertionError, match="every ranking must be the same"):
        assert_invariant(search, SHOP.subset(["q1"]), upper, depth=300)


def test_the_seed_of_what_is_drawn_is_said() -> None:
    def listening(text: str) -> list[str]:
        return ["a", "b"] if text == "green" else ["b", "a"]

    texts = {
        failure_of(lambda seed=seed: assert_invariant(listening, SHOP, "typo", seed=seed))
        for seed in range(5)
    }
    assert len(texts) == 5
    assert all("perturbation 'typo, seed " in text for text in texts)


def test_so_many_queries_may_be_beyond_but_none_may_fail() -> None:
    with pytest.raises(ConfigurationError, match="=4 can never fail on 4 checked queries"):
        assert_invariant(loud, SHOP, upper, allowed_queries=4)
    with pytest.raises(AssertionError, match="broken by 4 of 4 queries, 3 allowed"):
        assert_invariant(loud, SHOP, upper, allowed_queries=3)

    def breaks(text: str) -> list[str]:
        if text == "RED":
            raise KeyError("no\x1b such")
        return ["a"]

    text = failure_of(
        lambda: assert_invariant(breaks, SHOP.subset(["q1", "q2"]), upper, allowed_queries=1)
    )
    assert "\n  the ranker fails on 1 perturbed query: q1\n" in text
    assert "      as it is   1 a\n      perturbed  KeyError: 'no\\x1b such'\n" in text


def test_of_several_texts_the_worst_counts_and_is_shown() -> None:
    text = failure_of(lambda: assert_invariant(loud, SHOP.subset(["q1"]), "case"))
    assert "  1 perturbed query, 2 variants: mean RBO 0.9275 (p=0.9)\n" in text  # (0.855 + 1) / 2
    assert '    q1 "red" -> "RED"   RBO 0.855' in text
    assert "Red" not in text


LONG = (
    "what similarity laws must be obeyed when constructing aeroelastic models of heated high speed "
    "aircraft in laminar flow over plates"
)


def test_the_failure_of_a_long_query_shows_what_differs() -> None:
    golden = GoldenSet.from_dict({"q1": {"a": 1}}, {"q1": LONG}, name="air")

    def search(text: str) -> list[str]:
        return ["a"] if text == LONG else ["b"]

    text = failure_of(
        lambda: assert_invariant(search, golden, lambda text: text.replace("craft", "carft"))
    )
    assert (
        "    q1   RBO 0.000, nDCG@10 1.000 -> 0.000\n"
        f'      text       "{LONG}"\n'
        f'      becomes    "{LONG.replace("craft", "carft")}"\n'
        "      as it is   1 a\n"
        "      perturbed  1 b\n"
    ) in text


def test_queries_keep_their_ids_attributes_and_candidates() -> None:
    golden = GoldenSet.from_frame(
        pd.DataFrame(
            {
                "query_id": ["q1", "q1", "q2"],
                "doc_id": ["a", "b", "a"],
                "relevance": [1, 0, 1],
                "f": [1, 2, 3],
            }
        ),
        pd.DataFrame({"query_id": ["q1", "q2"], "query": ["red", "blue"], "locale": ["de", "en"]}),
    )
    seen = []

    def of_queries(queries: list[Query]) -> list[list[str]]:
        seen.extend((query.id, query.text, query.attributes["locale"]) for query in queries)
        return [["a"] for _ in queries]

    assert_invariant(batch(of_queries), golden, upper)
    assert seen == [
        ("q1", "red", "de"),
        ("q2", "blue", "en"),
        ("q1", "RED", "de"),
        ("q2", "BLUE", "en"),
    ]
    assert_invariant(scorer(lambda text, docs: [len(doc) for doc in docs]), golden, upper)

    class Estimator:
        def predict(self, rows: object) -> list[float]:
            return [1.0] * len(rows)  # type: ignore[arg-type]

    assert_invariant(model(Estimator(), features=["f"]), golden, upper)


def test_a_perturbation_may_look_at_the_query() -> None:
    asked = []

    def by_locale(query: Query) -> list[str]:
        asked.append(query.id)
        return [f"{query.text} {query.id}", f"{query.text}!", f"{query.text}!"]

    text = failure_of(
        lambda: assert_invariant(lambda text: [text], SHOP.subset(["q1", "q2"]), by_locale)
    )
    assert asked == ["q1", "q2"]
    assert "2 perturbed queries, 4 variants" in text


def test_a_metric_where_lower_is_better_falls_when_it_rises() -> None:
    golden = SHOP.subset(["q2"])  # a moves from rank 1 to 3
    assert_invariant(loud, golden, upper, max_drop=2, metric="FirstRank")
    text = failure_of(
        lambda: assert_invariant(loud, golden, upper, max_drop=1.9, metric="FirstRank")
    )
    assert "FirstRank 1.0000 -> 3.0000, +2.0000 over 1 judged query" in text
    assert_invariant(loud, golden, upper, max_mean_drop=2, metric="FirstRank")
    with pytest.raises(AssertionError, match=r"may not fall by more than 1\.9000: broken\n"):
        assert_invariant(loud, golden, upper, max_mean_drop=1.9, metric="FirstRank")


def test_the_grades_of_the_whole_set_count() -> None:
    """ERR asks for the highest grade of the golden set, though that query is not perturbed."""
    golden = GoldenSet.from_dict(
        {"q1": {"a": 1}, "q2": {"b": 3}}, {"q1": "red", "q2": "42"}, name="web"
    )
    text = failure_of(lambda: assert_invariant(loud, golden, upper, metric="ERR"))
    assert "ERR 0.125 -> 0.042" in text  # (2 ** 1 - 1) / 2 ** 3, and a third of it


# --- invalid input -----------------------------------------------------------------------------


def raising(text: str) -> str:
    raise ValueError("no such language")


def test_invalid_arguments_are_refused() -> None:
    perturbations: tuple[tuple[Any, str], ...] = (
        ("typos", "did you mean 'typo'"),
        (3, "perturbation=3 is invalid; give the name of a perturbation"),
        (raising, "'raising' failed on query 'q1' \"red\": ValueError"),
        (lambda text: None, "returned None for query 'q1' \"red\""),
        (lambda text: b"x", "returned b'x' for query 'q1'"),
        (lambda text: {"x": 1}, "returned {'x': 1} for query"),
        (lambda text: [3], "returned 3 for query 'q1'"),
        (lambda text: text, "changes 0 of 6 queries of golden set 'shop', fewer than 1, which is"),
    )
    for perturbation, message in perturbations:
        with pytest.raises(ConfigurationError, match=message):
            assert_invariant(alike, SHOP, perturbation)
    options: tuple[tuple[dict[str, Any], str], ...] = (
        ({"min_queries": "1"}, "min_queries must be a whole number, not .1. .str."),
        ({"min_queries": 5}, "changes 4 of 6 .* than 5"),
        ({"min_rbo": 1.1}, "min_rbo=1.1 is invalid; give a number above 0"),
        ({"min_rbo": True}, "min_rbo must be a number, not True"),
        ({"min_mean_rbo": 0.0}, "min_mean_rbo=0.0 is invalid; give a number above 0"),
        ({"min_mean_rbo": math.nan}, "min_mean_rbo=nan"),
        ({"max_mean_drop": 0.1, "allowed_queries": 1}, "applies to limits on single queries, but"),
        (
            {"max_mean_drop": 1},
            "max_mean_drop=1 can never fail: nDCG@10 cannot change by more than",
        ),
        ({"max_drop": -0.1}, "max_drop=-0.1 is invalid; give a number"),
        ({"allowed_queries": 0.5}, "allowed_queries must be a whole number, not 0.5"),
        ({"min_drop": 1}, "unknown option 'min_drop'"),
        ({"p": 1.0}, "p=1.0 is invalid; give a number between 0 and 1"),
        ({"golden_set": SHOP.subset(["q4"]), "max_drop": 0.1}, "no perturbed query is judged"),
    )
    usual = {"ranker": alike, "golden_set": SHOP, "perturbation": upper}
    for given, message in options:
        with pytest.raises(ConfigurationError, match=message):
            assert_invariant(**{**usual, **given})
    others: tuple[tuple[dict[str, Any], type[Exception], str], ...] = (
        ({"metric": "nDGC"}, MetricError, "nDGC"),
        ({"ranker": lambda text: []}, RunError, "every ranking is empty"),
        ({"ranker": lambda text: 1 / 0}, RankerError, "failed on 4 of 4 queries"),
        ({"ranker": 7}, RankerError, "the ranker is int"),
    )
    for given, error, message in others:
        with pytest.raises(error, match=message):
            assert_invariant(**{**usual, **given})


def test_min_queries_0_lets_a_perturbation_change_nothing(entered: list[Note]) -> None:
    assert_invariant(alike, SHOP, str, min_queries=0, max_drop=0.1, min_mean_rbo=0.9)
    assert entered[0].text.endswith(
        "0 of 0 perturbed queries ranked differently, mean RBO -; 6 queries not perturbed"
    )


def test_many_queries_are_cut_and_foreign_text_is_harmless() -> None:
    ids = [f"q{number}\n\x1b" for number in range(30)]
    golden = GoldenSet.from_dict({key: {} for key in ids}, {key: f"{key} x" for key in ids})
    text = failure_of(lambda: assert_invariant(lambda text: [f"\x1b{text}"], golden, upper))
    assert "\x1b" not in text
    assert text.count("as it is") == 5
    assert (
        "\n    and q5\\n\\x1b, q6\\n\\x1b, q7\\n\\x1b, q8\\n\\x1b, q9\\n\\x1b and 20 more\n" in text
    )
