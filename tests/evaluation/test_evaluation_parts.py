"""Parts of a run, evaluated one by one and merged, are measured like the run in one piece."""

from __future__ import annotations

import json
import pickle
import random
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pytest_rankcheck
from pytest_rankcheck import (
    ConfigurationError,
    Conventions,
    Evaluation,
    EvaluationPart,
    GoldenSet,
    Metric,
    MetricError,
    MetricWarning,
    Run,
    RunError,
    RunEvaluation,
    compare,
    evaluate,
    evaluate_part,
)
from pytest_rankcheck.evaluation import ranking_digests
from pytest_rankcheck.evaluation.part_contents import PartOrigin
from pytest_rankcheck.metrics.metric_registry import definitions
from pytest_rankcheck.rankers import row_batches, rows_by_query
from pytest_rankcheck.rankers.ranking import Duplicates

Rankings = Mapping[str, Mapping[str, float]]


def golden_set(queries: int = 12, seed: int = 1) -> GoldenSet:
    draw = random.Random(seed)
    judged = {
        f"q{q}": {f"d{draw.randrange(40)}": draw.choice([-1, 0, 1, 2, 3]) for _ in range(8)}
        for q in range(queries)
    }
    locales = {query: {"locale": "de" if int(query[1:]) % 2 else "en"} for query in judged}
    return GoldenSet.from_dict(judged, attributes=locales, scale=4)


def rankings(queries: int = 12, seed: int = 2) -> dict[str, dict[str, float]]:
    """Return rankings in which scores are often tied; the last judged query has none."""
    draw = random.Random(seed)
    return {
        f"q{q}": {f"d{d}": float(draw.randrange(12)) for d in draw.sample(range(50), 25)}
        for q in [*range(queries - 1), 98, 99]
    }


def rows(some: Rankings) -> pd.DataFrame:
    return pd.DataFrame(
        [(query, doc, score) for query in some for doc, score in some[query].items()],
        columns=["query_id", "doc_id", "score"],
    )


def every_metric() -> list[Metric]:
    """Return every metric of queries and runs in the registry, shallow and deep."""
    found = []
    for entry in definitions().values():
        if entry.unit == "session":
            continue
        for at in {"cutoff": ["@5", "@20", ""], "recall": ["@0.5"], None: [""]}[entry.at]:
            needs_all = entry.unit == "run" and entry.at is not None and not at
            found += [] if needs_all else [Metric(f"{entry.name}{at}")]
    return found


GOLDEN, RANKINGS = golden_set(), rankings()
WHOLE = evaluate(Run.from_dict(RANKINGS), GOLDEN)
METRICS = every_metric()


def bits(evaluation: Evaluation) -> list[bytes]:
    return [evaluation.values(metric).tobytes() for metric in METRICS]


def test_there_are_many_metrics() -> None:
    assert len(METRICS) > 60
    assert {metric.unit for metric in METRICS} == {"query", "run"}


@given(data=st.data())
@pytest.mark.filterwarnings("ignore::pytest_rankcheck.MetricWarning")
def test_any_division_into_whole_queries_gives_the_same_bits_for_every_metric(
    data: st.DataObject,
) -> None:
    count = data.draw(st.integers(1, 6), label="parts")
    numbers = st.lists(st.integers(0, count - 1), min_size=1, max_size=3, unique=True)
    owners = {query: data.draw(numbers, label=query) for query in RANKINGS}  # with copies
    parts = []
    for number in data.draw(st.permutations(range(count)), label="order"):
        own = {query: RANKINGS[query] for query in RANKINGS if number in owners[query]}
        order = data.draw(st.permutations(sorted(own)), label="queries")
        if data.draw(st.booleans(), label="as a frame") and own:
            source: Any = rows({query: own[query] for query in order})
        else:
            source = Run.from_dict({query: own[query] for query in order})
        part = evaluate_part(source, GOLDEN)
        parts.append(pickle.loads(pickle.dumps(part)))
    merged = Evaluation.merge(parts, GOLDEN, expected=list(RANKINGS))
    assert bits(merged) == bits(WHOLE)
    assert merged.missing == WHOLE.missing == ("q11",)
    assert set(merged.extra) == set(WHOLE.extra) == {"q98", "q99"}
    assert merged.by("locale", "nDCG@10").equals(WHOLE.by("locale", "nDCG@10"))
    for query in GOLDEN.query_ids:
        assert merged.ranking(query) == tuple(WHOLE.ranking(query)[:20])
        judged = GOLDEN.grades(query).keys() & WHOLE.ranks(query).keys()
        assert {doc: merged.ranks(query)[doc] for doc in judged} == {
            doc: WHOLE.ranks(query)[doc] for doc in judged
        }


def parts_of(count: int = 3, some: Rankings = RANKINGS) -> list[EvaluationPart]:
    queries = list(some)
    divided = [queries[number::count] for number in range(count)]
    return [
        evaluate_part(
            Run.from_dict({query: some[query] for query in own}, name=f"part {number}"), GOLDEN
        )
        for number, own in enumerate(divided)
    ]


def test_a_merged_evaluation_is_an_evaluation() -> None:
    merged = Evaluation.merge(parts_of(), GOLDEN, expected=3, name="night")
    assert merged.name == "night"
    assert merged.known_depth == 20
    assert merged.run is None
    assert merged.notes == ()
    comparison = compare(merged, WHOLE)
    assert comparison.mean_difference("nDCG@10") == 0
    assert comparison.unjudged("nDCG@10").documents == 0
    assert "3 parts" in Evaluation.merge(parts_of(), GOLDEN).name


def test_a_scale_that_no_part_has_counts_in_all() -> None:
    """ERR with each part's own highest grade would differ: 2^4 here, 2^1 in a part of low grades."""
    golden = GoldenSet.from_dict({"q1": {"a": 1}, "q2": {"a": 4}})
    run = {"q1": ["a"], "q2": ["a"]}
    parts = [evaluate_part(Run.from_dict({query: run[query]}), golden) for query in run]
    merged = Evaluation.merge(parts, golden)
    # ERR of one document at rank 1 is (2^g - 1) / 2^max: 1/16 and 15/16.
    assert merged.values("ERR@5").tolist() == [1 / 16, 15 / 16]


def test_a_copy_counts_once_and_is_reported() -> None:
    parts = parts_of()
    merged = Evaluation.merge([*parts, parts[0]], GOLDEN, expected=3)
    assert bits(merged) == bits(WHOLE)
    judged = len(parts[0])
    assert merged.notes == (
        f"{judged} rankings repeated in another part, with the same rows; each query counts once",
    )


@pytest.mark.parametrize("unjudged_half", [False, True])
def test_a_query_that_was_cut_is_an_error_that_names_it(unjudged_half: bool) -> None:
    """Also if one half ranks no judged document: then no hit of it would be missing."""
    judged = GOLDEN.grades("q1")
    first, second = {}, {}
    for doc, score in RANKINGS["q1"].items():
        is_first = doc in judged if unjudged_half else len(first) < 12
        (first if is_first else second)[doc] = score
    others = {query: RANKINGS[query] for query in RANKINGS if query != "q1"}
    parts = [
        evaluate_part(Run.from_dict({**others, "q1": first}), GOLDEN),
        evaluate_part(rows({"q1": second}), GOLDEN, name="s-2"),
    ]
    assert not unjudged_half or not len(parts[1].ranks)
    with pytest.raises(
        RunError,
        match=r"query 'q1' has different rows in part 1 \('run'\) and part 2 \('s-2'\) \(1 such "
        r"query in all\): .* Partition by query",
    ):
        Evaluation.merge(parts, GOLDEN)


def test_the_error_counts_all_queries_that_were_cut() -> None:
    shifted = {query: {**docs, "d7": 99.0} for query, docs in RANKINGS.items()}
    with pytest.raises(RunError, match=r"part 2 \('part 0'\) \(11 such queries in all\)"):
        Evaluation.merge([*parts_of(1), *parts_of(1, shifted)], GOLDEN)


def test_other_scores_in_the_same_order_are_another_ranking() -> None:
    doubled = {query: {doc: 2 * s for doc, s in docs.items()} for query, docs in RANKINGS.items()}
    with pytest.raises(RunError, match="different rows"):
        Evaluation.merge([*parts_of(1), *parts_of(1, doubled)], GOLDEN)


def with_origin(part: EvaluationPart, **changes: object) -> EvaluationPart:
    return replace(part, origin=replace(part.origin, **changes))  # type: ignore[arg-type]


OTHER_ORIGINS: Mapping[str, Callable[[EvaluationPart], EvaluationPart]] = {
    r"part 'part 1' was evaluated on another golden set than 'golden set'": lambda part: (
        with_origin(part, golden="0" * 16)
    ),
    r"another golden set .* \(scale 3\)": lambda part: with_origin(part, scale=3.0),
    r"different conventions: 'ties=doc_id, .*' and 'ties=input": lambda part: with_origin(
        part, conventions=Conventions(ties="input")
    ),
    "different ranked depths: 'None' and '10'": lambda part: with_origin(part, depth=10),
    r"have different numbers of kept documents \(top=\): '20' and '5'": lambda part: with_origin(
        part, top=5
    ),
    "different reading options: '' and 'doc_id=lower'": lambda part: with_origin(
        part, reading="doc_id=lower"
    ),
    "different versions of pytest-rankcheck": lambda part: with_origin(part, version="0.0.1"),
}


@pytest.mark.parametrize("message", OTHER_ORIGINS)
def test_parts_that_do_not_belong_together_are_refused(message: str) -> None:
    parts = parts_of()
    parts[1] = OTHER_ORIGINS[message](parts[1])
    with pytest.raises(RunError, match=message):
        Evaluation.merge(parts, GOLDEN)


def test_parts_that_all_have_another_version_are_refused() -> None:
    parts = [with_origin(part, version="0.0.1") for part in parts_of()]
    with pytest.raises(RunError, match=r"made by pytest-rankcheck 0\.0\.1, but this is "):
        Evaluation.merge(parts, GOLDEN)


def test_a_golden_set_that_changed_after_the_parts_is_refused() -> None:
    changed = GoldenSet.from_dict(
        {query: {**GOLDEN.grades(query), "d0": 2} for query in GOLDEN.query_ids}, scale=4
    )
    with pytest.raises(RunError, match="give the driver and the workers the same golden set"):
        Evaluation.merge(parts_of(), changed)


def test_a_golden_set_in_another_order_is_the_same() -> None:
    """Parts name judged documents by their ids, so the order of the judgments does not matter."""
    queries = sorted(GOLDEN.query_ids, reverse=True)
    reordered = GoldenSet.from_dict(
        {query: dict(sorted(GOLDEN.grades(query).items(), reverse=True)) for query in queries},
        scale=4,
    )
    assert reordered.fingerprint == GOLDEN.fingerprint
    merged = Evaluation.merge(parts_of(), reordered)
    assert merged.per_query("nDCG@10").sort_index().equals(WHOLE.per_query("nDCG@10").sort_index())


@pytest.mark.parametrize(
    ("expected", "message"),
    [
        (4, "4 parts were expected, but there are 2: part 0, part 1$"),
        (1, "1 part was expected, but there are 2: part 0, part 1"),
        (
            ["q0", "q2"],
            "1 expected query is in no part: q2; 2 parts were given, with 8 judged queries",
        ),
        (["q11x"], r"in no part: q11x \(the golden set does not have q11x\)"),
    ],
)
def test_parts_that_are_missing_are_an_error(expected: Any, message: str) -> None:
    with pytest.raises(RunError, match=message):
        Evaluation.merge(parts_of()[:2], GOLDEN, expected=expected)


@pytest.mark.parametrize("expected", [True, "q1", 2.0])
def test_expected_must_be_a_number_or_a_list(expected: Any) -> None:
    with pytest.raises(ConfigurationError, match="expected must be a whole number or a list"):
        Evaluation.merge(parts_of(), GOLDEN, expected=expected)


@pytest.mark.parametrize("expected", [0, [], iter(())])
def test_to_expect_nothing_could_never_fail(expected: Any) -> None:
    """As from a generator that was used up, or the pattern of a folder that is not there."""
    with pytest.raises(ConfigurationError, match="expected is empty, so nothing could be missing"):
        Evaluation.merge(parts_of()[:2], GOLDEN, expected=expected)


def test_a_copy_does_not_stand_in_for_a_missing_part() -> None:
    first, second, _ = parts_of()
    message = r"3 parts were expected, but there are 2 \(and 1 copy\): part 0, part 1, part 0"
    with pytest.raises(RunError, match=message):
        Evaluation.merge([first, second, first], GOLDEN, expected=3)


def test_a_copy_without_judged_queries_does_not_stand_in_for_a_missing_part() -> None:
    first, *_ = parts_of()
    unjudged = evaluate_part(Run.from_dict({"other": ["d1"], "more": ["d1"]}), GOLDEN)
    other = evaluate_part(Run.from_dict({"other": ["d1"], "third": ["d1"]}), GOLDEN)
    assert Evaluation.merge([first, unjudged, other], GOLDEN, expected=3).mean("RR") > 0
    with pytest.raises(RunError, match=r"3 parts were expected, but there are 2 \(and 1 copy\)"):
        Evaluation.merge([first, unjudged, unjudged], GOLDEN, expected=3)


def test_empty_parts_are_parts() -> None:
    empty = [evaluate_part(Run.from_dict({}), GOLDEN) for _ in range(2)]
    merged = Evaluation.merge([*parts_of(), *empty], GOLDEN, expected=5)
    assert bits(merged) == bits(WHOLE)


@pytest.mark.parametrize(
    ("parts", "error", "message"),
    [
        ([], RunError, "there are no parts to merge"),
        ([3], ConfigurationError, "parts: 3 is not a part; make each part with evaluate_part"),
        ([WHOLE], ConfigurationError, "is not a part; make each part with evaluate_part"),
        ([*parts_of(1), 3], ConfigurationError, "parts: 3 is not an EvaluationPart"),
    ],
)
def test_anything_but_parts_is_refused(parts: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        Evaluation.merge(parts, GOLDEN)


def test_unnamed_parts_have_their_number_in_messages() -> None:
    tables = [rows({query: RANKINGS[query]}) for query in ("q0", "q1")]
    parts = [evaluate_part(table, GOLDEN) for table in tables]
    with pytest.raises(RunError, match=r"there are 2: part 1, part 2$"):
        Evaluation.merge(parts, GOLDEN, expected=3)
    parts[1] = evaluate_part(tables[1], GOLDEN, top=5)
    with pytest.raises(RunError, match="parts 'part 1' and 'part 2' have different numbers of"):
        Evaluation.merge(parts, GOLDEN)


def test_notes_name_empty_parts_and_say_that_missing_parts_would_go_unnoticed() -> None:
    parts = [*parts_of(), evaluate_part(Run.from_dict({}, name="nothing"), GOLDEN)]
    notes = Evaluation.merge(parts, GOLDEN, expected=4).notes
    assert list(notes) == ["1 part has no rows (of 4 parts): nothing"]
    (note,) = Evaluation.merge(parts[:2], GOLDEN).notes
    assert note.startswith(
        "merged from 2 parts without expected=, and 4 judged queries are missing"
    )
    assert not Evaluation.merge(parts[:2], GOLDEN, expected=2).notes


NUMBERED = GoldenSet.from_dict({f"q{n}": {f"d{n}": 1} for n in range(40)})


@pytest.mark.parametrize(
    ("doc_id", "found", "queries", "is_noted"),
    [
        ("D{}", 1.0, 10, True),  # of ten queries none: 0 ** 10 = 0 without chance
        ("{}", 0.5, 20, True),  # 0.5 ** 20 = 0.000001
        ("{}", 0.5, 10, False),  # 0.5 ** 10 = 0.00098, but there are two parts
        ("D{}", 1.0, 4, False),  # too few queries
        ("d{}", 1.0, 10, False),
    ],
)
def test_notes_name_a_part_whose_documents_have_other_ids(
    doc_id: str, found: float, queries: int, is_noted: bool
) -> None:
    """One worker reads ids as numbers, or in capitals; its queries would count as misses."""
    odd = {f"q{n}": [doc_id.format(n), "other"] for n in range(queries)}
    rest = range(queries, 40)
    usual = {f"q{n}": [f"d{n}" if n % 2 or found == 1 else "no", "other"] for n in rest}
    parts = [
        evaluate_part(Run.from_dict(each, name=name), NUMBERED)
        for each, name in ((usual, "usual"), (odd, "odd"))
    ]
    note = (
        f"part 'odd' ranks {queries} judged queries but no judged document, unlike the other "
        f"parts: are its ids, such as '{doc_id.format(0)}', written in another way?"
    )
    merged = Evaluation.merge(parts, NUMBERED, expected=2)
    assert list(merged.notes) == ([note] if is_noted else [])


def test_notes_of_parts_reach_the_merged_evaluation(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    golden = GoldenSet.from_dict({"q0": {"d0": 1}, "q1": {"d1": 1}})
    folder = tmp_path / "week"
    folder.mkdir()
    (folder / "part-0.csv").write_text("query_id,doc_id,score\nq0,d0,1\n")
    (folder / "part-1.csv").write_text("query_id,doc_id,score\n")
    note = f"1 file has no rows (of 2 parts): {folder / 'part-1.csv'}"
    assert list(evaluate(Run.load(folder), golden).notes) == [note]
    ranked = Run.from_dict({"q1": ["d1"]}, name="ranked")
    ranked.notes = ("1 chunk of queries was lost when a worker died",)
    read = Run.load(folder)
    parts = [evaluate_part(source, golden) for source in (folder, read, ranked)]
    assert [list(part.notes) for part in parts] == [[note], [note], list(ranked.notes)]
    sent = [EvaluationPart.from_arrow(part.to_arrow()) for part in parts]
    assert [part.notes for part in sent] == [part.notes for part in parts]
    merged = Evaluation.merge(sent[::2], golden, expected=2)
    assert list(merged.notes) == [
        f"in part '{folder}', {note}",
        "in part 'ranked', 1 chunk of queries was lost when a worker died",
    ]


def test_ids_that_lost_their_zeros_in_one_part_are_an_error() -> None:
    golden = GoldenSet.from_dict({f"{q:03}": {"d1": 1} for q in range(1, 7)})
    ids: list[object] = [f"{q:03}" for q in range(1, 4)]
    numbers: list[object] = [4, 5, 6]
    parts = [
        evaluate_part(pd.DataFrame({"query_id": some, "doc_id": "d1", "score": 1.0}), golden)
        for some in (ids, numbers)
    ]
    message = r"has no query '004' of golden set .*, but '4' \(3 such queries in all\)"
    with pytest.raises(RunError, match=message):
        Evaluation.merge(parts, golden, expected=2)
    with pytest.raises(RunError, match=message):
        evaluate(Run.from_dict({str(each): ["d1"] for each in (*ids, *numbers)}), golden)
    merged = Evaluation.merge(parts[:1], golden, expected=1)
    assert len(merged.missing) == 3


def test_anything_but_a_source_of_a_part_is_refused() -> None:
    kinds = "a text, a path, a DataFrame of pandas or polars, a table of pyarrow or a Run"
    for source, todo in (
        (RANKINGS, r"write Run\.from_dict\(rankings\)"),
        (["a.csv"], "write a path such as"),
    ):
        wrong: Any = source
        with pytest.raises(ConfigurationError, match=f"^source must be {kinds}, not .*; {todo}"):
            evaluate_part(wrong, GOLDEN)


def test_parts_of_a_run_need_their_golden_set() -> None:
    with pytest.raises(ConfigurationError, match="golden is missing"):
        Evaluation.merge(parts_of())


def test_conventions_are_decided_by_the_merge() -> None:
    strict = Conventions(missing="error")
    some = {query: RANKINGS[query] for query in ("q0", "q1")}
    part = evaluate_part(Run.from_dict(some), GOLDEN, conventions=strict)
    with pytest.raises(RunError, match="lacks judged queries of golden set 'golden set', 10"):
        Evaluation.merge([part], GOLDEN)
    exclude = Conventions(no_relevant="exclude")
    golden = GoldenSet.from_dict({"q0": {"d1": 0}, "q1": {"d2": 1}})
    run = {"q0": ["d1"], "q1": ["d2"]}
    parts = [
        evaluate_part(Run.from_dict({query: run[query]}), golden, conventions=exclude)
        for query in run
    ]
    whole = evaluate(Run.from_dict(run), golden, conventions=exclude)
    merged = Evaluation.merge(parts, golden)
    assert merged.values("RR").tobytes() == whole.values("RR").tobytes()
    assert merged.mean("RR") == 1


def test_rankings_that_are_all_empty_are_refused_by_the_merge_alone() -> None:
    golden = GoldenSet.from_dict({"q0": {"d1": 1}, "q1": {"d2": 1}})
    parts = [evaluate_part(Run.from_dict({query: []}), golden) for query in ("q0", "q1")]
    with pytest.raises(RunError, match="every ranking is empty: the ranker is broken, not bad"):
        Evaluation.merge(parts, golden)
    found = [*parts[:1], evaluate_part(Run.from_dict({"q1": ["d2"]}), golden)]
    assert Evaluation.merge(found, golden).values("NoResults").tolist() == [1, 0]


def test_ids_that_never_meet_are_a_warning_as_in_one_piece() -> None:
    run = Run.from_dict({query: {"x" + doc: 1.0 for doc in RANKINGS[query]} for query in RANKINGS})
    with pytest.warns(MetricWarning, match="no ranked document is judged"):
        merged = Evaluation.merge([evaluate_part(run, GOLDEN)], GOLDEN)
    with pytest.raises(RunError):
        merged.refuse_unmet_ids()


class TestWhatPartsDoNotKnow:
    merged = Evaluation.merge(parts_of(), GOLDEN)

    def test_ties_are_not_answered(self) -> None:
        assert not self.merged.has_ties_at_hand
        for question in (self.merged.tied, lambda: self.merged.tie_range("RR")):
            with pytest.raises(MetricError, match="parts keep ranks, not scores"):
                question()
        with pytest.raises(MetricError, match="parts keep ranks, not scores"):
            self.merged.with_ties("best")

    def test_a_metric_of_the_whole_run_below_the_top(self) -> None:
        message = "HeadShare@50 needs whole rankings, but this evaluation was merged from parts, .*"
        with pytest.raises(MetricError, match=message + r"evaluate_part\(\.\.\., top=100\)"):
            self.merged.values("HeadShare@50")

    def test_more_can_be_kept(self) -> None:
        part = evaluate_part(Run.from_dict(RANKINGS), GOLDEN, top=100)
        merged = Evaluation.merge([part], GOLDEN)
        for name in ("HeadShare@50", "RepeatedList@30", "Distinct@25"):
            assert merged.values(name).tobytes() == WHOLE.values(name).tobytes()
        with pytest.raises(ConfigurationError, match="top=0 is invalid"):
            evaluate_part(Run.from_dict(RANKINGS), GOLDEN, top=0)

    def test_measures_of_ir_measures(self) -> None:
        pytest.importorskip("ir_measures")
        with pytest.raises(MetricError, match="merged from parts"):
            self.merged.values("ir_measures:nERR8@5")


class TestArrow:
    @pytest.fixture(autouse=True)
    def arrow(self) -> None:
        pytest.importorskip("pyarrow")

    def test_a_part_is_the_same_after_the_journey(self, tmp_path: Path) -> None:
        import pyarrow.parquet as pq

        parts = []
        for number, part in enumerate([*parts_of(), evaluate_part(Run.from_dict({}), GOLDEN)]):
            file = tmp_path / f"{number}.parquet"
            pq.write_table(part.to_arrow(), file)
            parts.append(EvaluationPart.from_arrow(pq.read_table(file)))
        assert [part.name for part in parts] == ["part 0", "part 1", "part 2", "run"]
        merged = Evaluation.merge(parts, GOLDEN)
        assert bits(merged) == bits(WHOLE)
        assert set(merged.extra) == {"q98", "q99"}
        assert merged.ranking("q1") == tuple(WHOLE.ranking("q1")[:20])

    def test_it_holds_judged_hits_tops_and_counts_and_no_values(self) -> None:
        """So every metric can be asked for after the merge."""
        run = Run.from_dict({"q1": [f"x{place}" for place in range(30)]})
        golden = GoldenSet.from_dict({"q1": {"x4": 2, "x25": 1, "y": 1}}, scale=4)
        table = evaluate_part(run, golden, top=3).to_arrow()
        (row,) = table.to_pylist()
        assert len(row.pop("digest")) == ranking_digests.SIZE
        assert row == {
            "query_id": "q1",
            "retrieved": 30,
            "ranks": [5, 26],
            "documents": ["x4", "x25"],
            "top": ["x0", "x1", "x2"],
        }
        held = json.loads(table.schema.metadata[b"rankcheck_part"])
        assert (held["golden"], held["scale"]) == (golden.fingerprint, 4)
        assert held["version"] == pytest_rankcheck.__version__
        assert held["conventions"]["missing"] == "empty"

    def test_it_is_small(self) -> None:
        """A few MB for 20,000 queries of 1,000 documents: 20 of the top and 10 judged ones each."""
        some = {f"q{q}": {f"doc{d:07}": -float(d) for d in range(200)} for q in range(50)}
        golden = GoldenSet.from_dict(
            {query: {f"doc{d:07}": 1 for d in range(10)} for query in some}
        )
        per_query = evaluate_part(Run.from_dict(some), golden).to_arrow().nbytes / 50
        assert per_query * 20_000 < 15e6

    @pytest.mark.parametrize("damage", ["another table", "ranks", "documents", "digest", "header"])
    def test_a_damaged_part_is_refused(self, damage: str) -> None:
        import pyarrow as pa

        table = parts_of(1)[0].to_arrow()
        metadata = table.schema.metadata
        at = table.schema.names.index
        if damage == "another table":
            table = pa.table({"query_id": ["q1"], "doc_id": ["d1"]})
        elif damage == "ranks":
            wrong = [[rank + 10**6 for rank in each] for each in table["ranks"].to_pylist()]
            table = table.set_column(at("ranks"), "ranks", pa.array(wrong))
        elif damage == "documents":
            cut = [each[:-1] for each in table["documents"].to_pylist()]
            table = table.set_column(at("documents"), "documents", pa.array(cut))
        elif damage == "digest":
            short = [each and each[:4] for each in table["digest"].to_pylist()]
            table = table.set_column(at("digest"), "digest", pa.array(short, pa.binary()))
        else:
            metadata = {b"rankcheck_part": b'{"name": "x", "more": 1}'}
        table = table.replace_schema_metadata(None if damage == "another table" else metadata)
        with pytest.raises(RunError, match=r"is not a part of a run|is damaged; evaluate"):
            EvaluationPart.from_arrow(table)

    @pytest.mark.parametrize("piece", ["slice", "filter", "two", "ranks", "top", "order"])
    def test_only_the_whole_table_of_a_part_is_one(self, piece: str) -> None:
        import pyarrow as pa

        one, other, _ = (part.to_arrow() for part in parts_of())
        at = one.schema.names.index
        message = r"part 'part 0' has \d+ rows, but this table has \d+: give the whole table"
        if piece == "slice":
            wrong = one.slice(1)
        elif piece == "filter":
            wrong = one.filter(pa.compute.not_equal(one["query_id"], "q0"))
        elif piece == "two":
            wrong = pa.concat_tables([one, other])
        else:
            message = "part 'part 0': its table differs from what to_arrow.. made"
            more = [[9 * rank for rank in each] for each in one["ranks"].to_pylist()]
            most = pa.array([10**6 if each else None for each in one["retrieved"].to_pylist()])
            wrong = one.set_column(at("retrieved"), "retrieved", most)
            wrong = wrong.set_column(at("ranks"), "ranks", pa.array(more))
            if piece == "top":
                tops = [each[::-1] for each in one["top"].to_pylist()]
                wrong = one.set_column(at("top"), "top", pa.array(tops))
            if piece == "order":
                wrong = one.take(list(range(len(one)))[::-1])
        with pytest.raises(RunError, match=message):
            EvaluationPart.from_arrow(wrong.replace_schema_metadata(one.schema.metadata))

    def test_a_document_that_is_not_judged_is_refused(self) -> None:
        part = parts_of(1)[0]
        wrong = replace(part, documents=("nothing", *part.documents[1:]))
        with pytest.raises(RunError, match="document 'nothing' is not judged for query 'q0'"):
            Evaluation.merge([wrong], GOLDEN)

    def test_one_shot_readers(self) -> None:
        import pyarrow as pa

        table = pa.Table.from_pandas(rows(RANKINGS))
        reader = pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=7))
        part = evaluate_part(reader, GOLDEN)
        assert bits(Evaluation.merge([part], GOLDEN)) == bits(WHOLE)

    def test_a_one_shot_reader_whose_queries_are_not_together_is_refused(self) -> None:
        import pyarrow as pa

        table = pa.Table.from_pandas(rows(RANKINGS).sample(frac=1, random_state=1))
        reader = pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=7))
        with pytest.raises(RunError, match="can be read only once; sort its rows by query"):
            evaluate_part(reader, GOLDEN)

    def test_without_pyarrow_the_message_says_what_to_install(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        part = parts_of(1)[0]
        monkeypatch.setitem(sys.modules, "pyarrow", None)
        with pytest.raises(RunError, match=r"pip install .pytest-rankcheck\[spark\]"):
            part.to_arrow()


SHUFFLED = rows(RANKINGS).sample(frac=1, random_state=3).reset_index(drop=True)


@pytest.mark.parametrize("form", ["csv", "parquet", "trec", "jsonl", "pandas", "polars", "arrow"])
def test_every_source_gives_the_same_part(form: str, tmp_path: Path) -> None:
    source: Any = SHUFFLED
    if form in ("csv", "parquet", "trec", "jsonl"):
        if form == "parquet":
            pytest.importorskip("polars")
        source = tmp_path / f"run.{form}"
        Run.from_frame(SHUFFLED).save(source, form)
    elif form == "polars":
        source = pytest.importorskip("polars").from_pandas(SHUFFLED)
    elif form == "arrow":
        source = pytest.importorskip("pyarrow").Table.from_pandas(SHUFFLED)
    part, usual = evaluate_part(source, GOLDEN), evaluate_part(Run.from_dict(RANKINGS), GOLDEN)
    assert dict(zip(part.query_ids, part.digests, strict=True)) == dict(
        zip(usual.query_ids, usual.digests, strict=True)
    )
    assert bits(Evaluation.merge([part, usual], GOLDEN)) == bits(WHOLE)


def test_digests_without_polars_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    numbered = {query: {doc[1:]: s for doc, s in docs.items()} for query, docs in RANKINGS.items()}
    frame = rows(numbered).astype({"doc_id": "int64"})
    golden = GoldenSet.from_dict({"q1": {"7": 1}})
    usual = evaluate_part(frame, golden)
    monkeypatch.setitem(sys.modules, "polars", None)
    assert evaluate_part(frame, golden).digests == usual.digests
    assert evaluate_part(Run.from_dict(numbered), golden).digests == usual.digests


def test_digests_know_where_an_id_ends() -> None:
    one, other = Run.from_dict({"q1": ["ab", "c"]}), Run.from_dict({"q1": ["a", "bc"]})
    digests = [evaluate_part(run, GOLDEN).digests for run in (one, other)]
    assert digests[0] != digests[1]


def test_negative_zero_is_zero() -> None:
    digests = [
        evaluate_part(Run.from_dict({"q1": {"a": zero, "b": -1.0}}), GOLDEN).digests
        for zero in (0.0, -0.0)
    ]
    assert digests[0] == digests[1]


def test_ids_that_utf_8_cannot_hold() -> None:
    run = Run.from_dict({"q1": ["\ud800", "d1"]})
    part = evaluate_part(run, GOLDEN)
    assert Evaluation.merge([part], GOLDEN).ranking("q1")[0] == "\ud800"
    pytest.importorskip("pyarrow")
    with pytest.raises(RunError, match="an id cannot be written as UTF-8"):
        part.to_arrow()


def test_options_for_reading_do_not_fit_a_run_that_was_read() -> None:
    with pytest.raises(
        ConfigurationError, match="the source is a Run, which has been read already"
    ):
        evaluate_part(Run.from_dict(RANKINGS), GOLDEN, ties="input")


def test_a_depth_counts_in_every_part() -> None:
    parts = [
        evaluate_part(rows({query: RANKINGS[query]}), GOLDEN, depth=7)
        for query in ("q0", "q1", "q2")
    ]
    chosen = {query: RANKINGS[query] for query in ("q0", "q1", "q2")}
    whole = evaluate(Run.from_dict(chosen).top(7), GOLDEN)
    merged = Evaluation.merge(parts, GOLDEN)
    assert merged.depth == 7
    for name in ("nDCG@5", "AP", "R@7", "NumRet"):
        assert merged.values(name).tobytes() == whole.values(name).tobytes()
    with pytest.raises(MetricError, match="rank to a depth of at least 10"):
        merged.values("P@10")


def test_mapped_ids_count_in_every_part(tmp_path: Path) -> None:
    upper = {query: {doc.upper(): s for doc, s in docs.items()} for query, docs in RANKINGS.items()}
    file = tmp_path / "run.csv"
    Run.from_dict(upper).save(file)
    for source in (file, rows(upper)):
        part = evaluate_part(source, GOLDEN, doc_id="lower")
        assert bits(Evaluation.merge([part], GOLDEN)) == bits(WHOLE)
        assert part.origin.reading == "doc_id=lower"


class TestLongQueries:
    """A query of more rows than fit goes through files; here ten rows are too many."""

    @pytest.fixture(autouse=True)
    def few_rows(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(rows_by_query, "_LONG", 10)
        monkeypatch.setattr(row_batches, "_BATCH_ROWS", 7)
        from pytest_rankcheck.evaluation import long_rankings, spilled_rows

        monkeypatch.setattr(long_rankings, "_PIECE", 5)
        monkeypatch.setattr(spilled_rows, "_CHUNK", 3)

    @pytest.fixture
    def long_ones(self, monkeypatch: pytest.MonkeyPatch) -> list[str]:
        """Return the queries that went through files."""
        from pytest_rankcheck.evaluation.long_rankings import LongRanking

        found, of = [], LongRanking.of

        def noted(query_id: str, *rest: Any) -> LongRanking:
            found.append(query_id)
            return of(query_id, *rest)

        monkeypatch.setattr(LongRanking, "of", noted)
        return found

    @pytest.mark.parametrize("order", ["as given", "sorted", "reversed"])
    def test_they_are_measured_alike(self, order: str, long_ones: list[str]) -> None:
        frame = rows(RANKINGS)
        if order != "as given":
            frame = frame.sort_values(["query_id", "score"], ascending=order == "reversed")
        part = evaluate_part(frame, GOLDEN)
        assert len(long_ones) == 11
        usual = evaluate_part(Run.from_dict(RANKINGS), GOLDEN)
        merged = Evaluation.merge([part, usual], GOLDEN)  # or the digests would differ
        assert bits(Evaluation.merge([part], GOLDEN)) == bits(merged) == bits(WHOLE)
        assert merged.ranking("q1") == tuple(WHOLE.ranking("q1")[:20])
        assert set(part.extra) == {"q98", "q99"}

    def test_ties_as_in_the_input(self, long_ones: list[str]) -> None:
        frame = rows(RANKINGS)
        whole = evaluate(Run.from_frame(frame, ties="input"), GOLDEN)
        merged = Evaluation.merge([evaluate_part(frame, GOLDEN, ties="input")], GOLDEN)
        assert long_ones
        assert bits(merged) == bits(whole)
        assert bits(whole) != bits(WHOLE)

    def test_ties_that_are_an_error(self, long_ones: list[str]) -> None:
        with pytest.raises(RunError, match=r"query 'q0': documents '.*' and '.*' have the same"):
            evaluate_part(rows(RANKINGS), GOLDEN, ties="error")
        distinct = {"q0": {f"d{d}": float(d) for d in range(30)}}
        evaluate_part(rows(distinct), GOLDEN, ties="error")
        assert long_ones

    @pytest.mark.parametrize("duplicates", ["error", "close_gaps", "keep_places"])
    def test_duplicates(self, duplicates: Duplicates, long_ones: list[str]) -> None:
        documents = [f"d{d % 23}" for d in range(40)]
        frame = pd.DataFrame(
            {"query_id": "q1", "doc_id": documents, "score": [float(-d) for d in range(40)]}
        )
        if duplicates == "keep_places":
            part = evaluate_part(frame, GOLDEN, duplicates=duplicates)
            whole = evaluate(Run.from_frame(frame, duplicates=duplicates), GOLDEN)
            assert bits(Evaluation.merge([part], GOLDEN)) == bits(whole)
        else:
            message = {
                "error": r"query 'q1': document 'd0' is ranked twice, at 1 and 24",
                "close_gaps": r"query 'q1' has 40 documents, too many to close gaps: document 'd0'",
            }[duplicates]
            with pytest.raises(RunError, match=message):
                evaluate_part(frame, GOLDEN, duplicates=duplicates)
        assert long_ones == ["q1"]

    @pytest.mark.parametrize("first", [0, 1])
    def test_ranks(self, first: int, long_ones: list[str]) -> None:
        frame = pd.DataFrame(
            {
                "query_id": ["q1"] * 30 + ["q2"] * 3,
                "doc_id": [f"d{d}" for d in range(30)] + ["d1", "d2", "d3"],
                "rank": [*range(29 + first, first - 1, -1), first, first + 1, first + 2],
            }
        )
        whole = evaluate(Run.from_frame(frame), GOLDEN)
        part = evaluate_part(frame, GOLDEN)
        assert long_ones == ["q1"]
        assert bits(Evaluation.merge([part], GOLDEN)) == bits(whole)
        assert bits(Evaluation.merge([part, evaluate_part(Run.from_frame(frame), GOLDEN)], GOLDEN))

    @pytest.mark.parametrize(
        ("rank", "message"),
        [(10, "rank 10 is given twice"), (99, "rank 11 is missing"), (5.5, "rank")],
    )
    def test_incomplete_ranks(self, rank: float, message: str, long_ones: list[str]) -> None:
        ranks = [float(each) for each in range(1, 31)]
        ranks[10] = rank
        frame = pd.DataFrame(
            {"query_id": "q1", "doc_id": [f"d{d}" for d in range(30)], "rank": ranks}
        )
        with pytest.raises(RunError, match=f"query 'q1': .*{message}"):
            evaluate_part(frame, GOLDEN)
        evaluate_part(frame, GOLDEN, incomplete_ranks="close_gaps")
        assert long_ones == ["q1", "q1"]

    def test_some_rows_with_scores_and_some_with_ranks(self) -> None:
        frame = pd.DataFrame(
            {
                "query_id": "q1",
                "doc_id": [f"d{d}" for d in range(30)],
                "rank": range(1, 31),
                "score": [1.0] * 14 + [None] * 16,
            }
        )
        with pytest.raises(RunError, match="score"):
            evaluate_part(frame, GOLDEN)

    def test_a_depth(self, long_ones: list[str]) -> None:
        part = evaluate_part(rows(RANKINGS), GOLDEN, depth=7)
        whole = evaluate(Run.from_dict(RANKINGS).top(7), GOLDEN)
        merged = Evaluation.merge([part], GOLDEN)
        assert long_ones
        for name in ("nDCG@5", "AP", "NumRet"):
            assert merged.values(name).tobytes() == whole.values(name).tobytes()
        assert merged.ranking("q1") == whole.ranking("q1")

    def test_mapped_ids(self, long_ones: list[str]) -> None:
        upper = {q: {doc.upper(): s for doc, s in docs.items()} for q, docs in RANKINGS.items()}
        part = evaluate_part(rows(upper), GOLDEN, doc_id="lower")
        assert long_ones
        assert bits(Evaluation.merge([part], GOLDEN)) == bits(WHOLE)


MEMORY = """
import sys
from pathlib import Path
import numpy as np, pyarrow as pa, pyarrow.compute
from pytest_rankcheck import GoldenSet, evaluate_part

rows, batch = int(sys.argv[1]), 100_000
golden = GoldenSet.from_dict({"q": {str(7 + 1000 * d): d % 4 for d in range(100)}})
schema = pa.schema([("query_id", pa.string()), ("doc_id", pa.string()), ("score", pa.float64())])

def batches():
    for start in range(0, rows, batch):
        numbers = np.arange(start, start + batch)
        docs = pa.array(numbers).cast(pa.string())
        columns = [pa.array(["q"] * batch), docs, pa.array(-numbers.astype(float))]
        yield pa.RecordBatch.from_arrays(columns, schema=schema)

part = evaluate_part(pa.RecordBatchReader.from_batches(schema, batches()), golden)
assert part.retrieved.tolist() == [rows]
assert part.ranks[:3].tolist() == [8, 1008, 2008]
status = Path("/proc/self/status").read_text().splitlines()
print(next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmHWM")))
"""


@pytest.mark.slow
def test_a_query_of_ten_million_rows_costs_the_memory_of_its_judged_documents() -> None:
    pytest.importorskip("pyarrow")
    pytest.importorskip("polars")
    if not Path("/proc/self/status").exists():
        pytest.skip("only Linux says the peak of one process; ru_maxrss also counts its parent's")
    peaks = []
    for count in ("2000000", "10000000"):
        done = subprocess.run(
            [sys.executable, "-c", MEMORY, count], capture_output=True, text=True, check=True
        )
        peaks.append(float(done.stdout))
    assert peaks[1] < peaks[0] + 40, "8 million more rows cost no more MB"
    assert peaks[1] < 400


def test_the_types_are_public() -> None:
    assert isinstance(WHOLE, RunEvaluation)
    assert isinstance(parts_of(1)[0].origin, PartOrigin)
    assert len(parts_of(1)[0].digests[0]) == ranking_digests.SIZE
    everything: Sequence[EvaluationPart] = parts_of()
    assert repr(everything[0]).startswith("EvaluationPart('part 0', 4 judged queries, ")
    assert np.array_equal(everything[0].starts[:1], [0])


def test_refusing_another_object_needs_no_spark() -> None:
    from pytest_rankcheck.spark import evaluate_spark

    with pytest.raises(ConfigurationError, match="is not a Spark DataFrame"):
        evaluate_spark(rows(RANKINGS), GOLDEN)
