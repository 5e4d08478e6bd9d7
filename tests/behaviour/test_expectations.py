"""Expectations checked against runs: each kind by hand, the marks, and the text of a failure."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_rankcheck import (
    ConfigurationError,
    Expectation,
    GoldenSet,
    GoldenSetError,
    Run,
    RunError,
    assert_expectations,
    rank,
)
from pytest_rankcheck.behaviour.expectation_check import check_expectations
from pytest_rankcheck.reports.findings import Note, Topic

GOLDEN = GoldenSet.from_dict({"q": {"a": 1}}, {"q": "refund"}, name="shop")


def holds(expectation: Expectation, ranking: Sequence[str]) -> bool:
    run = Run.from_dict({"q": list(ranking)})
    (found,) = check_expectations(run, GOLDEN, [expectation])
    return found.holds


RANKED = "abcd"  # a at 1, b at 2, c at 3, d at 4; x, y, z are not ranked


def test_each_kind_by_hand() -> None:
    for expectation, expected in (
        (Expectation.in_top(1, "a", query="q"), True),
        (Expectation.in_top(1, "b", query="q"), False),
        (Expectation.in_top(2, "b", query="q"), True),
        (Expectation.in_top(3, "c", "a", query="q"), True),
        (Expectation.in_top(3, "a", "d", query="q"), False),
        (Expectation.in_top(9, "x", query="q"), False),
        (Expectation.not_in_top(1, "b", query="q"), True),
        (Expectation.not_in_top(2, "b", query="q"), False),
        (Expectation.not_in_top(2, "x", "c", query="q"), True),
        (Expectation.not_in_top(3, "x", "c", query="q"), False),
        (Expectation.above("a", "b", query="q"), True),
        (Expectation.above("b", "a", query="q"), False),
        (Expectation.above("d", "x", query="q"), True),  # what is not ranked is below
        (Expectation.above("x", "d", query="q"), False),
        (Expectation.above("x", "y", query="q"), False),  # and above nothing
        (Expectation.above(["a", "b"], ["c", "d"], query="q"), True),
        (Expectation.above(["b", "a"], ["d", "x"], query="q"), True),
        (Expectation.above(["a", "c"], ["b", "d"], query="q"), False),
        (Expectation.above(["a", "x"], ["b"], query="q"), False),
        (Expectation.above(["a", "x"], ["y"], query="q"), False),
        (Expectation.some_results(query="q"), True),
        (Expectation.no_results(query="q"), False),
    ):
        assert holds(expectation, RANKED) is expected, expectation


def test_each_kind_of_nothing() -> None:
    for expectation, expected in (
        (Expectation.in_top(1, "a", query="q"), False),
        (Expectation.not_in_top(1, "a", query="q"), True),
        (Expectation.above("a", "b", query="q"), False),
        (Expectation.above(["a"], ["b"], query="q"), False),
        (Expectation.some_results(query="q"), False),
        (Expectation.no_results(query="q"), True),
    ):
        assert holds(expectation, "") is expected, expectation
        run = Run.from_dict(
            {"other": ["a"], "q2": []}
        )  # a query that the run lacks is ranked nothing
        golden = GoldenSet.from_dict({"q": {"a": 1}, "q2": {}})
        (found,) = check_expectations(run, golden, [expectation])
        assert found.holds is expected, expectation


documents = st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=4, unique=True)


@given(ranking=st.permutations("abcdef"), first=documents, second=documents, cut=st.integers(0, 6))
def test_before_is_above_for_each_pair(
    ranking: list[str], first: list[str], second: list[str], cut: int
) -> None:
    """The definition, pair by pair: ranked, and the other one lower or not ranked."""
    second = [doc for doc in second if doc not in first]
    if not second:
        return
    ranks = {doc: rank for rank, doc in enumerate(ranking[:cut])}
    by_pair = all(
        one in ranks and (other not in ranks or ranks[one] < ranks[other])
        for one in first
        for other in second
    )
    assert holds(Expectation.above(first, second, query="q"), ranking[:cut]) is by_pair


# --- the assertion -------------------------------------------------------------------------------

SHOP = GoldenSet.from_dict(
    {"q1": {"policy": 3}, "q2": {}, "q3": {}, "q4": {}},
    {"q1": "refund", "q2": "xyzzy", "q3": "contact", "q4": "jobs"},
    name="shop",
)
RUN = Run.from_dict(
    {
        "q1": ["shipping", "faq", "contact", "jobs", "policy", "old"],
        "q2": ["faq"],
        "q3": ["contact"],
    }
)


def failure_of(
    expectations: Sequence[Expectation], run: Run = RUN, golden: GoldenSet = SHOP
) -> str:
    with pytest.raises(AssertionError) as failure:
        assert_expectations(run, golden.expecting(*expectations))
    with pytest.raises(AssertionError) as given_in_code:
        assert_expectations(run, golden, expectations)
    assert str(failure.value) == str(given_in_code.value)
    return str(failure.value)


def test_all_violations_are_reported_with_query_ranking_and_expectation() -> None:
    text = failure_of(
        [
            Expectation.some_results(query="q4", reason="we always hire"),
            Expectation.in_top(3, "policy", query="q1", reason="it is the law"),
            Expectation.above(["policy", "form"], ["faq", "shipping"], query="q1"),
            Expectation.in_top(1, "contact", query="q3"),
            Expectation.no_results(query="q2"),
        ]
    )
    assert text == (
        "golden set 'shop' (4 queries): 1 of 5 expectations holds, 4 violated\n"
        "  not ranked as expected\n"
        '    q1 "refund"\n'
        "      expected  policy in the top 3\n"
        "      because   it is the law\n"
        "      but       policy is at 5\n"
        "      expected  policy, form above faq, shipping\n"
        "      but       policy is at 5, form is not ranked, faq is at 2, shipping is at 1\n"
        "      ranked    1 shipping   2 faq   3 contact   4 jobs   5 policy   6 old\n"
        '    q2 "xyzzy"\n'
        "      expected  no result\n"
        "      ranked    1 faq\n"
        '    q4 "jobs"\n'
        "      expected  at least one result\n"
        "      because   we always hire\n"
        "      ranked    nothing: the run does not have this query\n"
        "  to fix: improve these queries, correct the expectations, or say with known_failure why "
        "they cannot hold yet"
    )


def test_expectations_that_hold_pass_and_are_counted(entered: list[Note]) -> None:
    assert_expectations(RUN, SHOP, [Expectation.in_top(1, "contact", query="q3")])
    note = "golden set 'shop' (4 queries): 1 of 1 expectation holds"
    assert entered == [Note(Topic.EXPECTATIONS, note, about="shop")]


def test_a_known_failure_passes_while_it_fails_and_is_listed(entered: list[Note]) -> None:
    known = Expectation.in_top(
        1, "policy", query="q1", known_failure="no stemming yet", known_rank=5
    )
    assert_expectations(RUN, SHOP, [known])
    assert [note.text for note in entered] == [
        "golden set 'shop' (4 queries): 0 of 1 expectation holds, 1 known failure",
        (
            'q1 "refund": expected policy in the top 1 (known failure: "no stemming yet"); '
            "policy is at 5 (at 5 when it was marked)"
        ),
    ]


def known(kind: str, documents: str, others: str = "", *, at: int | None) -> Expectation:
    """Return a known failure about documents of one letter each, with the rank that it had."""
    k = {"in_top": 2, "not_in_top": 5}.get(kind)
    return Expectation(
        "q", kind, tuple(documents), tuple(others), k, known_failure="x", known_rank=at
    )


def test_a_known_failure_is_worse_when_its_document_left_its_rank() -> None:
    for expectation, is_worse in (  # ranked: a at 1, b at 2, c at 3, d at 4
        (known("in_top", "c", at=3), False),
        (known("in_top", "d", at=3), True),
        (known("in_top", "c", at=4), False),
        (known("in_top", "ad", at=4), False),  # the last of them counts
        (known("in_top", "ad", at=3), True),
        (known("in_top", "x", at=100), True),  # ranked then, and not any more
        (known("in_top", "cx", at=3), True),
        (known("in_top", "x", at=None), False),
        (known("in_top", "d", at=None), False),
        (known("not_in_top", "b", at=2), False),
        (known("not_in_top", "b", at=3), True),  # higher is worse
        (known("not_in_top", "b", at=1), False),
        (known("not_in_top", "dbx", at=3), True),  # the first of them counts
        (known("above", "d", "a", at=4), False),
        (known("above", "d", "a", at=2), True),
        (known("above", "x", "a", at=7), True),
        (known("above", "bd", "a", at=3), True),
        (known("in_top", "a", at=3), False),  # it holds
    ):
        (found,) = check_expectations(Run.from_dict({"q": list(RANKED)}), GOLDEN, [expectation])
        assert found.is_worse is is_worse, expectation


def test_a_run_that_is_too_short_to_show_the_rank_does_not_make_it_worse() -> None:
    expectation = known("in_top", "x", at=40)
    for depth, is_worse in ((10, False), (39, False), (40, True), (100, True)):
        run = rank(lambda text: [f"d{place}" for place in range(100)], GOLDEN, depth=depth)
        (found,) = check_expectations(run, GOLDEN, [expectation])
        assert found.is_worse is is_worse


def test_worse_known_failures_are_a_warning_and_do_not_fail(entered: list[Note]) -> None:
    expectations = [
        Expectation.in_top(1, "policy", query="q1", known_failure="stems", known_rank=3),
        Expectation.in_top(3, "old", "jobs", query="q1", known_failure="x\x1b", known_rank=5),
        Expectation.not_in_top(9, "contact", "x", query="q3", known_failure="spam", known_rank=2),
        Expectation.above("gone", "faq", query="q2", known_failure="lost", known_rank=7),
    ]
    assert_expectations(RUN, SHOP, expectations)
    worse = [note for note in entered if note.topic is Topic.WORSE_KNOWN_FAILURES]
    assert [note.text.partition("); ")[2] for note in worse] == [
        "policy is at 5 (at 3 when it was marked)",
        "old is at 6, jobs is at 4 (at 5 when it was marked)",
        "gone is not ranked, faq is at 1 (at 7 when it was marked)",
        "contact is at 1, x is not ranked (at 2 when it was marked)",
    ]
    assert not any(note.failed for note in entered)


def test_a_known_failure_that_holds_fails_and_says_to_remove_the_mark() -> None:
    text = failure_of(
        [
            Expectation.in_top(5, "policy", query="q1", known_failure="no stemming yet"),
            Expectation.in_top(1, "policy", query="q1", known_failure="synonyms"),
        ]
    )
    assert text == (
        "golden set 'shop' (4 queries): 0 of 2 expectations hold, 1 known failure, 1 known failure "
        "fixed\n"
        "  known failures that now hold; remove their known_failure\n"
        '    q1 "refund": expected policy in the top 5 (known failure: "no stemming yet"); policy '
        "is at 5"
    )


def test_violations_with_severity_warn_are_shown_and_pass(entered: list[Note]) -> None:
    warned = Expectation.in_top(1, "policy", query="q1", severity="warn")
    fixed = Expectation.in_top(1, "faq", query="q2", known_failure="x", severity="warn")
    assert_expectations(RUN, SHOP, [warned, fixed])
    assert [(note.topic, note.text) for note in entered] == [
        (
            Topic.EXPECTATIONS,
            "golden set 'shop' (4 queries): 0 of 2 expectations hold, 1 violated (1 with severity warn), 1 known failure fixed",
        ),
        (Topic.WARNED_EXPECTATIONS, 'q1 "refund": expected policy in the top 1; policy is at 5'),
        (
            Topic.WARNED_EXPECTATIONS,
            'q2 "xyzzy": expected faq in the top 1 (known failure: "x", but it now holds: remove the mark); faq is at 1',
        ),
    ]
    other = Expectation.no_results(query="q2")
    text = failure_of([warned, other])
    assert text.startswith(
        "golden set 'shop' (4 queries): 0 of 2 expectations hold, 2 violated (1 with severity warn)\n"
    )
    assert "policy" not in text


def test_invalid_expectations_are_refused_before_any_check() -> None:
    one = Expectation.some_results(query="q1")
    with pytest.raises(ConfigurationError, match=r"no expectations: .* of golden set 'shop'"):
        assert_expectations(RUN, SHOP)
    with pytest.raises(ConfigurationError, match="no expectations"):
        assert_expectations(RUN, SHOP, [])
    with pytest.raises(GoldenSetError, match=r"has no query q9, but an expectation names it"):
        assert_expectations(RUN, SHOP, [Expectation.some_results(query="q9")])
    with pytest.raises(RunError, match="share no query: the run has Q1, the golden set q1, q2, q3"):
        assert_expectations(Run.from_dict({"Q1": ["a"]}), SHOP, [one])
    assert_expectations(RUN, SHOP, one)  # type: ignore[arg-type]  # who gives one gives a list


def test_a_top_below_the_depth_of_the_run_cannot_be_checked() -> None:
    run = rank(lambda text: [f"d{place}" for place in range(50)], GOLDEN, depth=20)
    assert_expectations(run, GOLDEN, [Expectation.not_in_top(20, "d20", query="q")])
    message = (
        "d20 not in the top 21 looks at the first 21 documents of each ranking, but only 20 were "
        "asked for; measure at most 20, or rank to a depth of at least 21: rankcheck_depth = 21"
    )
    with pytest.raises(ConfigurationError, match=message):
        assert_expectations(run, GOLDEN, [Expectation.not_in_top(21, "d20", query="q")])


def test_long_rankings_and_many_queries_are_cut_and_counted() -> None:
    many = [f"q{number:02}" for number in range(30)]
    golden = GoldenSet.from_dict({query_id: {} for query_id in many})
    ranking = [f"document-{number}" for number in range(40)]
    run = Run.from_dict(dict.fromkeys(many, ranking))
    text = failure_of([Expectation.in_top(1, "x", query=query) for query in many], run, golden)
    assert "      ranked    1 document-0   2 document-1 " in text
    assert text.count("\n    q") == 6
    assert "\n    and q06, q07, q08, q09, q10 and 19 more\n" in text
    assert max(map(len, text.splitlines())) < 130
    assert len(text.splitlines()) <= 40
    for length in (0, 40):  # also where ten of them do not fit on three lines
        run = Run.from_dict(dict.fromkeys(many, [f"{doc}{'-' * length}" for doc in ranking]))
        text = failure_of([Expectation.in_top(1, "x", query="q00")], run, golden)
        assert "   ... of 40\n" in text


def test_untrusted_text_is_harmless() -> None:
    odd = "d\x1b[2J\n"
    golden = GoldenSet.from_dict({odd: {}}, {odd: "\x1b]0;x\x07"}, name=odd)
    one = Expectation.in_top(1, "e\u202e", query=odd, reason="r\x1b[0m")
    text = failure_of([one], Run.from_dict({odd: [odd, "e\u202e"]}), golden)
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert text.count("\n") == 7
