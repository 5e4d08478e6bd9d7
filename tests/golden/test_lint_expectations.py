"""Lint rules for expectations: those against the grades, without gain, and with misspelt ids."""

from __future__ import annotations

import difflib
import random
import re
from pathlib import Path
from typing import Any

import pytest

from pytest_rankcheck import Expectation, GoldenSet
from pytest_rankcheck.golden.lint.misspelt_ids import nearest_ids
from tests.golden.test_lint import finding

RULES = [
    *("expectation-against-grades", "expectation-without-gain"),
    *("unknown-expected-id", "misspelt-expected-id"),
]


def expecting(
    grades: dict[str, float], *expectations: Expectation, others: dict[str, float] | None = None
) -> GoldenSet:
    judged = {"q": grades, **({"other": others} if others else {})}
    return GoldenSet.from_dict(judged).expecting(*expectations)


def in_top(k: int, *documents: str) -> Expectation:
    return Expectation.in_top(k, *documents, query="q")


def not_in_top(k: int, *documents: str) -> Expectation:
    return Expectation.not_in_top(k, *documents, query="q")


GRADES: dict[str, float] = {"best": 3, "good": 2, "fair": 1, "bad": 0, "spam": -1}

AGAINST: dict[str, tuple[Expectation, str]] = {
    "the best document is kept out": (
        not_in_top(5, "best"), "best not in the top 5, but 'best' has the grade 3",
    ),
    "a relevant document is kept out of a top that has a place for it": (
        not_in_top(3, "bad", "fair"), "but 'fair' has the grade 1",
    ),
    "no result where a document is relevant": (
        Expectation.no_results(query="q"), "no result, but 'best' has the grade 3",
    ),
    "an order against the grades": (
        Expectation.above("fair", "good", query="q"),
        "fair above good, but 'fair' has the grade 1 and 'good' has the grade 2",
    ),
    "one pair of several against the grades": (
        Expectation.before(["best", "bad"], ["spam", "fair"], query="q"),
        "but 'bad' has the grade 0 and 'fair' has the grade 1",
    ),
    "a top that is full of better documents": (
        in_top(2, "fair"),
        "fair in the top 2, but 'fair' has the grade 1 and 2 documents have more",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("expectation", "text"), AGAINST.values(), ids=AGAINST)
def test_expectations_against_the_grades(expectation: Expectation, text: str) -> None:
    found = finding(expecting(GRADES, expectation), "expectation-against-grades")
    assert found is not None
    assert found.level == "error"
    assert found.query_ids == ("q",)
    assert found.what.startswith("1 expectation against the grades: query 'q' expects ")
    assert found.what.endswith(text)


AGREEING: dict[str, Expectation] = {
    "relevant documents in the top": in_top(3, "best", "fair"),
    "what is not relevant out of it": not_in_top(10, "bad", "spam", "unjudged"),
    "a lower grade below the top": not_in_top(2, "fair"),
    "an order by the grades": Expectation.above("best", "good", query="q"),
    "documents that are both not relevant": Expectation.above("spam", "bad", query="q"),
    "an unjudged document above one that is not relevant": Expectation.above(
        "new", "bad", query="q"
    ),
    "an unjudged document": Expectation.above("best", "unjudged", query="q"),
    "some results": Expectation.some_results(query="q"),
}


@pytest.mark.parametrize("expectation", AGREEING.values(), ids=AGREEING)
def test_expectations_that_agree_with_the_grades(expectation: Expectation) -> None:
    assert expecting(GRADES, expectation).lint(rules=RULES) == []


def test_one_of_several_best_documents_may_be_expected_below_the_first() -> None:
    grades = {f"d{n}": 3.0 for n in range(12)}
    rule = "expectation-against-grades"
    assert finding(expecting(grades, not_in_top(1, "d1")), rule) is None
    assert finding(expecting(grades, not_in_top(10, "d1")), rule) is not None
    single = expecting({"d1": 3, "d2": 0}, not_in_top(1, "d1"))
    assert finding(single, rule) is not None  # every ideal ranking has it first


def test_expecting_no_results_is_right_if_nothing_is_relevant() -> None:
    nothing = expecting({"bad": 0}, Expectation.no_results(query="q"), others={"d": 1})
    assert nothing.lint(rules=RULES) == []


@pytest.mark.parametrize(
    ("expectation", "text"),
    [
        (in_top(3, "bad"), "bad in the top 3, but 'bad' has the grade 0"),
        (in_top(3, "best", "new"), "best, new in the top 3, but 'new' is not judged"),
        (
            Expectation.before(["best", "new"], ["bad", "good"], query="q"),
            "best, new before bad, good, but 'new' is not judged, and 'good' has the grade 2",
        ),
    ],
)
def test_expectations_that_no_metric_rewards(expectation: Expectation, text: str) -> None:
    golden = expecting(GRADES, expectation)
    found = finding(golden, "expectation-without-gain")
    assert found is not None
    assert found.level == "warning"
    assert found.what == f"1 expectation that no metric rewards: query 'q' expects {text}"
    assert [each.rule for each in golden.lint(rules=RULES)] == ["expectation-without-gain"]


def test_a_query_without_judgments_has_its_own_rule() -> None:
    golden = expecting({}, in_top(3, "new"), others={"d": 1, "e": 0})
    assert finding(golden, "only-expectations") is not None
    assert golden.lint(rules=RULES) == []


@pytest.mark.parametrize(
    ("expected", "judged"),
    [
        ("refund-polciy", "refund-policy"),
        ("Refund-Policy", "refund-policy"),
        ("refund policy ", "refundpolicy"),
        ("doc7", "doc0007"),
        ("184", "184.0"),
        ("doc-12-summry", "doc-12-summary"),
    ],
)
def test_misspelt_ids(expected: str, judged: str) -> None:
    """Also where the document must not be found: such an expectation can never fail."""
    golden = expecting({"best": 2}, not_in_top(3, expected), others={judged: 1, "x": 0})
    found = finding(golden, "misspelt-expected-id")
    assert found is not None
    assert found.what.endswith(f"but '{expected}' is not judged; did you mean '{judged}'?")
    of_top = expecting({"best": 2}, in_top(3, expected), others={judged: 1, "x": 0})
    assert [each.rule for each in of_top.lint(rules=RULES)] == ["misspelt-expected-id"]


@pytest.mark.parametrize(
    ("expected", "judged"),
    [
        ("doc12", "doc13"),
        ("4711", "4712"),
        ("shoes-m", "shoes-l"),
        ("old-policy", "refund-policy"),
        ("d1", "d2"),
        ("b0e4", "b0e5"),
    ],
)
def test_other_documents_are_not_misspelt(expected: str, judged: str) -> None:
    golden = expecting({"best": 2}, not_in_top(3, expected), others={judged: 1, "x": 0})
    assert golden.lint(rules=RULES) == []


def test_a_corpus_shows_which_documents_exist() -> None:
    """A near id of another document that exists is right, an id that nothing is like is wrong."""
    corpus = ["best", "refund-policy", "refund-polcy", "00184"]
    expectation = not_in_top(3, "refund-polcy")
    golden = expecting({"best": 2, "refund-policy": 0}, expectation)
    assert finding(golden, "misspelt-expected-id") is not None
    assert golden.lint(rules=RULES, corpus=corpus) == []
    golden = expecting({"best": 2}, in_top(3, "nothing-like-it"), not_in_top(3, "184"))
    found = finding(golden, "unknown-expected-id", corpus=corpus)
    assert found is not None
    assert found.level == "error"
    assert found.what == (
        "2 expectations with an unknown document: query 'q' expects nothing-like-it in the top 3, "
        "but 'nothing-like-it' is not in the corpus; query 'q' expects 184 not in the top 3, but "
        "'184' is not in the corpus; did you mean '00184'?"
    )
    many = expecting({"best": 2}, *(in_top(9, f"new{number}") for number in range(8)))
    found = finding(many, "unknown-expected-id", corpus=corpus)
    assert found is not None
    assert found.what.count("query 'q' expects") == 5
    assert found.what.endswith("but 'new4' is not in the corpus; and 3 more")
    assert [each.rule for each in golden.lint(rules=RULES, corpus=corpus)] == [found.rule]
    only = expecting({"best": 2}, not_in_top(3, "184"))
    found = finding(only, "unknown-expected-id", corpus=iter(corpus))
    assert found is not None
    assert found.what.endswith("but '184' is not in the corpus; did you mean '00184'?")
    # What is expected is not judged, so the rules for judged documents say nothing about it.
    assert only.lint(rules=["misspelt-id", "not-in-corpus"], corpus=corpus) == []


def test_an_expectation_of_a_file_is_found_with_its_place(tmp_path: Path) -> None:
    file = tmp_path / "web.jsonl"
    file.write_text(
        '{"query_id": "a", "relevance": {"x": 1, "y": 0}}\n'
        '{"query_id": "q", "relevance": {"best": 3, "bad": 0},'
        ' "expect": [{"not_in_top": 3, "documents": ["best"]}, {"results": "none"}]}\n'
    )
    found = finding(GoldenSet.load(file), "expectation-against-grades")
    assert found is not None
    assert found.what.startswith("2 expectations against the grades")
    assert found.places == (f"{file}:2",)


def test_only_ids_that_begin_or_end_alike_are_compared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    letters = "abcdefghijklmnopqrstuvwxyz"
    ids = [f"{a}{b}{c}-page" for a in letters for b in letters for c in letters]
    others: dict[str, Any] = dict.fromkeys(ids, 1)
    golden = expecting({"best": 2}, not_in_top(3, "ab-thing"), others=others)
    compared: list[int] = []

    def counting(form: str, close: list[str], **how: Any) -> list[str]:
        compared.append(len(close))
        return []

    monkeypatch.setattr(difflib, "get_close_matches", counting)
    assert golden.lint(rules=["misspelt-expected-id"]) == []
    assert compared == [26]  # aba-page to abz-page


def test_a_misspelt_id_is_the_nearest_of_all_with_its_numbers() -> None:
    """The same as by comparing with each known id; the words of two letters make many alike."""
    draw = random.Random(3)

    def drawn_id() -> str:
        words = ["".join(draw.choice("ab") for _ in range(4)) for _ in range(draw.randint(2, 4))]
        return "-".join(words) + draw.choice(["", "", "-7", "-007"])

    def numbers(doc_id: str) -> list[int]:
        return [int(digits) for digits in re.findall(r"\d+", doc_id)]

    known = {drawn_id().replace("-007", "-7") for _ in range(300)}
    ids = {drawn_id() for _ in range(300)} - known
    expected = {}
    for doc_id in ids:
        form = doc_id.replace("-007", "-7")
        ratios = {
            other: difflib.SequenceMatcher(None, other, form).ratio()
            for other in known
            if numbers(other) == numbers(doc_id)
            and (other[:2] == form[:2] or other[-2:] == form[-2:])
            and abs(len(other) - len(form)) <= 2
        }
        best = max(ratios.values(), default=0.0)
        if best >= 0.9:
            expected[doc_id] = {other for other, ratio in ratios.items() if ratio == best}
    found = nearest_ids(sorted(ids), known)
    assert found.keys() == expected.keys()
    assert all(found[doc_id] in nearest for doc_id, nearest in expected.items())
    assert len(found) > 50
