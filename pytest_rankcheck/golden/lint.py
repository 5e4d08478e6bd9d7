"""The linter: what in a golden set would mislead a gate."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pytest_rankcheck.errors import listed, plural
from pytest_rankcheck.golden.query import Query

__all__ = ["Finding", "lint"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that the linter found, with all the queries it concerns."""

    rule: str
    query_ids: tuple[str, ...]
    message: str

    def __str__(self) -> str:
        return f"{self.rule}: {self.message}"


def lint(queries: Iterable[Query], grades: Mapping[str, Mapping[str, float]]) -> list[Finding]:
    """Return the findings on these queries and their judgments.

    Rules: ``no-judgment`` (a query without any judgment), ``no-relevant`` (a query that has
    judgments but no grade above 0). Both score 0 whatever the ranker does.
    """
    ids = [query.id for query in queries]
    unjudged = tuple(query_id for query_id in ids if not grades[query_id])
    hopeless = tuple(
        query_id for query_id in ids if grades[query_id] and max(grades[query_id].values()) <= 0
    )
    findings = []
    if unjudged:
        findings.append(
            Finding(
                "no-judgment",
                unjudged,
                f"{plural(len(unjudged), 'query', 'queries')} without a judgment: "
                f"{listed(unjudged)}. They score 0 whatever the ranker does; judge or drop them",
            )
        )
    if hopeless:
        findings.append(
            Finding(
                "no-relevant",
                hopeless,
                f"{plural(len(hopeless), 'query', 'queries')} without a relevant document: "
                f"{listed(hopeless)}. They score 0 whatever the ranker does; find a relevant "
                "document, drop them, or evaluate with no_relevant='exclude'",
            )
        )
    return findings
