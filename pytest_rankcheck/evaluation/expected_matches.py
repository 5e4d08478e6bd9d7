"""The expected texts that returned chunks contain: a run of chunks becomes a run of texts.

Each expected text gets the rank of the first chunk that contains it. Two texts cannot share a rank:
the second one gets the rank of the next chunk without a new text of its own, or, after the last
chunk, a new rank. So every metric stays in its range.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from pytest_rankcheck.errors import RunError, plural, quoted
from pytest_rankcheck.evaluation.unfit_runs import are_many
from pytest_rankcheck.golden.expected_text import TEXT_COLUMN, Passage, is_unit, passages_of
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.golden.judgments import Judgments
from pytest_rankcheck.rankers.ranking import Ranking
from pytest_rankcheck.rankers.run import Run

Grouped = defaultdict[str, list[str]]


def in_expected_texts(run: Run, golden: GoldenSet) -> tuple[Run, GoldenSet]:
    """Return a run with the expected texts in place of the chunks that contain them.

    Also return the golden set with grade 0 for the chunks that repeat a text. It has the same
    fingerprints, and each found text has its chunk as the title.

    Raises:
        RunError: the texts of the chunks are unknown.
    """
    rankings, texts = dict(run.rankings()), _texts_of(run, golden)
    chunks, repeats = Grouped(list), Grouped(list)
    for query_id, of_query in texts.items():
        expected = passages_of(golden.grades(query_id))
        ranking, open_texts, waiting = rankings[query_id], dict(expected), list[str]()
        placed = list(ranking.doc_ids)
        for place, passage in enumerate(map(Passage, of_query[: len(placed)])):
            contained = [unit for unit, text in expected.items() if passage.contains(text)]
            new = [unit for unit in contained if open_texts.pop(unit, None)]
            for unit in new:
                chunks[unit].append(placed[place])
            if new or waiting:
                placed[place], *waiting = [*new[:1], *waiting, *new[1:]]
            elif contained:
                repeats[query_id].append(placed[place])
        doc_ids = (*placed, *waiting)[: run.depth]  # a score is unknown for a new rank
        rankings[query_id] = Ranking(doc_ids, ranking.scores if not waiting else None)
    matched = run.with_rankings(rankings)
    if unknown := sum(text is None for of_query in texts.values() for text in of_query):
        count = plural(unknown, "ranked chunk has", "ranked chunks have")
        total = sum(map(len, texts.values()))
        text = f"{count} no text, and so no expected text"
        matched = matched.with_facts(unknown={text: are_many(unknown, total)})
    return matched, _with_matches(golden, chunks, repeats)


def _texts_of(run: Run, golden: GoldenSet) -> Mapping[str, Sequence[object]]:
    """Return the texts of the ranked chunks of each query that expects texts.

    They come from the ranker, or else from the documents.
    """
    ranked = {each: run[each] for each in run if each in golden.by_text}
    if any(run.texts.values()):
        return {each: run.texts.get(each) or [None] * len(ranked[each]) for each in ranked}
    doc_ids, documents = [doc for ids in ranked.values() for doc in ids], golden.catalogue
    found: Sequence[object] = [None] * len(doc_ids)
    if documents and not golden.doc_id:
        found = documents.values(TEXT_COLUMN, doc_ids)
    if doc_ids and all(text is None for text in found):
        raise RunError(
            f"golden set '{quoted(golden.name)}' expects texts, but those of run "
            f"'{quoted(run.name)}' are unknown. Rank with a retriever that returns them, or give "
            f"documents= (rankcheck_documents), with a column {TEXT_COLUMN}, and no doc_id="
        )
    known = dict(zip(doc_ids, found, strict=True))
    return {each: [*map(known.get, ranked[each])] for each in ranked}


def _with_matches(golden: GoldenSet, chunks: Grouped, repeats: Grouped) -> GoldenSet:
    """Return a golden set that knows which chunks contain a text, and which repeat one."""
    contents = golden.contents
    grades = {each: dict(judged) for each, judged in contents.judgments}
    for query_id in contents.by_text:
        units = dict.fromkeys(filter(is_unit, grades[query_id]), 1.0)
        grades[query_id] = units | dict.fromkeys(repeats[query_id], 0.0)
    found = {unit: ", ".join({}.fromkeys(doc_ids)) for unit, doc_ids in chunks.items()}
    titles = {**contents.titles, **found}
    judged = replace(contents, judgments=Judgments.of_dicts(grades), titles=titles)
    known = GoldenSet(judged, golden.name)
    known.query_fingerprints = golden.query_fingerprints
    known.judgment_count = golden.judgment_count
    return known
