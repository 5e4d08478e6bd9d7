"""Corruptions that show only in a comparison: with a run, between slices, judges and splits.

Each is planted in the Cranfield set, whose clean form has the notes (code -1) left out, with random
choices from a seed; without the fault, the same choices must give no finding. `lint_table` makes
the manual's table of these and of `lint_corruptions`.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import cranfield_bm25
import pandas as pd
from cranfield_bm25 import CODES, Settings
from rates import Rate
from real_pairs import DATA

from pytest_rankcheck import Expectation, GoldenSet, Run

FOLDER = DATA / "cranfield"
DEPTH = 1000
_SHARE_STALE, _SHARE_LEAKED = 0.3, 0.05
_SETTINGS = (
    *(Settings(), Settings(k1=0.6), Settings(k1=3.0), Settings(b=0.3), Settings(b=1.0)),
    *(Settings(has_stop_words=False), Settings(stem=6), Settings(letters=4)),
    *(Settings(dropped=5), Settings(has_titles=False)),
)
"""The versions of BM25 whose runs are compared with the judgments."""

Grades = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True)
class Case:
    """A golden set, with a run if the rule needs one."""

    golden: GoldenSet
    run: Run | None = None

    def is_found(self, rule: str, *, has_run: bool = True) -> bool:
        """Whether a rule of the linter reports it, with the run or without it."""
        return bool(self.golden.lint(rules=[rule], run=self.run if has_run else None))


@dataclass(frozen=True)
class Comparison:
    """A kind of fault: how to plant it, and the same set without it."""

    name: str
    rule: str
    planted: Callable[[random.Random], Case]
    clean: Callable[[random.Random], Case]


@cache
def clean_grades(folder: Path = FOLDER) -> Grades:
    """Return the judgments without the notes, on a scale from 1 to 4."""
    raw = GoldenSet.load(folder / "cran.qrels")
    return {
        query_id: {doc: CODES[int(code)] for doc, code in raw.grades(query_id).items() if code > 0}
        for query_id in raw.query_ids
    }


@cache
def deep_run(settings: Settings = Settings(), folder: Path = FOLDER) -> Run:  # noqa: B008
    """Return a run of BM25 with `DEPTH` documents a query."""
    return cranfield_bm25.ranked(folder, settings, DEPTH)


def _any_run(generator: random.Random) -> Run:
    return deep_run(generator.choice(_SETTINGS))


def _clean(generator: random.Random) -> Case:
    return Case(GoldenSet.from_dict(clean_grades()), _any_run(generator))


def inverted(generator: random.Random) -> Case:
    """Take the codes for grades, as the file has them."""
    return Case(GoldenSet.load(FOLDER / "cran.qrels"), _any_run(generator))


def stale(generator: random.Random) -> Case:
    """Replace some documents of the judgments by others that are not in the collection."""
    ids = sorted({doc for judged in clean_grades().values() for doc in judged})
    gone = set(generator.sample(ids, int(_SHARE_STALE * len(ids))))
    renamed = {
        query_id: {f"gone-{doc}" if doc in gone else doc: grade for doc, grade in judged.items()}
        for query_id, judged in clean_grades().items()
    }
    return Case(GoldenSet.from_dict(renamed), _any_run(generator))


def unfound_share(case: Case) -> float:
    """Return the share of relevant documents that no query judging them has in its top 1,000."""
    assert case.run is not None
    relevant, found = set[str](), set[str]()
    for query_id in case.golden.query_ids:
        grades = case.golden.grades(query_id)
        relevant.update(doc for doc, grade in grades.items() if grade > 0)
        found.update(doc for doc in case.run.get(query_id)[:DEPTH] if doc in grades)
    return len(relevant - found) / len(relevant)


def _with_slices(generator: random.Random, shift: int) -> Case:
    """Divide the queries into slices of random sizes; shift the grades of the first."""
    grades = clean_grades()
    count = generator.randint(2, 5)
    weights = [generator.uniform(0.5, 1.5) for _ in range(count)]
    locale = {query_id: generator.choices("abcde"[:count], weights)[0] for query_id in grades}
    shifted = {
        query_id: {
            doc: max(0, grade - shift) if locale[query_id] == "a" else grade
            for doc, grade in judged.items()
        }
        for query_id, judged in grades.items()
    }
    attributes = {query_id: {"locale": label} for query_id, label in locale.items()}
    return Case(GoldenSet.from_dict(shifted, attributes=attributes))


def _with_judges(generator: random.Random, shift: int) -> Case:
    """Give each judgment to one of two to four judges; shift the grades of the first."""
    judges = "abcd"[: generator.randint(2, 4)]
    rows = []
    for query_id, judged in clean_grades().items():
        for doc, grade in judged.items():
            judge = generator.choice(judges)
            rows.append((query_id, doc, max(0, grade - shift * (judge == "a")), judge))
    columns = ["query_id", "doc_id", "relevance", "judge"]
    return Case(GoldenSet.from_frame(pd.DataFrame(rows, columns=columns)))


def _with_splits(generator: random.Random, share: float) -> Case:
    """Put each query into train or test, and some of the texts into both."""
    texts = cranfield_bm25.queries(FOLDER)
    grades = {str(number): clean_grades()[str(number)] for number in range(1, len(texts) + 1)}
    asked = {str(number): text for number, text in enumerate(texts, 1)}
    splits = {query_id: generator.choice(["train", "test"]) for query_id in asked}
    for query_id in generator.sample(sorted(asked), int(share * len(asked))):
        again = f"again-{query_id}"
        grades[again] = grades[query_id]
        asked[again] = asked[query_id].strip().capitalize()
        splits[again] = "test" if splits[query_id] == "train" else "train"
    attributes = {query_id: {"split": split} for query_id, split in splits.items()}
    return Case(GoldenSet.from_dict(grades, asked, attributes=attributes))


COMPARISONS = (
    Comparison("inverted scale", "inverted-scale", inverted, _clean),
    Comparison("stale documents", "stale-document", stale, _clean),
    Comparison(
        "shift between slices",
        "slice-shift",
        lambda generator: _with_slices(generator, 1),
        lambda generator: _with_slices(generator, 0),
    ),
    Comparison(
        "shift between judges",
        "judge-shift",
        lambda generator: _with_judges(generator, 1),
        lambda generator: _with_judges(generator, 0),
    ),
    Comparison(
        "leakage",
        "split-leakage",
        lambda generator: _with_splits(generator, _SHARE_LEAKED),
        lambda generator: _with_splits(generator, 0),
    ),
)


def found_rates(comparison: Comparison, trials: int) -> tuple[Rate, Rate, Rate]:
    """Return how often a fault is found, by the golden set alone, and where it is not planted."""
    rule = comparison.rule
    found = alone = alarms = 0
    for seed in range(trials):
        planted = comparison.planted(random.Random(seed))
        found += planted.is_found(rule)
        alone += planted.is_found(rule, has_run=False)
        alarms += comparison.clean(random.Random(seed)).is_found(rule)
    return Rate(found, trials), Rate(alone, trials), Rate(alarms, trials)


def random_rankings(trials: int) -> Rate:
    """Return how often rankings in random order look like a reversed scale."""
    golden = GoldenSet.from_dict(clean_grades())
    found = 0
    for seed in range(trials):
        generator = random.Random(seed)
        ranked = {
            query_id: generator.sample(sorted(judged), len(judged))
            for query_id, judged in clean_grades().items()
            if judged
        }
        found += Case(golden, Run.from_dict(ranked)).is_found("inverted-scale")
    return Rate(found, trials)


def expectations(generator: random.Random) -> Iterator[Expectation]:
    """Yield expectations that agree with the grades; some name documents that are not judged."""
    corpus = [str(number) for number in range(1, 1401)]
    for query_id, judged in clean_grades().items():
        order = sorted(judged, key=lambda doc: -judged[doc])
        if len(order) < 2:
            continue
        yield Expectation.in_top(10, order[0], query=query_id)
        if judged[order[0]] > judged[order[-1]]:
            yield Expectation.above(order[0], order[-1], query=query_id)
        others = [doc for doc in generator.sample(corpus, 3) if doc not in judged]
        if others:
            yield Expectation.not_in_top(5, *others, query=query_id)


def expectation_alarms(trials: int) -> Rate:
    """Return in how many sets a rule for expectations reports one that agrees with the grades."""
    rules = ["expectation-against-grades", "expectation-without-gain", "misspelt-expected-id"]
    golden = GoldenSet.from_dict(clean_grades())
    found = 0
    for seed in range(trials):
        expecting = golden.expecting(*expectations(random.Random(seed)))
        found += bool(expecting.lint(rules=rules))
    return Rate(found, trials)
