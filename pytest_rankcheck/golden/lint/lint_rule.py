"""Rules of the linter: their options, the golden set as they see it, and their findings."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, filterfalse
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from pytest_rankcheck.argument_checks import check_whole_number, is_number
from pytest_rankcheck.array_types import BoolArray, IntArray
from pytest_rankcheck.errors import GoldenSetError, listed, plural, quoted, suggestion
from pytest_rankcheck.files.plain_values import checked_number
from pytest_rankcheck.golden.expected_text import is_unit
from pytest_rankcheck.golden.golden_contents import Contents
from pytest_rankcheck.golden.query import Query

if TYPE_CHECKING:
    from pytest_rankcheck.document_ids import DocIdMap
    from pytest_rankcheck.golden.documents import Documents


_SHOWN_PLACES = 3
_EXAMPLES = 3
"""How many ids of the catalogue are kept for messages."""
_DECIMALS = re.compile(r"(?<=\d)\.0+$")

Level = Literal["error", "warning", "ignore"]


@dataclass(frozen=True, slots=True)
class LintOptions:
    """The options of the linter: the scale of grades, the fewest queries, the levels of rules."""

    scale: tuple[float, float] | None = None
    """The lowest and the highest valid grade."""
    min_queries: int = 30
    """The fewest queries that a gate needs."""
    levels: Mapping[str, Level] = field(default_factory=dict)
    """Rules with a level other than their default."""
    no_relevant: str = "zero"
    """The convention for queries without a relevant document."""

    def __post_init__(self) -> None:
        check_whole_number("min_queries", self.min_queries, 1, GoldenSetError)
        bounds: Any = () if self.scale is None else self.scale
        is_pair = isinstance(bounds, (tuple, list)) and len(bounds) in (0, 2)
        if not is_pair or not all(map(is_number, bounds)) or list(bounds) != sorted(bounds):
            raise GoldenSetError(
                f"scale={quoted(bounds, 60)} is invalid; give the lowest and the highest grade: "
                "scale=0..3, or (0, 3) in Python"
            )

    @classmethod
    def parse(cls, lines: Iterable[str], rules: Iterable[str]) -> LintOptions:
        """Parse options from lines such as ``scale=0..3`` and ``no-relevant=ignore``.

        Args:
            lines: one option or one rule each.
            rules: the names of all rules.
        """
        rule_names = list(rules)
        values: dict[str, Any] = {}
        levels: dict[str, Level] = {}
        for line in lines:
            name, _, text = (part.strip() for part in line.partition("="))
            if name == "scale":
                values[name] = tuple(map(_number, text.split("..")))
            elif name == "min_queries":
                values[name] = _number(text)
            elif name in rule_names:
                if text not in get_args(Level):
                    raise GoldenSetError(
                        f"'{quoted(line)}': the level of a rule is error, warning or ignore"
                    )
                levels[name] = text  # type: ignore[assignment]
            else:
                problem = "neither an option nor a rule of the linter"
                raise unknown_name(name, problem, ["scale", "min_queries", *rule_names])
        return cls(**values, levels=levels)


def unknown_name(name: str, problem: str, known: Sequence[str]) -> GoldenSetError:
    """Return the error that a name is unknown, with a suggestion or all known names."""
    hint = suggestion(str(name), known) or f"; known: {', '.join(known)}"
    return GoldenSetError(f"'{quoted(name)}' is {problem}{hint}")


def _number(text: str) -> float | str:
    number = checked_number(text)
    return text if number is None else number


@dataclass(frozen=True, slots=True)
class LintFinding:
    """A finding of the linter: what is wrong, where, why it matters, and what to do."""

    query_ids: tuple[str, ...]
    """The queries concerned; empty if the problem concerns the whole set."""
    what: str
    why: str
    remedy: str
    places: tuple[str, ...] = ()
    """The places, as ``file:line``, as far as known."""
    rule: str = ""
    level: Level = "warning"
    """``"error"`` fails ``--rankcheck-lint``, ``"warning"`` is shown."""

    @property
    def message(self) -> str:
        """The whole finding on one line."""
        where = f" ({listed(self.places, _SHOWN_PLACES)})" if self.places else ""
        return f"{self.what}. {self.why}; {self.remedy}{where}"

    def __str__(self) -> str:
        return f"{self.level} {self.rule}: {self.message}"


@dataclass(frozen=True)
class CorpusMatch:
    """The judged and expected documents, looked up in the catalogue."""

    name: str
    """What messages call the catalogue."""
    size: int
    """How many ids it has, including duplicates."""
    examples: Sequence[str]
    """Its first ids."""
    sought: int
    """How many different documents are judged or expected."""
    absent: Sequence[str]
    """Those that it lacks under any spelling."""
    misspelt: Mapping[str, str]
    """Those that it has under one other spelling."""

    @classmethod
    def of(cls, corpus: Documents, doc_ids: Iterable[str], to_id: DocIdMap | None) -> CorpusMatch:
        """Look up documents; the catalogue is read once and not kept.

        Args:
            corpus: its ids.
            doc_ids: the ids of documents, possibly repeated.
            to_id: maps the ids of the catalogue, as the ids of the judgments were mapped.
        """
        form_of = {doc_id: _loose_form(doc_id) for doc_id in doc_ids}
        spellings: dict[str, set[str]] = {form: set() for form in form_of.values()}
        found: set[str] = set()
        examples: list[str] = []
        size = 0
        for ids, _ in corpus.rows(whole=False):
            batch = ids if to_id is None else list(map(to_id, ids))
            size += len(batch)
            examples += batch[: _EXAMPLES - len(examples)]
            found |= form_of.keys() & batch
            for doc_id, form in zip(batch, map(_loose_form, batch), strict=True):
                if form in spellings and len(spellings[form]) < 2:
                    spellings[form].add(doc_id)
        missing = {each: spellings[form_of[each]] for each in form_of if each not in found}
        misspelt = {doc_id: min(ids) for doc_id, ids in missing.items() if len(ids) == 1}
        absent = [doc_id for doc_id in missing if doc_id not in misspelt]
        return cls(corpus.name, size, examples, len(form_of), absent, misspelt)

    def lacks(self, count: int) -> str:
        """Return in words that the catalogue lacks this many of the documents."""
        verb, what = (
            "is" if count == 1 else "are",
            plural(self.sought, "judged or expected document"),
        )
        return f"{count:,} of {what} {verb} not in {self.name}"


def _loose_form(doc_id: str) -> str:
    """Return an id without the features that spreadsheets and tools change."""
    if doc_id.isascii() and doc_id.isalnum():
        if doc_id.isdigit():
            return doc_id.lstrip("0") or "0"
        return doc_id.lower()
    plain = unicodedata.normalize("NFKC", doc_id).casefold()
    plain = _DECIMALS.sub("", "".join(plain.split()))
    if plain.isdecimal():
        return plain.lstrip("0") or "0"
    return plain


@dataclass(frozen=True)
class Linted:
    """A golden set as the rules see it."""

    contents: Contents
    queries: Mapping[str, Query]
    options: LintOptions
    corpus: Documents | None = None
    """The documents that are ranked, if known; read once, by `corpus_match`."""

    @cached_property
    def corpus_match(self) -> CorpusMatch | None:
        """The judged and expected documents looked up in the catalogue; None without one."""
        if self.corpus is None:
            return None
        expectations = chain.from_iterable(self.contents.expectations.values())
        expected = (doc for each in expectations for doc in (*each.documents, *each.others))
        judged = filterfalse(is_unit, self.contents.judgments.documents.texts())
        return CorpusMatch.of(self.corpus, chain(judged, expected), self.contents.doc_id)

    def queries_where(self, is_meant: BoolArray) -> tuple[str, ...]:
        """Return the ids of some queries, by their places in the set."""
        query_ids = self.contents.judgments.query_ids
        return tuple(query_ids[code] for code in np.flatnonzero(is_meant).tolist())

    def queries_at(self, rows: IntArray) -> tuple[str, ...]:
        """Return the queries of judgments, each once."""
        rows_at = self.contents.judgments.rows_at(rows)
        return tuple(dict.fromkeys(query_id for query_id, _, _ in rows_at))

    def places_of(self, query_ids: Iterable[str]) -> tuple[str, ...]:
        """Return the places of queries, as far as known."""
        return tuple(filter(None, map(self.contents.query_place, query_ids)))

    def places_at(self, rows: IntArray) -> tuple[str, ...]:
        """Return the places of judgments, as far as known."""
        return tuple(filter(None, map(self.contents.place_at, rows.tolist())))


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule: its name, its default level, and its check, which returns a bare result."""

    name: str
    level: Level
    look: Callable[[Linted], LintFinding | None]

    @property
    def summary(self) -> str:
        """What the rule looks for, on one line."""
        return (self.look.__doc__ or "").strip().partition("\n")[0]


def rule(level: Level) -> Callable[[Callable[[Linted], LintFinding | None]], Rule]:
    """Turn a function into a rule, which gets the function's name with hyphens."""
    return lambda look: Rule(look.__name__.replace("_", "-"), level, look)


def counted_queries(query_ids: Sequence[str]) -> str:
    """Return the number of queries and the first of their ids."""
    return f"{plural(len(query_ids), 'query', 'queries')} ({listed(query_ids)})"
