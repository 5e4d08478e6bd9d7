"""Evaluating one part of a run, on any machine, to merge all parts later."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

import pytest_rankcheck
from pytest_rankcheck.argument_checks import check_whole_number, checked_arguments
from pytest_rankcheck.errors import ConfigurationError, RunError, listed, plural, quoted
from pytest_rankcheck.evaluation.conventions import Conventions, conventions_for, run_as_chosen
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.evaluation.ranked_run import RankedRun
from pytest_rankcheck.evaluation.run_golden_join import QueryHits, join, joined_parts
from pytest_rankcheck.evaluation.unfit_runs import refuse_unusable
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.rankers.ranked_columns import TOP
from pytest_rankcheck.rankers.ranking import ReadingOptions, id_map
from pytest_rankcheck.rankers.run import Run

if TYPE_CHECKING:
    from pytest_rankcheck.files.frame_tables import Frame


_MISSED = 20
"""A part with at least this many queries and no judged document is noted, if others have some."""


@dataclass(frozen=True, eq=False)
class EvaluationPart:
    """The judged hits of a part of a run: small, picklable, and the same on every machine.

    It holds no values, so every metric can be computed after `Evaluation.merge`. Make one with
    `evaluate_part`.
    """

    name: str
    """What messages call the part, such as its file."""
    origin: Mapping[str, Any]
    """What all parts of a run must have in common: the fingerprint and the scale of the golden set,
    the conventions, how ids were mapped, how many documents of each ranking count and are kept, and
    the version of this package."""
    hits: Mapping[str, QueryHits]
    """The hits of each judged query that the part ranks, and the top of its ranking."""
    extra: Sequence[str]
    """The queries without judgments that the part ranks."""
    notes: Sequence[str] = ()
    """What a reader must know about how the part was ranked and read, as sentences."""

    @property
    def query_ids(self) -> Sequence[str]:
        """The judged queries that the part ranks."""
        return tuple(self.hits)

    def __repr__(self) -> str:
        queries = plural(len(self.hits), "judged query", "judged queries")
        return f"EvaluationPart({self.name!r}, {queries})"

    @staticmethod
    def merged(
        parts: Sequence[EvaluationPart],
        golden: GoldenSet,
        expected: int | Sequence[str] | None,
        name: str | None,
    ) -> Evaluation:
        """Return the evaluation of all parts together. See `Evaluation.merge`."""
        _refuse_other_origins(parts, golden)
        _refuse_split_queries(parts)
        _refuse_missing(parts, golden, expected)
        origin = parts[0].origin
        hits = {query_id: found for part in parts for query_id, found in part.hits.items()}
        extra = tuple(dict.fromkeys(each for part in parts for each in part.extra))
        joined = joined_parts(hits, golden.columns, extra)
        ranked = RankedRun(
            name or (parts[0].name if len(parts) == 1 else f"run of {len(parts):,} parts"),
            origin["depth"],
            golden,
            origin["conventions"],
            joined,
            top=origin["top"],
            remarks=tuple(_remarks(parts, golden, is_checked=expected is not None)),
        )
        refuse_unusable(ranked.name, golden, joined, origin["conventions"])
        evaluation = Evaluation(ranked)
        evaluation.warn_of_misfits()
        return evaluation


@checked_arguments
def evaluate_part(
    source: str | PathLike[str] | Frame | Run,
    golden: GoldenSet,
    *,
    name: str | None = None,
    format: str | None = None,
    depth: int | None = None,
    top: int = TOP,
    conventions: Conventions | str | None = None,
    **reading: Unpack[ReadingOptions],
) -> EvaluationPart:
    """Evaluate one part of a run; `Evaluation.merge` merges the parts.

    A part must have all rows of its queries: partition runs by query.

    Args:
        source: a file, a folder or a pattern, as in `Run.load`; a pandas or polars DataFrame, or an
            Arrow table or RecordBatchReader, as in `Run.from_frame`; or a `Run`.
        golden: the whole golden set, the same for all parts.
        name: what messages call the part; without it, the path or the name of the run.
        format: the format of a file, as in `Run.load`.
        depth: how many documents of each ranking count; None: all.
        top: how many of the first documents of each ranking to keep, judged or not.
        conventions: as in `evaluate`; ``missing`` and ``extra`` are applied by the merge.
        **reading: ``columns``, ``ties``, ``duplicates`` and ``doc_id``, as
            in `Run.load`.

    Raises:
        RunError: the part cannot be read, a document is a duplicate, or scores are tied, as in
            `Run.load`.
        ConfigurationError: options for reading are given with a `Run`, which has been read
            already; or the conventions do not fit.
    """
    check_whole_number("top", top, 1, ConfigurationError)
    if golden.by_text:
        raise ConfigurationError("expected texts are not measured in parts; use evaluate()")
    if isinstance(source, Run):
        if format or reading or depth is not None:
            raise ConfigurationError(
                "the source is a Run, which has been read already: give format, columns, ties, "
                "duplicates, doc_id and depth when you read it"
            )
        run = source
    elif isinstance(source, (str, PathLike)):
        run = Run.scan(source, format, name=name or str(source), **reading)
    else:
        run = Run.from_frame(source, name=name or "part", **reading)
    run = run if depth is None else run.top(depth)
    to_id = id_map(reading.get("doc_id"))
    chosen = conventions_for(run, golden, conventions)
    joined = join(run_as_chosen(run, golden, chosen), golden, top)
    codes = np.flatnonzero(joined.is_ranked).tolist()
    return EvaluationPart(
        name or run.name,
        {
            "golden": golden.fingerprint,
            "scale": golden.scale,
            "conventions": chosen,
            "doc_id": to_id.name if to_id else "",
            "depth": run.depth,
            "top": top,
            "version": pytest_rankcheck.__version__,
        },
        {golden.query_ids[code]: joined.of_query(code) for code in codes},
        tuple(joined.extra),
        run.notes,
    )


def _refuse_other_origins(parts: Sequence[EvaluationPart], golden: GoldenSet) -> None:
    """Refuse parts with another golden set, other conventions or another version."""
    here = {"golden": golden.fingerprint, "scale": golden.scale}
    wanted = {**parts[0].origin, **here, "version": pytest_rankcheck.__version__}
    for part in parts:
        for name, common in wanted.items():
            own = part.origin[name]
            if own != common:
                raise RunError(
                    f"part '{quoted(part.name)}' was not evaluated as others, or as here: {name} "
                    f"is '{quoted(own)}', not '{quoted(common)}'; evaluate all parts with the same "
                    "golden set, options and version of pytest-rankcheck"
                )


def _refuse_split_queries(parts: Sequence[EvaluationPart]) -> None:
    """Refuse parts that share a query: each has only some of its rows, or one is a copy."""
    first_part = dict[str, int]()
    for number, part in enumerate(parts, 1):
        repeated = [query_id for query_id in part.hits if query_id in first_part]
        if repeated:
            query_id, first = repeated[0], first_part[repeated[0]]
            raise RunError(
                f"parts {first} ('{quoted(parts[first - 1].name)}') and {number} "
                f"('{quoted(part.name)}') share {plural(len(repeated), 'query', 'queries')}, such "
                f"as '{quoted(query_id)}': the run was cut within queries, a part was given twice, "
                "or these are parts of two runs. Partition by query, so that all rows of a query "
                "are in one part"
            )
        first_part.update(dict.fromkeys(part.hits, number))


def _refuse_missing(
    parts: Sequence[EvaluationPart], golden: GoldenSet, expected: int | Sequence[str] | None
) -> None:
    """Refuse the parts if some expected ones are missing, or if there are too many."""
    if isinstance(expected, int):
        if len(parts) != expected:
            raise RunError(
                f"{plural(expected, 'part was', 'parts were')} expected, but there are "
                f"{len(parts):,}: {listed([part.name for part in parts])}"
            )
        return
    known = {each for part in parts for each in (*part.hits, *part.extra)}
    lacking = [each for each in dict.fromkeys(expected or ()) if each not in known]
    if lacking:
        raise RunError(
            f"{plural(len(lacking), 'expected query is', 'expected queries are')} in no part: "
            f"{listed(lacking)}; {plural(len(parts), 'part was', 'parts were')} given. Evaluate "
            "the parts that are missing"
        )


def _remarks(
    parts: Sequence[EvaluationPart], golden: GoldenSet, *, is_checked: bool
) -> Iterator[str]:
    """Yield what a reader of the merged evaluation must know about its parts."""
    for part in parts:
        for sentence in part.notes:
            yield f"in part '{quoted(part.name, 200)}', {sentence}"
    hit = [sum(bool(found.ranks) for found in part.hits.values()) for part in parts]
    queries = [len(part.hits) for part in parts]
    for part, found, count in zip(parts, hit, queries, strict=True):
        of_others = sum(queries) - count
        if not found and count >= _MISSED and 2 * sum(hit) >= of_others > 0:
            yield (
                f"part '{quoted(part.name, 200)}' ranks {count:,} judged queries but no judged "
                "document, unlike the other parts: are its ids written in another way?"
            )
    missing = len(golden) - sum(queries)
    if not is_checked and missing:
        lacking = plural(missing, "judged query is", "judged queries are")
        yield (
            f"merged from {plural(len(parts), 'part')} without expected=, and {lacking} missing: "
            "if a part could be lost, give expected="
        )
