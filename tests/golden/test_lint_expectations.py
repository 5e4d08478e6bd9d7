"""Lint rules for expectations: against the grades, without gain, and with unknown ids."""

from pathlib import Path

import pytest

from pytest_rankcheck import Expectation, GoldenSet
from tests.golden.test_lint import finding

RULES = ["expectation-against-grades"]


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
        Expectation.above(["best", "bad"], ["spam", "fair"], query="q"),
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


def test_a_query_with_expectations_alone_has_nothing_relevant() -> None:
    golden = expecting({}, in_top(3, "new"), others={"d": 1, "e": 0})
    assert finding(golden, "no-relevant") is not None
    assert finding(golden, "no-judgment") is None
    assert golden.lint(rules=RULES) == []


def test_expected_documents_are_looked_up_in_the_catalogue() -> None:
    """As judged ones are: the expectation of an unknown one may never fail."""
    corpus = ["best", "refund-policy", "refund-polcy", "00184"]
    golden = expecting({"best": 2, "refund-policy": 0}, not_in_top(3, "refund-polcy"))
    rules = ["misspelt-id", "not-in-corpus"]
    assert golden.lint(rules=rules, documents=corpus) == []
    golden = expecting({"best": 2}, in_top(3, "nothing-like-it"), not_in_top(3, "184"))
    misspelt, absent = golden.lint(rules=rules, documents=iter(corpus))
    assert misspelt.what.endswith("'184' is '00184' there")
    assert absent.what.startswith("1 of 3 judged or expected documents is not in the catalogue (4")
    assert absent.what.endswith(": nothing-like-it")


def test_many_expectations_against_the_grades_are_not_all_shown() -> None:
    many = expecting({"best": 2}, *(not_in_top(number, "best") for number in range(1, 9)))
    found = finding(many, "expectation-against-grades")
    assert found.what.count("query 'q' expects") == 5
    assert found.what.endswith("has the grade 2; and 3 more")


def test_an_expectation_of_a_file_is_found_with_its_place(tmp_path: Path) -> None:
    file = tmp_path / "web.jsonl"
    file.write_text(
        '{"query_id": "a", "relevance": {"x": 1, "y": 0}}\n'
        '{"query_id": "q", "relevance": {"best": 3, "bad": 0},'
        ' "expect": [{"not_in_top": 3, "documents": ["best"]}, {"results": "none"}]}\n'
    )
    found = finding(GoldenSet.load(file), "expectation-against-grades")
    assert found.what.startswith("2 expectations against the grades")
    assert found.places == (f"{file}:2",)
