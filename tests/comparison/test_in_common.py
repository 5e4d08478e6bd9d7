"""What the queries that fell have in common: facts first, then contrasts, each with its counts."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from pytest_rankcheck import (
    Cause,
    CauseKind,
    Comparison,
    Evaluation,
    GoldenSet,
    Metric,
    Record,
    Run,
    compare,
    evaluate,
)
from pytest_rankcheck.explanation.explanation import Explanation, InCommon
from pytest_rankcheck.reports.text.failure_text import failure_lines

QUERIES = [f"q{number:02}" for number in range(40)]
OTHERS = [f"other{number}" for number in range(12)]
RR = Metric.parse("RR")

Rankings = Mapping[str, Sequence[str]]


def lines(causes: tuple[str, ...], fallen: int) -> list[str]:
    """Return what a failure says of the causes of a fall."""
    explanation = Explanation(headline="RR fell", in_common=InCommon(RR, causes, fallen))
    return [*failure_lines(explanation)][1:]


def answer(query_id: str, rank: int = 1, others: Sequence[str] = ()) -> list[str]:
    """Return twelve other documents, with the relevant one of the query at a rank.

    Args:
        query_id: the query.
        rank: the rank.
        others: the others; by default, those of this query only.
    """
    others = others or [f"{query_id}-{number}" for number in range(12)]
    return [*others[: rank - 1], f"guide-{query_id[1:]}", *others[rank - 1 :]]


def compared(
    now: Rankings, before: Rankings | None = None, *, kept: int | None = None, **of_golden: Any
) -> Comparison:
    """Return 40 queries, whose relevant document was at rank 1, and what is ranked for some now.

    Args:
        now: the rankings of those that changed.
        before: the rankings before, if they are others.
        kept: how many documents of each a record keeps; None: compare two evaluations.
        of_golden: as in `GoldenSet.from_dict`.
    """
    judged = {query_id: {f"guide-{query_id[1:]}": 1} for query_id in QUERIES}
    golden = GoldenSet.from_dict(judged, **of_golden)
    earlier = before or {query_id: answer(query_id) for query_id in QUERIES}
    sides = [evaluate(Run.from_dict(dict(each)), golden) for each in (earlier, {**earlier, **now})]
    if kept is None:
        return compare(sides[1], sides[0])
    return compare(sides[1], Record.of(sides[0], [RR], kept_depth=kept))


def named(comparison: Comparison) -> list[str]:
    return [cause.text for cause in comparison.in_common(RR)]


def fallen(*query_ids: str) -> dict[str, list[str]]:
    """Return rankings with the relevant document at rank 5."""
    return {query_id: answer(query_id, rank=5) for query_id in query_ids}


LOCALES = {query_id: {"locale": "de" if query_id < "q12" else "en"} for query_id in QUERIES}


# --- contrasts -------------------------------------------------------------------------------


def test_a_slice_is_named_with_its_counts() -> None:
    comparison = compared(fallen(*QUERIES[2:14]), attributes=LOCALES)
    (cause,) = comparison.in_common("RR")
    assert cause == Cause(
        kind=CauseKind.SLICE,
        queries=tuple(QUERIES[2:12]),
        fallen=12,
        shared=12,
        compared=40,
        names=("locale", "de"),
    )
    assert cause.kind == "slice"
    assert cause.text == "10 of 12 are locale=de (30% of all are)"


def test_words_are_named_whatever_their_case() -> None:
    texts = {each: f"my order {'Refund?' if each < 'q10' else each}" for each in QUERIES}
    comparison = compared(fallen(*QUERIES[:8], "q30"), queries=texts)
    assert named(comparison) == ['8 of 9 contain "refund" (25% of all do)']


def test_the_number_of_words_is_named() -> None:
    texts = {each: each if each < "q10" else f"order {each}" for each in QUERIES}
    assert named(compared(fallen(*QUERIES[:8]), queries=texts))[0] == (
        "8 of 8 have one word (25% of all do)"
    )
    longer = {each: f"a b {text}" for each, text in texts.items()}
    assert named(compared(fallen(*QUERIES[:8]), queries=longer))[0] == (
        "8 of 8 have 3 words (25% of all do)"
    )


def test_a_document_that_is_new_in_the_first_places_is_named() -> None:
    now = {each: ["ad", *answer(each)] for each in QUERIES[:9]}
    now |= fallen("q20", "q30")
    assert named(compared(now)) == ["in 9 of 11 the same document is new in the top 3: ad"]
    everywhere = {each: ["ad", *answer(each)] for each in QUERIES}
    assert named(compared(everywhere)) == ["in 40 of 40 the same document is new in the top 3: ad"]
    alike = {each: answer(each, others=OTHERS) for each in QUERIES}
    now = {each: answer(each, rank=3, others=OTHERS) for each in QUERIES[:9]}
    assert not named(compared(now, alike)), "other0 and other1 were among the first three before"


def test_a_document_is_new_where_the_record_keeps_so_much() -> None:
    """At rank 3 it was in the top 3, though the record does not say so."""
    before = {q: [*answer(q)[:2], "shop", *answer(q)[2:]] for q in QUERIES}
    now = {q: ["shop", *answer(q)] for q in QUERIES[:20]}
    assert named(compared(now, before, kept=2)) == [
        "in 20 of 20 the same document is new in the top 2: shop"
    ]
    assert named(compared(now, before, kept=3)) == []


def test_a_contrast_has_more_falls_than_rises() -> None:
    """7 falls and no rise have p = 0.0078 in a sign test; 6 have 0.0156, and 8 against 1 0.0195."""
    before = {each: answer(each, rank=2) for each in QUERIES}
    assert named(compared(fallen(*QUERIES[:7]), before, attributes=LOCALES))
    assert not named(compared(fallen(*QUERIES[:6]), before, attributes=LOCALES))
    risen = {"q08": answer("q08")}
    assert not named(compared({**fallen(*QUERIES[:8]), **risen}, before, attributes=LOCALES))


def test_a_contrast_is_more_than_chance_after_correction_for_all_that_were_tried() -> None:
    """7 of 9 that fell are in a part of 15 of 40: p = 0.0077; in a part of 16: 0.0127."""
    now = fallen(*QUERIES[:7], "q30", "q31")
    larger = {each: {"locale": "de" if each < "q16" else "en"} for each in QUERIES}
    assert not named(compared(now, attributes=larger))
    part = {each: {"locale": "de" if each < "q15" else "en"} for each in QUERIES}
    assert named(compared(now, attributes=part)) == ["7 of 9 are locale=de (38% of all are)"]
    many = {
        each: {**part[each], **{f"other {n}": place % (2 + n) for n in range(9)}}
        for place, each in enumerate(QUERIES)
    }
    assert not named(compared(now, attributes=many))


def test_a_cause_has_a_third_of_the_fall() -> None:
    """RR falls by 1 in 8 queries without an answer, and by 0.8 where the document is at rank 5."""
    empty: dict[str, list[str]] = {each: [] for each in QUERIES[:8]}
    assert named(compared({**empty, **fallen(*QUERIES[20:])})) == [
        "8 of 28 have no answer now (8 of all 40; 0 before)"
    ]
    assert not named(compared({**empty, **fallen(*QUERIES[19:])}))


def test_the_best_contrast_comes_first_and_others_of_the_same_falls_are_left_out() -> None:
    attributes = {
        each: {"locale": "de" if each < "q12" else "en", "device": "tv" if each < "q10" else "pc"}
        for each in QUERIES
    }
    comparison = compared(fallen(*QUERIES[:10]), attributes=attributes)
    assert named(comparison) == ["10 of 10 are device=tv (25% of all are)"]
    apart = {
        each: {"locale": "de" if each < "q12" else "en", "device": "tv" if each >= "q30" else "pc"}
        for each in QUERIES
    }
    comparison = compared(fallen(*QUERIES[:12], *QUERIES[30:]), attributes=apart)
    assert named(comparison) == [
        "12 of 22 are locale=de (30% of all are)",
        "10 of 22 are device=tv (25% of all are)",
    ]


@pytest.mark.parametrize(("shared", "is_named"), [(7, True), (8, False)])
def test_contrasts_that_share_four_of_five_falls_are_one(shared: int, is_named: bool) -> None:
    televisions = {*QUERIES[:shared], *QUERIES[30 + shared :]}
    attributes = {
        each: {"locale": "de" if each < "q12" else "en", "on_tv": each in televisions}
        for each in QUERIES
    }
    now = fallen(*QUERIES[:12], *sorted(televisions))
    lines = named(compared(now, attributes=attributes))
    assert lines[0].endswith(f"of {22 - shared} are locale=de (30% of all are)")
    assert (len(lines) == 2) == is_named


def test_nothing_in_common_is_said_in_words() -> None:
    comparison = compared(fallen("q03", "q15", "q29"), attributes=LOCALES)
    assert comparison.in_common(RR) == ()
    assert lines((), 122) == ["  no usual cause is common to the 122 queries that fell"]
    assert lines((), 1) == []


def test_falls_that_are_too_few_for_a_contrast_are_not_said_to_share_nothing() -> None:
    fell = {number: compared(fallen(*QUERIES[:number]), attributes=LOCALES) for number in (6, 7)}
    assert named(fell[7]) == ["7 of 7 are locale=de (30% of all are)"]
    assert named(fell[6]) == []
    assert lines((), 6) == [
        "  the 6 queries that fell are too few to tell what they have in common"
    ]
    assert lines((), 7) == ["  no usual cause is common to the 7 queries that fell"]


def test_the_lines_have_a_heading_and_the_best_causes() -> None:
    comparison = compared({each: [] for each in QUERIES[:12]}, attributes=LOCALES)
    causes = tuple(cause.text for cause in comparison.in_common(RR))
    assert lines(causes, 12) == [
        "  what the 12 queries that fell in RR have in common",
        "    12 of 12 have no answer now (12 of all 40; 0 before)",
        "    12 of 12 are locale=de (30% of all are)",
    ]
    assert len(lines(causes * 3, 12)) == 4, "at most three causes"


# --- facts -----------------------------------------------------------------------------------


@pytest.mark.parametrize("kept", [None, 10])
def test_ids_of_another_form_are_named(kept: int | None) -> None:
    now = {each: [f"{doc}#0" for doc in answer(each)] for each in QUERIES[:3]}
    assert named(compared({**now, **fallen("q30")}, kept=kept)) == [
        "in 3 of 4 the ids that are ranked changed their form: guide-00 became guide-00#0"
    ]


def test_documents_that_left_the_catalogue_are_named() -> None:
    documents: dict[str, dict[str, object]] = {
        doc: {} for doc in [*OTHERS, *(f"guide-{each[1:]}" for each in QUERIES[2:])]
    }
    now = dict.fromkeys(QUERIES[:3], OTHERS)
    (gone,) = compared(now, documents=documents).in_common(RR)
    assert (gone.kind, gone.queries, gone.names) == (
        "gone",
        ("q00", "q01"),
        ("guide-00", "guide-01"),
    )
    assert gone.text == (
        "2 of 3 lost documents that are no longer in the catalogue: guide-00, guide-01"
    )


def test_documents_are_lost_where_the_metric_no_longer_looks_at_them() -> None:
    """R@12 falls by documents that leave rank 12, which is below the top ten."""
    documents: dict[str, dict[str, object]] = {f"guide-{each[1:]}": {} for each in QUERIES[3:]}
    before = {each: answer(each, rank=12) for each in QUERIES}
    now = {each: [doc for doc in before[each] if doc[:5] != "guide"] for each in QUERIES[:3]}
    now["q30"] = answer("q30", rank=13)
    comparison = compared(now, before, documents=documents)
    assert [cause.text for cause in comparison.in_common("R@12")] == [
        "3 of 4 lost documents that are no longer in the catalogue: guide-00, guide-01, guide-02"
    ]
    assert len(comparison.in_common("R@13")[0].queries) == comparison.values("R@13").losses == 3


def pairs_of(now: Callable[[str], Sequence[str]]) -> dict[str, Sequence[str]]:
    return {each: now(each) for each in QUERIES}


@pytest.mark.parametrize("kept", [None, 10])
def test_documents_that_no_query_returns_are_named(kept: int | None) -> None:
    """Of 16 documents that two queries had, three are in no ranking: those of q00, q01 and q02."""
    own = [f"guide-{each[1:]}" for each in QUERIES[:4]]
    before = {each: [*answer(each, others=OTHERS)[:6], *own] for each in QUERIES[4:]}
    before |= {each: [*own, *OTHERS[:5]] for each in QUERIES[:4]}
    now = {each: [doc for doc in docs if doc not in own[:3]] for each, docs in before.items()}
    now |= {"q10": ["other9", *now["q10"]]}
    (missing,) = compared(now, before, kept=kept).in_common(RR)
    assert missing.text == (
        "3 of 4 lost documents that no query returns any more: guide-00, guide-01, guide-02"
    )
    new = {each: [*now[each], "fresh"] for each in ("q20", "q21")}
    assert not named(compared({**now, **new}, before, kept=kept)), "3 gone and 1 new: p = 0.31"
    two = {each: [doc for doc in docs if doc not in own[:2]] for each, docs in before.items()}
    assert not named(compared(two, before, kept=kept))


@pytest.mark.parametrize(("others", "is_named"), [(5, True), (6, False)])
def test_missing_documents_are_two_percent_of_those_that_two_queries_had(
    others: int, is_named: bool
) -> None:
    """Pairs of queries have the same documents: 140 in all, or 160. Three of them are missing."""
    before = {}
    for number, each in enumerate(QUERIES):
        partner, pair = QUERIES[number ^ 1], number // 2
        both = [f"guide-{each[1:]}", f"guide-{partner[1:]}"]
        before[each] = [*both, *(f"pair{pair}-{place}" for place in range(others))]
    missing = {"guide-00", "guide-02", "guide-04"}
    now = {each: [doc for doc in docs if doc not in missing] for each, docs in before.items()}
    assert bool(named(compared(now, before))) == is_named


@pytest.mark.parametrize("kept", [None, 10])
def test_empty_and_short_answers_are_named(kept: int | None) -> None:
    before = {**pairs_of(answer), "q39": []}
    now: dict[str, Sequence[str]] = {"q00": [], "q01": [], "q02": []}
    assert named(compared({**now, **fallen("q03")}, before, kept=kept)) == [
        "3 of 4 have no answer now (4 of all 40; 1 before)"
    ]
    short = {each: answer(each, rank=5)[:9] for each in ("q00", "q01", "q10")}
    assert named(compared({**short, **fallen("q03")}, before, kept=kept)) == [
        "3 of 4 have fewer than 10 documents now (4 of all 40; 1 before)"
    ]
    assert not named(compared({"q00": [], **fallen("q01", "q02", "q03")}, before, kept=kept))


@pytest.mark.parametrize("kept", [None, 10])
def test_rankings_in_the_reverse_order_are_named(kept: int | None) -> None:
    assert named(compared(pairs_of(lambda each: answer(each)[::-1]), kept=kept)) == [
        "all rankings are in the reverse order, or nearly"
    ]
    some: Rankings = {each: answer(each)[::-1] for each in QUERIES[:3]}
    assert named(compared({**some, **fallen("q30")}, kept=kept)) == [
        "3 of 4 have a ranking in the reverse order, or nearly (3 of the 40 long enough to tell)"
    ]


def test_the_declared_world_follows_the_facts_of_the_rankings() -> None:
    comparison = compared({each: [] for each in QUERIES[:12]}, attributes=LOCALES)
    kinds = [cause.kind for cause in comparison.in_common(RR, world=("a changed", "b changed"))]
    assert kinds == ["no-answer", "world", "slice"]
    assert comparison.in_common(RR, world=("a changed", "b changed"))[1].text == (
        "world: a changed; b changed"
    )
    (world,) = compared({}).in_common(RR, world=("a changed",))
    assert (world.kind, world.text) == ("world", "world: a changed"), (
        "also where no query has a value"
    )


# --- what has no rankings, or no queries -----------------------------------------------------


def test_without_rankings_only_slices_and_words_are_looked_at() -> None:
    now: Rankings = {each: [] for each in QUERIES[:12]}
    assert [c.kind for c in compared(now, attributes=LOCALES, kept=0).in_common(RR)] == ["slice"]


def test_the_rankings_of_one_replicate_say_nothing_about_means() -> None:
    one, other = (compared({each: []}).evaluation for each in ("q00", "q01"))
    golden = one.golden
    assert isinstance(golden, GoldenSet)
    runs = [each.run for each in (one, other) if each.run is not None]
    both: Evaluation = evaluate(runs, golden)
    before = evaluate(Run.from_dict(pairs_of(answer)), golden)
    assert compare(both, before).values(RR).losses == 2
    assert compare(both, before).in_common(RR) == ()


def test_a_metric_of_the_whole_run_has_no_queries_that_fell() -> None:
    documents: dict[str, dict[str, object]] = {doc: {} for each in QUERIES for doc in answer(each)}
    comparison = compared({each: [] for each in QUERIES[:12]}, documents=documents)
    assert comparison.values("Gini@10").difference != 0
    assert comparison.in_common("Gini@10") == ()


def test_texts_of_other_people_stay_on_one_line() -> None:
    attributes = {each: {"loc\nale": "d\x1be" if each < "q12" else "en"} for each in QUERIES}
    assert named(compared(fallen(*QUERIES[:12]), attributes=attributes)) == [
        "12 of 12 are loc\\nale=d\\x1be (30% of all are)"
    ]
