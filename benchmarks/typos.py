"""How far typos move two rankers: ``python benchmarks/typos.py [--seeds 20] [--write]``.

BM25 on Cranfield (225 queries, 1,400 abstracts), once over words and once over sequences of
characters, is asked with typos of several seeds, one and five for each query. ``--write`` puts the
table into ``docs/behaviour.md``.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import cranfield_bm25
from cranfield_bm25 import Settings
from manual_parts import DOCS, write_part
from real_pairs import DATA, require_data

from pytest_rankcheck import GoldenSet, Metric
from pytest_rankcheck.behaviour.answer_comparison import RepeatedRanker
from pytest_rankcheck.behaviour.perturbed_answers import perturbed_answers
from pytest_rankcheck.rankers import batch

RANKERS = {
    "BM25 over words": Settings(),
    "BM25 over sequences of 4 characters": Settings(letters=4),
    "BM25 over sequences of 3 characters": Settings(letters=3),
}
SAMPLES = (1, 5)
METRIC = Metric.parse("nDCG@10")


@dataclass(frozen=True)
class Moved:
    """What typos of one seed did to one ranker."""

    rbo: float
    """The mean rank-biased overlap (p = 0.9) of the answers with and without the typos."""
    gain: float
    """The difference of the mean nDCG@10."""


def golden_with_texts(folder: Path, count: int | None = None) -> GoldenSet:
    """Return the judgments and the texts of the queries; of the first ones, if a count is given."""
    judged = cranfield_bm25.golden_set(folder)
    ids = judged.query_ids[:count]
    texts = cranfield_bm25.queries(folder)
    return GoldenSet.from_dict(
        {query_id: judged.grades(query_id) for query_id in ids},
        {query_id: texts[int(query_id) - 1] for query_id in ids},
        name="cranfield",
    )


def moved(index: cranfield_bm25.Index, golden: GoldenSet, samples: int, seed: int) -> Moved:
    """Return how far the typos of a seed move the answers of an index."""
    result = perturbed_answers(
        RepeatedRanker.of(batch(index.search, size=64), golden, {"depth": cranfield_bm25.DEPTH}),
        golden,
        f"typo(samples={samples})",
        METRIC,
        p=0.9,
        seed=seed,
        min_queries=1,
    )
    return Moved(result.mean_rbo, result.mean_gain)


def table(folder: Path, golden: GoldenSet, seeds: int) -> Iterator[str]:
    """Yield the table: a row for each ranker and number of draws."""
    yield "| ranker | draws for each query | mean RBO | change of the mean nDCG@10 |"
    yield "|---|---|---|---|"
    for name, settings in RANKERS.items():
        index = cranfield_bm25.index(folder, settings)
        for samples in SAMPLES:
            found = [moved(index, golden, samples, seed) for seed in range(seeds)]
            gains = sorted(each.gain for each in found)
            similar = sorted(each.rbo for each in found)
            yield (
                f"| {name} | {samples} | {sum(similar) / seeds:.2f} ({similar[0]:.2f} to "
                f"{similar[-1]:.2f}) | {sum(gains) / seeds:+.3f} ({gains[0]:+.3f} to "
                f"{gains[-1]:+.3f}) |"
            )


def main() -> None:
    """Print the table, and write it into the manual if requested."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--queries", type=int, help="only the first queries")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    require_data()
    folder = DATA / "cranfield"
    text = "\n".join(table(folder, golden_with_texts(folder, given.queries), given.seeds)) + "\n"
    print(text)
    if given.write:
        write_part(DOCS / "behaviour.md", "typos", text)


if __name__ == "__main__":
    main()
