"""Queries that are judged by expected texts, which the returned chunks contain or not."""

import json
import pickle
import random
from collections.abc import Sequence
from functools import cache
from itertools import permutations
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from pytest_rankcheck import (
    ConfigurationError,
    GoldenSet,
    GoldenSetError,
    MetricWarning,
    Run,
    RunError,
    assert_at_least,
    compare,
    evaluate,
    evaluate_part,
    rank,
    rankers,
)
from pytest_rankcheck.golden.expected_text import Passage
from pytest_rankcheck.rankers.kept_answers import run_computed_once

BATTERY, CHARGE = "The battery lasts ten hours", "it charges in one hour"
CHUNKS = {"c1": "Buy it now.", "c2": f"Yes: {BATTERY}.", "c3": f"{BATTERY}!", "c4": CHARGE.upper()}
UNITS = [f"expected text: {BATTERY}", f"expected text: {CHARGE}"]


class Retriever:
    """Stands for a retriever of LangChain."""

    def __init__(self, *chunks: str, source: str | None = None) -> None:
        self.documents = [
            SimpleNamespace(page_content=CHUNKS[chunk], id=source or chunk) for chunk in chunks
        ]

    def __call__(self, text: str) -> Any:
        return self.documents


def golden_of(texts: Any = (BATTERY, CHARGE), **options: Any) -> GoldenSet:
    return GoldenSet.from_dict({"q1": texts}, {"q1": "how long?"}, **options)


def ranked(*chunks: str, golden: GoldenSet | None = None, **options: Any) -> Run:
    retriever = rankers.retriever(Retriever(*chunks), key="id")
    return rank(retriever, golden or golden_of(), **options)


def frame(**columns: Sequence[object]) -> pd.DataFrame:
    return pd.DataFrame({"doc_id": [*CHUNKS], "text": [*CHUNKS.values()], **columns})


# --- values, worked by hand --------------------------------------------------------------------


@pytest.mark.parametrize("by_documents", [False, True])
def test_a_text_has_the_rank_of_the_first_chunk_that_contains_it(by_documents: bool) -> None:
    if by_documents:  # a saved run has no texts
        golden = golden_of(documents=frame())
        run = Run.from_dict({"q1": ["c1", "c2", "c3", "c4"]})
    else:
        golden, run = golden_of(), ranked("c1", "c2", "c3", "c4")
    evaluation = evaluate(run, golden)
    assert evaluation.ranking("q1") == ("c1", UNITS[0], "c3", UNITS[1])
    assert run["q1"] == ("c1", "c2", "c3", "c4")  # what is saved
    expected = {"RR": 1 / 2, "R@2": 1 / 2, "R@4": 1, "P@4": 2 / 4, "Judged@4": 3 / 4, "AP": 1 / 2}
    for metric, value in expected.items():
        assert evaluation.mean(metric) == pytest.approx(value), metric
    assert evaluation.golden.grades("q1") == {UNITS[0]: 1, UNITS[1]: 1, "c3": 0}
    assert evaluation.golden.title(UNITS[0]) == "c2"


def test_what_a_run_contains_does_not_change_the_golden_set() -> None:
    golden = golden_of()
    runs = [ranked("c2", "c3"), ranked("c4", "c3", "c2")]
    before, after = (evaluate(run, golden) for run in runs)
    assert before.golden.fingerprint == after.golden.fingerprint == golden.fingerprint
    assert before.golden.judgment_count == golden.judgment_count == 2
    comparison = compare(after, before)
    assert comparison.values("R@2").difference == pytest.approx(1 / 2)
    assert before.run is not None
    again = evaluate(before.run, golden)
    assert again.mean("Judged@2") == before.mean("Judged@2") == 1


TWO = {"both": f"{BATTERY}, and {CHARGE}", "none": "nothing", "one": BATTERY}


def test_a_second_text_of_a_chunk_gets_the_next_rank() -> None:
    for chunks, placed in (
        (["both"], [0, 1]),  # a new last rank
        (["both", "none"], [0, 1]),
        (["both", "one", "none"], [0, 1, "none"]),
        (["none", "both", "none2"], ["none", 0, 1]),
        (["one", "both", "none"], [0, 1, "none"]),
    ):
        texts = {**TWO, "none2": "nothing"}
        golden = golden_of(documents={chunk: {"text": texts[chunk]} for chunk in texts})
        evaluation = evaluate(Run.from_dict({"q1": chunks}), golden)
        assert evaluation.ranking("q1") == tuple(
            each if isinstance(each, str) else UNITS[each] for each in placed
        )
        assert evaluation.mean("R") == 1


def test_a_chunk_with_a_new_text_of_its_own_keeps_it() -> None:
    texts = {**TWO, "price": "it costs ten"}
    golden = golden_of(
        [BATTERY, CHARGE, "costs ten"], documents={chunk: {"text": texts[chunk]} for chunk in texts}
    )
    evaluation = evaluate(Run.from_dict({"q1": ["both", "price", "none"]}), golden)
    assert evaluation.ranking("q1") == (UNITS[0], "expected text: costs ten", UNITS[1])


def test_no_metric_leaves_its_range() -> None:
    texts = {**CHUNKS, **TWO}
    golden = golden_of(documents={chunk: {"text": texts[chunk]} for chunk in texts})
    for chunks in permutations(texts, 3):
        for depth in (1, 2, 3, None):
            run = Run.from_dict({"q1": list(chunks)[:depth]}, depth=depth)
            evaluation = evaluate(run, golden)
            for metric in ("P@1", "R@1", "nDCG", "AP", "RR", "Judged@1", "Bpref"):
                assert 0 <= evaluation.mean(metric) <= 1
            assert len(set(evaluation.ranking("q1"))) == len(evaluation.ranking("q1"))
            assert depth is None or len(evaluation.ranking("q1")) <= depth


# --- what counts as contained ------------------------------------------------------------------

WORDS = [f"w{number}" for number in range(40)]


def test_a_chunk_contains_a_text() -> None:
    for chunk, text, is_contained in (
        ("ＴＨＥ  battery\n lasts", "the Battery lasts", True),
        ("Straße 5", "STRASSE", True),
        ("cafe\u0301", "CAFÉ", True),
        ("ﬁne", "FINE", True),
        ("three words here", "three words there", False),
        ("one two three four five six x", "one two three four five six seven", False),  # 7 words
        ("1420 items", "42", True),  # it holds the text
        (None, "none", False),
        (float("nan"), "nan", False),
        ("", "x", False),
        (" ".join(WORDS[:8] + ["x", "y"]), " ".join(WORDS[:10]), True),  # 8 of 10
        (" ".join(WORDS[:7] + ["x", "y", "z"]), " ".join(WORDS[:10]), False),
        (" ".join(WORDS[:7] + ["x"]), " ".join(WORDS[:8]), True),  # 7 of 8
        (" ".join(WORDS[:6] + ["x", "y"]), " ".join(WORDS[:8]), False),
        (" ".join(reversed(WORDS[:10])), " ".join(WORDS[:10]), False),  # another order
        (" ".join(WORDS[5:15]), " ".join(WORDS), True),  # a part of the text, of 10 words
        (" ".join(WORDS[5:12]), " ".join(WORDS), False),  # of 7
        (" ".join(["w0"] * 10), " ".join(["w0", *WORDS[20:29]]), False),  # a word counts once
    ):
        assert Passage(chunk).contains(Passage(text)) is is_contained


def test_the_common_words_are_those_of_the_textbook() -> None:
    def lcs(first: tuple[str, ...], second: tuple[str, ...]) -> int:
        @cache
        def of(a: int, b: int) -> int:
            if not a or not b:
                return 0
            if first[a - 1] == second[b - 1]:
                return of(a - 1, b - 1) + 1
            return max(of(a - 1, b), of(a, b - 1))

        return of(len(first), len(second))

    generator = random.Random(33)
    for _ in range(500):
        first, second = (
            tuple(generator.choices("abcdef", k=generator.randint(1, 80))) for _ in range(2)
        )
        found = Passage(" ".join(first))._common_words(Passage(" ".join(second)))
        assert found == lcs(first, second)


# --- reading and writing -----------------------------------------------------------------------


def written(folder: Path, name: str, *entries: object) -> Path:
    file = folder / name
    is_list = not name.endswith("jsonl")
    lines = map(json.dumps, entries)
    file.write_text(json.dumps(entries) if is_list else "\n".join(lines))
    return file


def test_it_is_read_from_json_lines_and_cases_and_written_again(tmp_path: Path) -> None:
    by_id = {"query_id": "q2", "query": "?", "relevance": {"d3": 2}}
    lines = [{"query_id": "q1", "query": "how long?", "expected_text": [BATTERY, CHARGE]}, by_id]
    golden = GoldenSet.load(written(tmp_path, "a.jsonl", *lines))
    assert golden.grades("q1") == dict.fromkeys(UNITS, 1)
    assert golden.by_text == {"q1"}
    golden.save(tmp_path / "b.jsonl")
    assert GoldenSet.load(tmp_path / "b.jsonl").fingerprint == golden.fingerprint
    assert [*map(json.loads, (tmp_path / "b.jsonl").read_text().splitlines())] == lines
    with pytest.raises(GoldenSetError, match="has expected texts, which csv cannot hold"):
        golden.save(tmp_path / "b.csv")
    case = {"id": "q1", "question": "how long?", "expected_text": BATTERY, "locale": "en"}
    cases = GoldenSet.load(written(tmp_path, "cases.json", case))
    assert cases.grades("q1") == {UNITS[0]: 1}
    assert cases.query("q1").attributes == {"locale": "en"}
    assert GoldenSet.load(written(tmp_path, "c.jsonl", {**case})).by_text == {"q1"}
    part = golden.subset(["q2"])
    assert (part.by_text, pickle.loads(pickle.dumps(golden)).by_text) == (set(), {"q1"})


def test_a_wrong_text_is_refused_with_its_line(tmp_path: Path) -> None:
    for entry, message in (
        ({"expected_text": ""}, "the expected text is empty; give a text"),
        ({"expected_text": [BATTERY, " \n"]}, r"the expected text is ' \\n' \(str\); give a text"),
        ({"expected_text": []}, r"the expected text is '\[\]' \(list\); give a text"),
        ({"expected_text": 42}, r"the expected text is '42' \(int\); give a text"),
        ({"expected_text": float("nan")}, "NaN|nan"),
        ({"expected_text": BATTERY, "relevance": {"d3": 1}}, "both expected texts and judged doc"),
    ):
        with pytest.raises(GoldenSetError, match=message) as refused:
            GoldenSet.load(written(tmp_path, "a.jsonl", {"query_id": "q1", "query": "?", **entry}))
        assert f"{tmp_path / 'a.jsonl'}:1: " in str(refused.value)


def test_a_query_is_not_judged_by_both(tmp_path: Path) -> None:
    case = {"question": "?", "expected_text": BATTERY, "expected_ids": ["d3"]}
    with pytest.raises(GoldenSetError, match="both expected texts and judged documents"):
        GoldenSet.load(written(tmp_path, "a.json", case))
    with pytest.raises(GoldenSetError, match="'q1': a query has both"):
        golden_of().merge(GoldenSet.from_dict({"q1": {"d3": 1}}, {"q1": "how long?"}))
    other = GoldenSet.from_dict({"q2": {"d3": 1}})
    assert golden_of().merge(other).by_text == {"q1"}


def test_equal_texts_count_once_and_ids_are_not_mapped() -> None:
    golden = golden_of([BATTERY, BATTERY.upper(), CHARGE], doc_id=str.upper)
    assert golden.judgment_count == 2
    assert UNITS[1] in golden.grades("q1")


# --- texts that are not known ------------------------------------------------------------------


def test_a_run_without_texts_is_refused(tmp_path: Path) -> None:
    run = ranked("c1", "c2")
    run.save(tmp_path / "saved.jsonl")
    saved = Run.load(tmp_path / "saved.jsonl")
    assert evaluate(saved, golden_of(documents=frame())).mean("RR") == 1 / 2
    message = "golden set 'golden set' expects texts, but those of run 'saved.jsonl' are unknown"
    for golden in (golden_of(), golden_of(documents=frame().rename(columns={"text": "body"}))):
        with pytest.raises(RunError, match=message):
            evaluate(saved, golden)
    sources = frame(source=["a", "a", "b", "b"])
    golden = golden_of(documents=sources, doc_id="attribute:source")
    with pytest.raises(RunError, match="and no doc_id="):  # the text of a source is of one chunk
        evaluate(Run.from_dict({"q1": ["a", "b"]}), golden)
    with pytest.raises(ConfigurationError, match="not measured in parts"):
        evaluate_part(saved, golden_of())


def test_chunks_without_a_text_are_counted() -> None:
    texts = ["Buy it now.", float("nan"), BATTERY, None]
    golden = golden_of(documents=frame(text=texts))
    evaluation = evaluate(Run.from_dict({"q1": ["c1", "c2", "c3", "c4", "unknown"]}), golden)
    assert evaluation.mean("RR") == 1 / 3
    assert "3 ranked chunks have no text, and so no expected text" in evaluation.notes
    documents = [SimpleNamespace(id=f"c{n}", text=text) for n, text in enumerate(texts)]
    run = rank(rankers.retriever(lambda text: documents, key="id"), golden_of(), depth=1)
    assert evaluate(run, golden_of()).notes == ()


def test_texts_survive_workers_and_a_resumed_ranking(tmp_path: Path) -> None:
    run = ranked("c2", "c1", resume=tmp_path / "kept", resume_key="k")
    shared = [run_computed_once(tmp_path, "k", lambda: run) for _ in range(2)]
    assert [evaluate(each, golden_of()).mean("RR") for each in shared] == [1, 1]

    golden = GoldenSet.from_dict({"q1": BATTERY, "q2": CHARGE}, {"q1": "how", "q2": "fail"})

    class Failing(Retriever):
        def __call__(self, text: str) -> Any:
            if text == "fail":
                raise OSError
            return super().__call__(text)

    how: dict[str, Any] = {"resume": tmp_path / "kept", "resume_key": "k"}
    ranker = rankers.retriever(Failing("c2"), key="id")
    with pytest.raises(Exception, match="failed on 1 of 2"):
        rank(ranker, golden, **how)
    Failing.__call__ = Retriever.__call__  # type: ignore[method-assign]
    again = rank(ranker, golden, **how)
    assert "read from" in again.notes[0]
    assert evaluate(again, golden).per_query("RR").to_dict() == {"q1": 1, "q2": 0}


def test_chunks_of_a_source_keep_their_own_texts() -> None:
    retriever = rankers.retriever(Retriever("c1", "c2", "c4", source="guide"), key="id")
    run = rank(retriever, golden_of(), duplicates="keep_places")
    assert evaluate(run, golden_of()).ranking("q1") == ("guide", *UNITS)
    assert evaluate(run.top(2), golden_of()).ranking("q1") == ("guide", UNITS[0])


# --- reports and the linter --------------------------------------------------------------------


def test_a_failure_shows_the_text_and_the_chunk() -> None:
    evaluation = evaluate(ranked("c1", "c2", "c3"), golden_of())
    with pytest.raises(AssertionError) as failed:
        assert_at_least(evaluation, "nDCG@3", 0.9)
    text = str(failed.value)
    assert f'"{BATTERY}" in c2 (grade 1) at 2' in text
    assert f'"{CHARGE}" (grade 1) not ranked' in text
    assert "expected text:" not in text


def test_nothing_found_is_said_in_words_of_texts() -> None:
    judged = {f"q{number}": f"text number {number}" for number in range(9)}
    golden = GoldenSet.from_dict(judged, {query_id: query_id for query_id in judged})
    run = rank(rankers.retriever(Retriever("c1"), key="id"), golden)
    with pytest.warns(MetricWarning, match="no ranked chunk contains an expected text"):
        evaluate(run, golden)


def test_the_linter_finds_texts_that_no_document_contains() -> None:
    golden = golden_of([BATTERY, "not there"], documents=frame())
    (finding,) = golden.lint(rules=["absent-text"])
    assert (finding.level, finding.query_ids) == ("warning", ("q1",))
    assert finding.what == "1 expected text is in no document of the catalogue: not there"
    others = {each.rule for each in golden.lint()}
    assert others.isdisjoint({"not-in-corpus", "misspelt-id"})
    assert not golden_of(documents=frame()).lint(rules=["absent-text"])
    without = frame().drop(columns="text")
    assert not golden_of("not there", documents=without).lint(rules=["absent-text"])
    assert not golden_of("not there").lint(rules=["absent-text"])
    assert not GoldenSet.from_dict({"q1": {"c1": 1}}, documents=frame()).lint(rules=["absent-text"])


def test_tied_scores_can_be_reordered() -> None:
    golden = golden_of(BATTERY, documents=frame())
    run = Run.from_dict({"q1": {"c1": 1.0, "c2": 1.0}}, ties="doc_id")
    assert evaluate(run, golden).tie_range("RR") == (1 / 2, 1)
