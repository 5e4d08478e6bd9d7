"""The top of a ranking is the same at every depth: approximate indexes break it."""

import math
from typing import Any

import pytest

from pytest_rankcheck import (
    ConfigurationError,
    GoldenSet,
    RankerError,
    RunError,
    assert_consistent_depth,
    evaluate,
    rank,
)
from pytest_rankcheck.rankers import batch, embedder, http, scorer
from pytest_rankcheck.rankers.ranker_lookup import adapter_of
from pytest_rankcheck.reports.findings import Note, Topic
from pytest_rankcheck.reports.text.failure_text import failure_lines
from tests.behaviour import faulty_rankers as faulty

GOLDEN = GoldenSet.from_dict(
    {f"q{n}": {f"d{n}": 2, "d0": 1} for n in range(1, 10)},
    {f"q{n}": f"text {n}" for n in range(1, 10)},
    name="web",
)


def failure_of(ranker: object, golden: GoldenSet = GOLDEN, *rest: Any, **how: Any) -> str:
    with pytest.raises(AssertionError) as failure:
        assert_consistent_depth(ranker, golden, *rest, **how)
    return str(failure.value)


def test_a_ranker_that_searches_further_for_more_documents_is_found(entered: list[Note]) -> None:
    text = failure_of(faulty.searches_deeper, GOLDEN, (3, 5, 8))
    # q3, q6 and q9 have numbers that 3 divides; asked for k, their first k + 1 are reversed.
    lines = text.splitlines()
    assert lines[:4] == [
        (
            "ranker 'searches_deeper' on golden set 'web' (9 queries) has a different top 3 when it is asked for 5 "
            "documents: 3 of 9 queries"
        ),
        "  top 3 at depths 3 and 5: 3 of 9 queries differ",
        "  top 3 at depths 3 and 8: 3 of 9 queries differ",
        "  top 5 at depths 5 and 8: 3 of 9 queries differ",
    ]
    assert lines[4].startswith("  nDCG@3 by requested depth: ")
    assert lines[5] == "  the queries that differ most"
    assert lines[-1].startswith("  to fix: search as far at every depth (ef of HNSW, ")
    order = faulty.ranked("text 3")
    shallow, deep = order[:4][::-1][:3], order[:6][::-1][:3]
    assert any(line.startswith('    q3 "text 3"   RBO ') for line in lines)
    for depth, docs in (("depth 3", shallow), ("depth 5", deep)):
        assert (
            f"      {depth}  " + "   ".join(f"{rank} {doc}" for rank, doc in enumerate(docs, 1))
            in lines
        )
    (note,) = entered
    assert note.topic is Topic.DEPTH
    assert note.failure is not None
    assert "\n".join(failure_lines(note.failure)) == text


def test_the_means_are_those_of_the_smallest_depth_at_each_depth() -> None:
    text = failure_of(faulty.searches_deeper, GOLDEN, (3, 8))
    means = [
        evaluate(rank(faulty.searches_deeper, GOLDEN, depth).top(3), GOLDEN).mean("nDCG@3")
        for depth in (3, 8)
    ]
    assert not math.isclose(*means)
    assert f"{means[0]:.4f} at 3, {means[1]:.4f} at 8" in text


def test_without_judgments_there_are_no_means() -> None:
    golden = GoldenSet.from_dict({}, {"q3": "text 3"})
    assert "nDCG" not in failure_of(faulty.searches_deeper, golden, (3, 8))


def test_a_sound_ranker_passes_and_it_is_said(entered: list[Note]) -> None:
    assert_consistent_depth(faulty.keeps_its_order, GOLDEN)
    assert_consistent_depth("tests.behaviour.faulty_rankers:keeps_its_order", GOLDEN, [1, 50])
    assert entered[0] == Note(
        Topic.DEPTH,
        "ranker 'keeps_its_order' on golden set 'web' (9 queries) ranks the same documents at the top at the "
        "depths 10, 20 and 50",
        is_check=True,
    )


def test_each_depth_is_asked_for_once() -> None:
    asked = []

    def search(text: str, depth: int) -> list[str]:
        asked.append(depth)
        return faulty.ranked(text)[:depth]

    assert_consistent_depth(search, GOLDEN, (5, 2, 5))
    assert asked == [2] * 9 + [5] * 9


def test_fewer_documents_at_a_smaller_depth_are_a_difference() -> None:
    def filters_late(text: str, k: int) -> list[str]:
        """Filter after the search: of k documents, those with an even number are left."""
        return [doc for doc in faulty.DOCS[:k] if int(doc[1:]) % 2 == 0]

    text = failure_of(filters_late, GOLDEN, (4, 8))
    assert "top 4 at depths 4 and 8: 9 of 9 queries differ" in text
    assert "      depth 4  1 d0   2 d2\n      depth 8  1 d0   2 d2   3 d4   4 d6" in text


# --- which rankers take the depth ------------------------------------------------------------


async def waits(text: str, depth: int) -> list[str]:
    return faulty.searches_deeper(text, depth)


ES = "http://localhost:9200/web/_search"


def test_which_rankers_take_the_depth() -> None:
    for ranker, takes in (
        (faulty.keeps_its_order, True),
        (faulty.sound, False),
        (waits, True),
        (batch(lambda texts, k: [["a"]] * len(texts)), True),
        (batch(lambda texts: [["a"]] * len(texts)), False),
        (scorer(lambda text, docs: [1.0 for _ in docs]), False),
        (embedder(lambda texts: [[1.0] for _ in texts], {"a": "x"}), False),
        (http(ES, ids="hits.hits[]._id", body={"q": "{query}", "size": "{depth}"}), True),
        (http(ES, ids="hits.hits[]._id", body={"q": "{query}"}), False),
        (http(ES + "?q={query}&size={depth}", ids="hits.hits[]._id"), True),
    ):
        assert adapter_of(ranker).takes_depth is takes, ranker


def test_invalid_arguments_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="'sound' does not take the depth"):
        assert_consistent_depth(faulty.sound, GOLDEN)
    refused: tuple[tuple[dict[str, Any], str], ...] = (
        ({"depths": (10, 10)}, r"depths=\(10, 10\) has fewer than two different depths"),
        ({"depths": ()}, "fewer than two different depths"),
        ({"depths": (10, 0)}, r"depths\[1\]=0 is invalid; give a whole number from 1 on"),
        ({"depths": (10, True)}, r"depths\[1\]=True is invalid"),
        ({"depth": 10}, r"depth= has no effect here; give depths=\(10, 20, 50\)"),
        ({"detphs": 10}, "unknown option 'detphs'"),
    )
    for options, message in refused:
        with pytest.raises(ConfigurationError, match=message):
            assert_consistent_depth(faulty.keeps_its_order, GOLDEN, **options)


def test_the_depth_at_which_a_ranker_is_broken_is_named() -> None:
    def empty_if_shallow(text: str, k: int) -> list[str]:
        return ["d1"] if k > 5 else []

    with pytest.raises(RunError, match="asked for depth 5: ranker '"):
        assert_consistent_depth(empty_if_shallow, GOLDEN, (5, 10))

    def fails_if_deep(text: str, k: int) -> list[str]:
        return ["d1", "d2"][: 10 // (k < 10)]

    with pytest.raises(RankerError, match="asked for depth 10: "):
        assert_consistent_depth(fails_if_deep, GOLDEN, (5, 10))
