"""Four golden sets with runs, from long lists of relevant documents to a single one.

Two are reference data as it is: Cranfield with its BM25 run, and LightGBM's example ranked by
LambdaRank. The reference data of trec_eval has three topics, too few for any gate, so each of 150
topics here is a random 40% of the documents of one of them. Nothing in the reference data has one
relevant document per query, the shape of MS MARCO, so 200 such queries are made, with the relevant
document at rank 1 for 29%, in the top 10 for 70% and in the top 100 for 90%, about what dense
retrievers reach there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import cranfield_bm25
import lambdarank_folds
import numpy as np
from planted_falls import GradedRankings

from pytest_rankcheck import Evaluation, GoldenSet, Run, evaluate

TOPICS = 150
QUERIES = 200
DEPTH = 100


@dataclass(frozen=True)
class RankedSet:
    """A golden set and a run on it."""

    name: str
    golden: GoldenSet
    run: Run
    depth: int
    """The depth of the rankings."""
    is_complete: bool = False
    """Whether all documents are ranked."""

    @cached_property
    def evaluation(self) -> Evaluation:
        """The evaluation of the run."""
        return evaluate(self.run, self.golden)

    @cached_property
    def rankings(self) -> GradedRankings:
        """The rankings as grades by rank."""
        return GradedRankings.of(self.evaluation, self.depth, is_complete=self.is_complete)


def ranked_sets(data: Path) -> Mapping[str, RankedSet]:
    """Return the four sets by name.

    Args:
        data: the folder of the reference data.

    Raises:
        FileNotFoundError: it is not there.
    """
    made = (cranfield(data), _lambdarank(data), topics(data), single_answers())
    return {each.name: each for each in made}


def cranfield(data: Path) -> RankedSet:
    """Return Cranfield with its BM25 run."""
    folder = data / "cranfield"
    run = Run.load(folder / "bm25s.run")
    return RankedSet("Cranfield", cranfield_bm25.golden_set(folder), run, 50)


def _lambdarank(data: Path) -> RankedSet:
    folder = data / "lightgbm-lambdarank"
    golden = lambdarank_folds.golden_set(folder)
    most = max(len(golden.grades(query)) for query in golden.query_ids)
    return RankedSet("LambdaRank", golden, lambdarank_folds.ranked(folder), most, is_complete=True)


def topics(data: Path) -> RankedSet:
    """Return topics with many relevant documents each, drawn from those of trec_eval."""
    folder, random = data / "trec_eval", np.random.default_rng(1)
    golden = GoldenSet.load(folder / "qrels.test", format="trec")
    run = Run.load(folder / "results.test", format="trec")
    judged, ranked = {}, {}
    for number in range(TOPICS):
        source = golden.query_ids[number % len(golden)]
        grades, ranking = golden.grades(source), list(run.ranking(source))
        documents = sorted({*grades, *ranking})
        kept = {doc for doc, draw in zip(documents, random.random(len(documents)), strict=True)
                if draw < 0.4}  # fmt: skip
        judged[str(number)] = {doc: grade for doc, grade in grades.items() if doc in kept}
        ranked[str(number)] = [doc for doc in ranking if doc in kept][:DEPTH]
    return RankedSet("TREC topics", GoldenSet.from_dict(judged), Run.from_dict(ranked), DEPTH)


def single_answers(queries: int = QUERIES) -> RankedSet:
    """Return queries with one relevant document each; the logarithm of its rank is exponential.

    The answer is not retrieved below `DEPTH`.
    """
    random = np.random.default_rng(2)
    ranked = {}
    for number, size in enumerate(random.exponential(2.0, queries)):
        ranking = [f"other{place}" for place in range(DEPTH)]
        if (rank := int(np.exp(size))) <= DEPTH:
            ranking[rank - 1] = "answer"
        ranked[str(number)] = ranking
    golden = GoldenSet.from_dict({query: {"answer": 1} for query in ranked})
    return RankedSet("one answer", golden, Run.from_dict(ranked), DEPTH)
