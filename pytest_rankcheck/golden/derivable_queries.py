"""Golden sets derived from others: subsets, samples, weighted, reworded and merged sets."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Self

from pytest_rankcheck.argument_checks import checked_arguments
from pytest_rankcheck.errors import GoldenSetError, listed, quoted, suggestion
from pytest_rankcheck.golden.golden_source import Contradictions
from pytest_rankcheck.golden.query import Query, label_of
from pytest_rankcheck.golden.sampled_queries import SampledQueries

if TYPE_CHECKING:
    from pytest_rankcheck.golden.expectation import Expectation
    from pytest_rankcheck.golden.golden_contents import Contents

__all__ = ["DerivableQueries"]


class DerivableQueries(SampledQueries):
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

        The draw depends only on the ids, not on the order of the queries or on versions.

        Raises:
            GoldenSetError: ``count`` is below 1 or above the number of queries.
        """
        if not 1 <= count <= len(self):
            raise GoldenSetError(
                f"cannot draw {count:,} queries from the {len(self):,} of golden set "
                f"'{quoted(self.name)}'"
            )
        from pytest_rankcheck.golden.golden_subsets import sampled_ids

        chosen = sampled_ids(self.query_ids, count, seed)
        return self._part(set(chosen), name)

    def _restricted(self, query_ids: Iterable[str]) -> Contents:
        """Return the contents for these queries, to be changed."""
        from pytest_rankcheck.golden.golden_subsets import restricted

        return restricted(self._contents, query_ids)

    def _part(self, query_ids: Collection[str], name: str | None) -> Self:
        """Return some queries as a golden set with the scale of this one."""
        part = self._restricted(query_ids)
        part.scale = self.scale if self.scale > 0 else None
        return type(self)(part, name or self.name)

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
        whole = self._restricted(self._contents.grades)
        whole.weight_by = by
        weighted = type(self)(whole, self.name)
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
        whole = self._restricted(self._contents.grades)
        whole.cluster_by = by
        clustered = type(self)(whole, self.name)
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
        contents = self._restricted(self.query_ids)
        for expectation in expectations:
            contents.add_expectation(expectation, f"golden set '{quoted(self.name)}'")
        return type(self)(contents, name or self.name)

    def ordered(self, query_ids: Iterable[str]) -> Self:
        """Return these queries as a golden set, in this order.

        Raises:
            GoldenSetError: a query is unknown, or no queries are given.
        """
        chosen = tuple(dict.fromkeys(query_ids))
        from pytest_rankcheck.golden.golden_subsets import in_query_order

        return type(self)(in_query_order(self.subset(chosen)._contents, chosen), self.name)

    def reworded(self, texts: Mapping[str, str | Query]) -> Self:
        """Return the queries of ``texts`` with new texts and unchanged judgments.

        Args:
            texts: by query id, the new text; or a `Query` with the new text and attributes.

        Raises:
            GoldenSetError: a query is unknown, or no queries are given.
        """
        from pytest_rankcheck.golden.golden_subsets import reworded

        return type(self)(reworded(self.subset(texts)._contents, texts), self.name)

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
        from pytest_rankcheck.golden.golden_subsets import merged

        return type(self)(merged(parts, contradictions), name or self.name)
