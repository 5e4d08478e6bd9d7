"""Parts of a run, evaluated one by one and merged, are measured like the run in one piece."""

import pickle
import random
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_rankcheck import (
    ConfigurationError,
    Conventions,
    Evaluation,
    EvaluationPart,
    GoldenSet,
    Metric,
    MetricError,
    Run,
    RunError,
    compare,
    evaluate,
    evaluate_part,
)
from pytest_rankcheck.metrics.metric_registry import definitions
from tests.libraries import NEEDS_POLARS, forms

Rankings = Mapping[str, Mapping[str, float]]


def golden_set(queries: int = 12, seed: int = 1) -> GoldenSet:
    draw = random.Random(seed)
    judged = {
        f"q{q}": {f"d{draw.randrange(40)}": draw.choice([-1, 0, 1, 2, 3]) for _ in range(8)}
        for q in range(queries)
    }
    locales = {query: {"locale": "de" if int(query[1:]) % 2 else "en"} for query in judged}
    documents = {f"d{n}": {"brand": f"b{n % 5}"} for n in range(60)}
    history = [(f"q{n % 12}", f"d{n % 60}") for n in range(200)]
    return GoldenSet.from_dict(
        judged,
        attributes=locales,
        scale=4,
        documents=documents,
        interactions=pd.DataFrame(history, columns=["user", "item"]),
    )


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
        if entry.unit in ("session", "time"):
            continue
        for at in {"cutoff": ["@5", "@20", ""], "recall": ["@0.5"], None: [""]}[entry.at]:
            needs_all = entry.unit == "run" and entry.at is not None and not at
            required = {"by": "brand", "of": "b1"}.items()
            given = [f"{key}={value}" for key, value in required if key in entry.parameters]
            name = f"{entry.name}({','.join(given)})"
            found += [] if needs_all else [Metric.parse(f"{name.removesuffix('()')}{at}")]
    return found


GOLDEN, RANKINGS = golden_set(), rankings()
WHOLE = evaluate(Run.from_dict(RANKINGS), GOLDEN)
METRICS = every_metric()


def bits(evaluation: Evaluation) -> list[bytes]:
    return [evaluation.values(metric).tobytes() for metric in METRICS]


@given(data=st.data())
@pytest.mark.filterwarnings("ignore::pytest_rankcheck.MetricWarning")
def test_any_division_into_whole_queries_gives_the_same_bits_for_every_metric(
    data: st.DataObject,
) -> None:
    count = data.draw(st.integers(1, 6), label="parts")
    numbers = st.integers(0, count - 1)
    owners = {query: data.draw(numbers, label=query) for query in RANKINGS}
    parts = []
    for number in data.draw(st.permutations(range(count)), label="order"):
        own = {query: RANKINGS[query] for query in RANKINGS if number == owners[query]}
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
    assert comparison.values("nDCG@10").difference == 0
    assert comparison.unjudged("nDCG@10").documents == 0
    assert "3 parts" in Evaluation.merge(parts_of(), GOLDEN).name


@pytest.mark.parametrize("unjudged_half", [False, True])
def test_a_query_in_two_parts_is_an_error_that_names_it(unjudged_half: bool) -> None:
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
    message = (
        r"parts 1 \('run'\) and 2 \('s-2'\) share 1 query, such as 'q1': .*"
        "Partition by query"
    )
    with pytest.raises(RunError, match=message):
        Evaluation.merge(parts, GOLDEN)
    with pytest.raises(RunError, match=r"share 11 queries, such as .* a part was given twice"):
        Evaluation.merge([*parts_of(1), *parts_of(1)], GOLDEN)


def with_origin(part: EvaluationPart, **changes: object) -> EvaluationPart:
    return replace(part, origin={**part.origin, **changes})


def test_parts_that_do_not_belong_together_are_refused() -> None:
    others: Mapping[str, Mapping[str, object]] = {
        "part 'part 1' .* or as here: golden is": {"golden": "0" * 16},
        "scale is '3.0', not '4'": {"scale": 3.0},
        "as others, .*: conventions is '.*ties='input'": {"conventions": Conventions("input")},
        "depth is '10', not 'None'": {"depth": 10},
        "top is '5', not '20'": {"top": 5},
        "doc_id is 'lower', not ''": {"doc_id": "lower"},
        "version is '0.0.1', not '.*'; evaluate all parts with": {"version": "0.0.1"},
    }
    for message, changes in others.items():
        first, second, third = parts_of()
        with pytest.raises(RunError, match=message):
            Evaluation.merge([first, with_origin(second, **changes), third], GOLDEN)
    with pytest.raises(RunError, match=r"version is '0\.0\.1', not"):
        Evaluation.merge([with_origin(part, version="0.0.1") for part in parts_of()], GOLDEN)


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


def test_parts_that_are_missing_are_an_error() -> None:
    for expected, message in (
        (4, "4 parts were expected, but there are 2: part 0, part 1$"),
        (1, "1 part was expected, but there are 2: part 0, part 1"),
        (["q0", "q2"], "1 expected query is in no part: q2; 2 parts were given. Evaluate"),
    ):
        with pytest.raises(RunError, match=message):
            Evaluation.merge(parts_of()[:2], GOLDEN, expected=expected)


def test_invalid_arguments_of_a_merge_are_refused() -> None:
    wrong: Any
    for wrong in (True, "q1", 2.0):
        with pytest.raises(ConfigurationError, match="expected must be a whole number or a list"):
            Evaluation.merge(parts_of(), GOLDEN, expected=wrong)
    # as from a generator that was used up, or the pattern of a folder that is not there
    for wrong in (0, [], iter(())):
        with pytest.raises(ConfigurationError, match="expected is empty, so nothing could be miss"):
            Evaluation.merge(parts_of()[:2], GOLDEN, expected=wrong)
    for wrong in ([], [3], [WHOLE], [*parts_of(1), 3]):
        with pytest.raises(ConfigurationError, match="give those that evaluate_part"):
            Evaluation.merge(wrong, GOLDEN)


def test_a_note_says_that_missing_parts_would_go_unnoticed() -> None:
    parts = parts_of()
    (note,) = Evaluation.merge(parts[:2], GOLDEN).notes
    assert note.startswith(
        "merged from 2 parts without expected=, and 4 judged queries are missing"
    )
    assert not Evaluation.merge(parts[:2], GOLDEN, expected=2).notes


NUMBERED = GoldenSet.from_dict({f"q{n}": {f"d{n}": 1} for n in range(40)})


def test_notes_name_a_part_whose_documents_have_other_ids() -> None:
    """One worker reads ids as numbers, or in capitals; its queries would count as misses."""
    for doc_id, found, queries, is_noted in (
        ("D{}", 1.0, 20, True),
        ("{}", 0.5, 20, True),
        ("D{}", 1.0, 19, False),
        ("d{}", 1, 20, False),
    ):
        odd = {f"q{n}": [doc_id.format(n), "other"] for n in range(queries)}
        rest = range(queries, 40)
        usual = {f"q{n}": [f"d{n}" if n % 2 or found == 1 else "no", "other"] for n in rest}
        parts = [
            evaluate_part(Run.from_dict(each, name=name), NUMBERED)
            for each, name in ((usual, "usual"), (odd, "odd"))
        ]
        note = (
            f"part 'odd' ranks {queries} judged queries but no judged document, unlike the other "
            "parts: are its ids written in another way?"
        )
        merged = Evaluation.merge(parts, NUMBERED, expected=2)
        assert list(merged.notes) == ([note] if is_noted else [])


def test_notes_of_parts_reach_the_merged_evaluation() -> None:
    golden = GoldenSet.from_dict({"q0": {"d0": 1}, "q1": {"d1": 1}})
    notes = ("1 chunk of queries was lost when a worker died",)
    ranked = Run.from_dict({"q1": ["d1"]}, name="ranked").with_facts(notes=notes)
    parts = [evaluate_part(run, golden) for run in (Run.from_dict({"q0": ["d0"]}), ranked)]
    assert [part.notes for part in parts] == [(), notes]
    merged = Evaluation.merge(parts, golden, expected=2)
    assert list(merged.notes) == [
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
    message = "has 3 queries of golden set .* without the leading zeros: 004, 005, 006"
    with pytest.raises(RunError, match=message):
        Evaluation.merge(parts, golden, expected=2)
    with pytest.raises(RunError, match=message):
        evaluate(Run.from_dict({str(each): ["d1"] for each in (*ids, *numbers)}), golden)
    merged = Evaluation.merge(parts[:1], golden, expected=1)
    assert len(merged.missing) == 3


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


class TestWhatPartsDoNotKnow:
    merged = Evaluation.merge(parts_of(), GOLDEN)

    def test_ties_are_not_answered(self) -> None:
        assert not self.merged.source.knows_ties
        for question in (self.merged.tied, lambda: self.merged.tie_range("RR")):
            with pytest.raises(MetricError, match="parts keep ranks, not scores"):
                question()
        with pytest.raises(MetricError, match="parts keep ranks, not scores"):
            self.merged.with_ties("best")

    def test_a_metric_of_the_whole_run_below_the_top(self) -> None:
        message = "HeadShare@50 needs whole rankings, but of a run in its file or in parts .*"
        with pytest.raises(MetricError, match=message + r"evaluate_part\(\.\.\., top=100\)"):
            self.merged.values("HeadShare@50")

    def test_more_can_be_kept(self) -> None:
        part = evaluate_part(Run.from_dict(RANKINGS), GOLDEN, top=100)
        merged = Evaluation.merge([part], GOLDEN)
        for name in ("HeadShare@50", "RepeatedList@30", "Distinct@25"):
            assert merged.values(name).tobytes() == WHOLE.values(name).tobytes()
        with pytest.raises(ConfigurationError, match="top=0 is invalid"):
            evaluate_part(Run.from_dict(RANKINGS), GOLDEN, top=0)

    @pytest.mark.oracle
    def test_measures_of_ir_measures(self) -> None:
        with pytest.raises(MetricError, match="merged from parts"):
            self.merged.values("ir_measures:Compat(p=0.8)")


SHUFFLED = rows(RANKINGS).sample(frac=1, random_state=3).reset_index(drop=True)


@pytest.mark.parametrize(
    "form", forms("csv", "parquet", "trec", "jsonl", "pandas", "polars", "arrow")
)
def test_every_source_gives_the_same_part(form: str, tmp_path: Path) -> None:
    source: Any = SHUFFLED
    if form in ("csv", "parquet", "trec", "jsonl"):
        source = tmp_path / f"run.{form}"
        Run.from_frame(SHUFFLED).save(source, form)
    elif form == "polars":
        import polars as pl

        source = pl.from_pandas(SHUFFLED)
    elif form == "arrow":
        import pyarrow as pa

        source = pa.Table.from_pandas(SHUFFLED)
    part, usual = evaluate_part(source, GOLDEN), evaluate_part(Run.from_dict(RANKINGS), GOLDEN)
    assert part.hits == usual.hits
    assert bits(Evaluation.merge([part], GOLDEN)) == bits(WHOLE)


@NEEDS_POLARS
def test_a_reader_of_record_batches_may_be_read_once() -> None:
    import pyarrow as pa

    table = pa.Table.from_pandas(rows(RANKINGS))
    reader = pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=7))
    part = evaluate_part(reader, GOLDEN)
    assert bits(Evaluation.merge([part], GOLDEN)) == bits(WHOLE)


def test_a_table_without_rows_is_an_empty_part(tmp_path: Path) -> None:
    """As a worker of Spark writes it that had no rows."""
    file = tmp_path / "part-7.csv"
    file.write_text("query_id,doc_id,score\n")
    for source in (file, rows({})):
        part = evaluate_part(source, GOLDEN)
        assert not part.query_ids
        merged = Evaluation.merge([*parts_of(), part], GOLDEN, expected=4)
        assert bits(merged) == bits(WHOLE)
        assert not merged.notes


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
        assert part.origin["doc_id"] == "lower"


def test_a_part_is_a_small_value() -> None:
    assert isinstance(WHOLE, Evaluation)
    part = parts_of()[0]
    assert repr(part) == "EvaluationPart('part 0', 4 judged queries)"
    many = {f"q{q}": {f"doc{d:07}": -float(d) for d in range(200)} for q in range(50)}
    golden = GoldenSet.from_dict({query: {f"doc{d:07}": 1 for d in range(10)} for query in many})
    sent = len(pickle.dumps(evaluate_part(Run.from_dict(many), golden)))
    assert sent / 50 * 20_000 < 15e6, "a few MB for 20,000 queries"
