"""Look up judged documents in a corpus, under the same or another spelling of the id."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from pytest_rankcheck.document_ids import DocIdMap
from pytest_rankcheck.golden.corpus import Corpus
from pytest_rankcheck.golden.lint.id_spellings import loose_form

__all__ = ["CorpusMatch"]

_SHOWN = 3
"""How many ids of the corpus are kept for messages."""
_MOST = 0.5
"""If a corpus distinguishes documents by spelling, such as by the case of short ids, a missing id
often resembles another one by chance. Then at least this share of the missing ids must have another
spelling in the corpus to count as misspelt."""


def _are_several(spellings: set[str]) -> bool:
    """Whether the corpus has different documents under different spellings of an id."""
    return len(spellings) > 1


@dataclass(frozen=True)
class CorpusMatch:
    """The judged documents, looked up in a corpus."""

    name: str
    """What messages call the corpus."""
    size: int
    """How many ids it has, including duplicates."""
    examples: Sequence[str]
    """Its first ids."""
    judged: int
    """How many different documents are judged."""
    spellings: Mapping[str, str | None]
    """The judged documents that it lacks, each with its only other spelling in the corpus; None if
    there is no other spelling, or several documents with one."""
    expected: Mapping[str, str | None]
    """The same for unjudged documents in expectations; here the spelling is only a hint."""

    @classmethod
    def of(
        cls,
        corpus: Corpus,
        judged: Sequence[str],
        to_id: DocIdMap | None,
        expected: Iterable[str] = (),
    ) -> CorpusMatch:
        """Look up judged documents; the corpus is read once and not kept.

        Args:
            corpus: the corpus.
            judged: the ids of judged documents, possibly repeated.
            to_id: maps the ids of the corpus, as the ids of the judgments were mapped.
            expected: the ids of documents in expectations.
        """
        is_judged = dict.fromkeys(judged)
        wanted = {**is_judged, **dict.fromkeys(expected)}
        by_form = {doc_id: loose_form(doc_id) for doc_id in wanted}
        forms: dict[str, set[str]] = {form: set() for form in by_form.values()}
        found: set[str] = set()
        examples: list[str] = []
        size = 0
        for ids in corpus.batches():
            batch = ids if to_id is None else list(map(to_id, ids))
            size += len(batch)
            examples += batch[: _SHOWN - len(examples)]
            found |= wanted.keys() & batch
            for doc_id, form in zip(batch, map(loose_form, batch), strict=True):
                if form in forms and not _are_several(forms[form]):
                    forms[form].add(doc_id)
        lacking = {
            doc_id: next(iter(forms[form])) if len(forms[form]) == 1 else None
            for doc_id, form in by_form.items()
            if doc_id not in found
        }
        spellings = {doc_id: other for doc_id, other in lacking.items() if doc_id in is_judged}
        unknown = {doc_id: other for doc_id, other in lacking.items() if doc_id not in is_judged}
        others = sum(other is not None for other in spellings.values())
        if any(map(_are_several, forms.values())) and others < _MOST * len(spellings):
            spellings = dict.fromkeys(spellings)
        return cls(corpus.name, size, examples, len(is_judged), spellings, unknown)

    @cached_property
    def absent(self) -> Sequence[str]:
        """The judged documents that the corpus lacks under any spelling."""
        return [doc_id for doc_id, other in self.spellings.items() if other is None]

    @cached_property
    def misspelt(self) -> Mapping[str, str]:
        """The judged documents that the corpus has under one other spelling."""
        return {doc_id: other for doc_id, other in self.spellings.items() if other is not None}
