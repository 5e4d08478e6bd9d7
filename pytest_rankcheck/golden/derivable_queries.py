"""Golden sets derived from others: subsets, samples, weighted, reworded and merged sets."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from pytest_rankcheck.argument_checks import checked_arguments
from pytest_rankcheck.errors import GoldenSetError, listed, quoted, suggestion
from pytest_rankcheck.golden.golden_source import Contradictions, Places, Source
from pytest_rankcheck.golden.judged_queries import JudgedQueries
from pytest_rankcheck.golden.query import Query, label_of

if TYPE_CHECKING:
    from pytest_rankcheck.golden.expectation import Expectation


class DerivableQueries(JudgedQueries):
    """Judged queries from which other golden sets are derived. The original does not change."""

    @checked_arguments
    def subset(
        self, query_ids: Iterable[str] | None = None, *, name: str | None = None, **attributes: Any
    ) -> Self:
        """Return the queries with these ids and these attributes, as a golden set.

        Args:
            query_ids: the ids; without them, all.
            name: what messages and records call the part; without it, the name of the whole.
            attributes: values of attributes, as slices show them: ``locale="de"``.

        Raises:
            GoldenSetError: a query or an attribute is unknown, or no query is left.
        """
        chosen = set(self.query_ids if query_ids is None else query_ids)
        unknown = sorted(chosen.difference(self._queries))
        if unknown:
            raise GoldenSetError(
                f"golden set '{quoted(self.name)}' has no query {listed(unknown)}"
                f"{suggestion(unknown[0], self._queries)}"
            )
        why = "the list of ids is empty"
        if chosen:
            conditions = ", ".join(f"{key}={quoted(value)}" for key, value in attributes.items())
            why = f"none{'' if query_ids is None else ' of these ids'} has {conditions}"
        for attribute, value in attributes.items():
            chosen &= set(self.slices(attribute).get(label_of(value), ()))
        if not chosen:
            raise GoldenSetError(f"no query of golden set '{quoted(self.name)}' is chosen: {why}")
        return self._part(chosen, name)

    @checked_arguments
    def sample(self, count: int, seed: int = 0, *, name: str | None = None) -> Self:
        """Return ``count`` random queries as a golden set; the same ones for the same ``seed``.

        The draw depends only on the hashes of the ids, not on the order of the queries or on
        versions, so a set that grows keeps most of its sample.

        Raises:
            GoldenSetError: ``count`` is below 1 or above the number of queries.
        """
        if not 1 <= count <= len(self):
            raise GoldenSetError(
                f"cannot draw {count:,} queries from the {len(self):,} of golden set "
                f"'{quoted(self.name)}'"
            )
        import hashlib  # loads OpenSSL, so only when needed

        def drawn(query_id: str) -> bytes:
            return hashlib.sha256(f"{seed} {query_id}".encode("utf-8", "surrogatepass")).digest()

        return self._part(set(sorted(self.query_ids, key=drawn)[:count]), name)

    def _part(self, query_ids: Collection[str], name: str | None) -> Self:
        """Return some queries, in this set's order, as a golden set with its scale."""
        part = self._contents.of_queries([each for each in self.query_ids if each in query_ids])
        scale = self.scale if self.scale > 0 else None
        return type(self)(replace(part, scale=scale), name or self.name)

    def for_ranker(self, query_ids: Sequence[str]) -> Self:
        """Return some queries with only what a ranker can see, to send to a worker.

        The time is linear in these queries, not in the whole set. The names of attributes and
        features that none of them has are kept; titles, expectations and places in files are not.
        Unpickling the result needs no library that the files were read with.

        Args:
            query_ids: some of the queries, each once, in the order of the result.
        """
        from pytest_rankcheck.files.id_columns import HeldIds

        part = replace(self._contents, repeats=()).of_queries(query_ids)
        contents = replace(
            part,
            judgments=replace(
                part.judgments, documents=HeldIds(part.judgments.documents.texts()), lines=None
            ),
            source=Source(),
            places=Places(),
            candidates=part.candidates.compact(),
            titles={},
            expectations={},
            corpus=None,
            scale=self.scale if self.scale > 0 else None,
            known_attributes=tuple(self.attributes),
        )
        return type(self)(contents, self.name)

    @checked_arguments
    def weighted(self, by: str) -> Self:
        """Return the set with queries weighted by an attribute, such as how often each is asked.

        All means are weighted then.

        Args:
            by: the attribute; each query needs a number above 0.

        Raises:
            GoldenSetError: a query has no such number.
        """
        self.check_no_feature(by)
        weighted = type(self)(replace(self._contents, weight_by=by), self.name)
        _ = weighted.weights  # raises now if a weight is invalid
        return weighted

    @checked_arguments
    def clustered(self, by: str) -> Self:
        """Return the set with queries grouped into independent units, such as sessions or users.

        Queries of one unit are not independent; intervals and tests take that into account.

        Args:
            by: the attribute whose values are the independent units.

        Raises:
            GoldenSetError: a query lacks the attribute.
        """
        self.check_no_feature(by)
        clustered = type(self)(replace(self._contents, cluster_by=by), self.name)
        _ = clustered.clusters  # raises now if a query belongs to no unit
        return clustered

    def expecting(self, *expectations: Expectation, name: str | None = None) -> Self:
        """Return the set with more expectations of its queries.

        Args:
            expectations: the expectations to add.
            name: what messages and records call the result; without it, the name of this one.

        Raises:
            GoldenSetError: a query is unknown, or no ranking can meet all its expectations.
        """
        from pytest_rankcheck.golden.expectation import add_expectation

        known = self._contents.expectations
        every = {query_id: list(of_query) for query_id, of_query in known.items()}
        for expectation in expectations:
            add_expectation(every, expectation, self.query_ids, f"golden set '{quoted(self.name)}'")
        return type(self)(replace(self._contents, expectations=every), name or self.name)

    def ordered(self, query_ids: Iterable[str]) -> Self:
        """Return these queries as a golden set, in this order.

        Raises:
            GoldenSetError: a query is unknown, or no queries are given.
        """
        chosen = tuple(dict.fromkeys(query_ids))
        return type(self)(self.subset(chosen)._contents.of_queries(chosen), self.name)

    def reworded(self, texts: Mapping[str, str | Query]) -> Self:
        """Return the queries of ``texts`` with new texts and unchanged judgments.

        Args:
            texts: by query id, the new text; or a `Query` with the new text and attributes.

        Raises:
            GoldenSetError: a query is unknown, or no queries are given.
        """
        part = self.subset(texts)
        queries = {
            query_id: replace(part.query(query_id), text=new)
            if isinstance(new, str)
            else replace(new, id=query_id)
            for query_id, new in texts.items()
        }
        return type(self)(replace(part._contents, queries=queries), self.name)

    @checked_arguments
    def merge(
        self, *others: Self, contradictions: Contradictions = "error", name: str | None = None
    ) -> Self:
        """Return this set and others as one; a query in several sets gets the judgments of all.

        Args:
            others: the other sets.
            contradictions: which grade counts if two sets judge a document differently.
            name: what messages and records call the result; without it, the name of this one.

        Raises:
            GoldenSetError: a query has two texts, or a document two grades.
        """
        parts = [golden._contents for golden in (self, *others)]
        from pytest_rankcheck.golden.merged_sets import merged

        return type(self)(merged(parts, contradictions), name or self.name)
