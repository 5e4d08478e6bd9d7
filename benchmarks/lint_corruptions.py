"""Corruptions of ids, texts and sizes, planted into samples of clean golden sets.

Each counts as found if a rule that names it reports it. The same samples, clean, give the rate of
false alarms of each rule. `lint_table` makes the manual's table of these and of `lint_comparisons`.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from lint_samples import POPULATIONS, Judgments, Sample
from rates import Rate

from pytest_rankcheck.behaviour.perturbations import perturbations

__all__ = ["CORRUPTIONS", "Corruption", "clean_counts", "found_rates"]

DATA = Path(
    os.environ.get("RANKCHECK_REFERENCE_DATA", Path(__file__).parents[2] / "shared" / "data")
)
TRUE_OF_SAMPLES = ("small-slice", "only-relevant")
"""Rules that are right about the clean samples: half of a small set is a small slice, and some
queries of LambdaRank's example have only relevant documents."""

Plant = Callable[[np.random.Generator, Sample], Sample | None]


@dataclass(frozen=True)
class Corruption:
    """A corruption, and the rules that name it."""

    name: str
    rules: Sequence[str]
    plant: Plant
    """Returns the corrupted set; None if the set cannot be corrupted in this way."""


CORRUPTIONS: list[Corruption] = []


def corruption(name: str, *rules: str) -> Callable[[Plant], Plant]:
    """Add a function to the corruptions, in the order of the table."""

    def added(plant: Plant) -> Plant:
        CORRUPTIONS.append(Corruption(name, rules, plant))
        return plant

    return added


# --- ids -----------------------------------------------------------------------------------------


def _with_ids(sample: Sample, to_id: Callable[[str], str]) -> Sample:
    """Return a set with other ids of judged documents; the corpus keeps its own."""
    judgments = {
        query_id: {to_id(doc_id): grade for doc_id, grade in judged.items()}
        for query_id, judged in sample.judgments.items()
    }
    return replace(sample, judgments=judgments)


def _are_numbers(sample: Sample) -> bool:
    return all(doc_id.isdecimal() for judged in sample.judgments.values() for doc_id in judged)


def _some(random: np.random.Generator, sample: Sample, share: float) -> set[str]:
    """Return a share of the judged documents."""
    doc_ids = list(dict.fromkeys(doc for judged in sample.judgments.values() for doc in judged))
    chosen = random.choice(len(doc_ids), max(1, round(share * len(doc_ids))), replace=False)
    return {doc_ids[place] for place in chosen.tolist()}


@corruption("zeros lost from ids", "misspelt-id")
def lost_zeros(_: np.random.Generator, sample: Sample) -> Sample | None:
    """Plant judgments without the leading zeros that the corpus has, as after a spreadsheet."""
    if not _are_numbers(sample):
        return None
    width = 1 + max(map(len, sample.corpus))
    padded = replace(sample, corpus=[doc_id.zfill(width) for doc_id in sample.corpus])
    return _with_ids(padded, lambda doc_id: doc_id.lstrip("0") or "0")


@corruption("`.0` added to ids", "misspelt-id", "number-id")
def added_decimals(_: np.random.Generator, sample: Sample) -> Sample | None:
    """Plant ids that a data frame has read as numbers with a missing one among them."""
    return _with_ids(sample, lambda doc_id: f"{doc_id}.0") if _are_numbers(sample) else None


@corruption("case or spaces of ids changed", "misspelt-id", "odd-id", "look-alike-id")
def respelt(random: np.random.Generator, sample: Sample) -> Sample:
    """Plant a third of the ids in another case; or with a space, where they are numbers."""
    chosen, is_number = _some(random, sample, 1 / 3), _are_numbers(sample)

    def changed(doc_id: str) -> str:
        if doc_id not in chosen:
            return doc_id
        return f"{doc_id} " if is_number else doc_id.swapcase()

    return _with_ids(sample, changed)


@corruption("documents absent from the corpus", "not-in-corpus")
def absent(random: np.random.Generator, sample: Sample) -> Sample:
    """Plant a corpus without a tenth of the judged documents."""
    gone = _some(random, sample, 0.1)
    return replace(sample, corpus=[doc_id for doc_id in sample.corpus if doc_id not in gone])


# --- texts ---------------------------------------------------------------------------------------


def _chosen(random: np.random.Generator, query_ids: Sequence[str]) -> str:
    return query_ids[int(random.integers(len(query_ids)))]


def _with_text(sample: Sample, query_id: str, text: str) -> Sample:
    return replace(sample, texts={**sample.texts, query_id: text})


@corruption("empty text", "empty-text")
def empty_text(random: np.random.Generator, sample: Sample) -> Sample | None:
    """Plant one query with a blank text."""
    if not sample.texts:
        return None
    blank = ("", " ", "\u00a0")[int(random.integers(3))]
    return _with_text(sample, _chosen(random, list(sample.texts)), blank)


@corruption("mojibake", "mojibake")
def mojibake(random: np.random.Generator, sample: Sample) -> Sample | None:
    """Plant one text whose UTF-8 was read as Windows-1252."""
    foreign = [query_id for query_id, text in sample.texts.items() if not text.isascii()]
    if not foreign:
        return None
    query_id = _chosen(random, foreign)
    raw = sample.texts[query_id].encode()
    text = "".join(
        bytes([byte]).decode("cp1252", "replace").replace("\ufffd", chr(byte)) for byte in raw
    )
    return _with_text(sample, query_id, text)


def _with_copy(sample: Sample, query_id: str, text: str) -> Sample:
    """Return a set with a copy of a query that has another text."""
    attributes = dict(sample.attributes)
    if query_id in attributes:
        attributes["copy"] = {**attributes[query_id], "note": "copy"}
    return replace(
        sample,
        judgments={**sample.judgments, "copy": dict(sample.judgments[query_id])},
        texts={**sample.texts, "copy": text},
        attributes=attributes,
    )


@corruption("duplicate query", "duplicate-query")
def duplicate(random: np.random.Generator, sample: Sample) -> Sample | None:
    """Plant one query twice, with the same judgments."""
    if not sample.texts:
        return None
    query_id = _chosen(random, list(sample.texts))
    return _with_copy(sample, query_id, sample.texts[query_id])


VARIANTS = ("case", "punctuation", "accents", "typo", "plural")
"""The perturbations of the behaviour checks that make another spelling of a text."""


@corruption("near-duplicate query", "near-duplicate-query")
def near_duplicate(random: np.random.Generator, sample: Sample) -> Sample | None:
    """Plant a query again in another spelling or with an article; a fifth of it is not judged."""
    usable = [
        (query_id, made)
        for query_id, text in sample.texts.items()
        if (made := _variant(random, text)) is not None
    ]
    if not usable:
        return None
    query_id, text = usable[int(random.integers(len(usable)))]
    planted = _with_copy(sample, query_id, text)
    judged = planted.judgments["copy"]
    for doc_id in list(judged)[2::5]:
        del judged[doc_id]
    return planted


def _variant(random: np.random.Generator, text: str) -> str | None:
    """Return a variant of a text, of a kind that is drawn; None if the text has none."""
    kind = int(random.integers(len(VARIANTS) + 1))
    if kind == len(VARIANTS):
        return f"the {text}" if text.isascii() and text[0].isalpha() else None
    made = [each for each in perturbations()[VARIANTS[kind]](text) if each != text]
    return str(made[0]) if made else None


# --- sizes ---------------------------------------------------------------------------------------


@corruption("too few queries", "few-queries")
def few(random: np.random.Generator, sample: Sample) -> Sample:
    """Plant a set of 5 to 29 queries."""
    query_ids = list(sample.judgments)
    return sample.of_queries(query_ids[: int(random.integers(5, 30))])


@corruption("one query with most judgments", "overjudged-query")
def overjudged(random: np.random.Generator, sample: Sample) -> Sample:
    """Plant a query with two thousand judgments among queries with ten or twenty."""
    query_ids = list(sample.judgments)
    judgments: Judgments = {
        query_id: dict(list(judged.items())[: int(random.integers(10, 21))])
        for query_id, judged in sample.judgments.items()
    }
    query_id, count = _chosen(random, query_ids), max(2000, len(sample.corpus))
    more = [*sample.corpus, *(f"more{number}" for number in range(count))][:2000]
    judgments[query_id] = {**dict.fromkeys(more, 0.0), **judgments[query_id]}
    return replace(sample, judgments=judgments, corpus=[*sample.corpus, *more])


@corruption("one document relevant everywhere", "relevant-everywhere")
def everywhere(random: np.random.Generator, sample: Sample) -> Sample:
    """Plant a document that is relevant to four of five queries."""
    page = sample.corpus[int(random.integers(len(sample.corpus)))]
    judgments = {
        query_id: {**judged, page: 1.0} if random.random() < 0.8 else judged
        for query_id, judged in sample.judgments.items()
    }
    return replace(sample, judgments=judgments)


# --- counting ------------------------------------------------------------------------------------


def _samples(names: Sequence[str], draws: int) -> Iterator[tuple[str, int, Sample]]:
    for name in names:
        for draw in range(draws):
            random = np.random.default_rng([draw, len(name)])
            yield name, draw, POPULATIONS[name](random, DATA)


def clean_counts(names: Sequence[str], draws: int) -> Mapping[str, Counter[str]]:
    """Return in how many clean samples of each population each rule finds something."""
    counts: dict[str, Counter[str]] = {name: Counter() for name in names}
    for name, _, sample in _samples(names, draws):
        counts[name].update({finding.rule for finding in sample.findings()})
    return counts


def found_rates(
    names: Sequence[str], draws: int, corruptions: Sequence[Corruption] = ()
) -> Mapping[str, tuple[Rate, Rate]]:
    """Return how often each corruption is found: with the corpus, and by the golden set alone."""
    chosen = corruptions or CORRUPTIONS
    hits = {each.name: [0, 0, 0] for each in chosen}
    for _, draw, sample in _samples(names, draws):
        for place, each in enumerate(chosen):
            planted = each.plant(np.random.default_rng([draw, place]), sample)
            if planted is None:
                continue
            count = hits[each.name]
            count[2] += 1
            for at, has_corpus in enumerate((True, False)):
                rules = {finding.rule for finding in planted.findings(has_corpus=has_corpus)}
                count[at] += not rules.isdisjoint(each.rules)
    return {
        name: (Rate(both, draws), Rate(alone, draws)) for name, (both, alone, draws) in hits.items()
    }
