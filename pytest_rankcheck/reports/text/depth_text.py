"""The texts about rankers whose top depends on the requested depth."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_rankcheck.behaviour.depth_consistency import DepthDifference, DepthPair, DepthResult
from pytest_rankcheck.errors import listed, plural
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.metrics.similarity.rank_biased_overlap import rbo
from pytest_rankcheck.reports.text.wording import number_text, query_in, ranker_on, ranking_lines

__all__ = ["depth_note", "depth_text"]

_QUERIES = 3
_TOP = 10


def depth_note(golden: GoldenSet, result: DepthResult) -> str:
    """Return in one line whether the top is the same at every depth."""
    subject = ranker_on(result.ranker, golden)
    if not result.broken:
        depths = sorted({depth for pair in result.pairs for depth in (pair.shallow, pair.deep)})
        shown = ", ".join(map(str, depths[:-1])) + f" and {depths[-1]}"
        return f"{subject} ranks the same documents at the top at the depths {shown}"
    worst = max(result.broken, key=lambda pair: len(pair.differences))
    of = plural(result.queries, "query", "queries")
    where = (
        f"{subject} has a different top {worst.shallow} when it is asked for {worst.deep} documents"
    )
    return f"{where}: {len(worst.differences):,} of {of}"


def depth_text(golden: GoldenSet, result: DepthResult) -> str:
    """Return which depths differ, for which queries, with both rankings and the means."""
    return "\n".join(_lines(golden, result))


def _lines(golden: GoldenSet, result: DepthResult) -> Iterator[str]:
    yield depth_note(golden, result)
    for pair in result.pairs:
        count = f"{len(pair.differences):,} of {plural(result.queries, 'query', 'queries')}"
        yield f"  top {pair.shallow} at depths {pair.shallow} and {pair.deep}: {count} differ"
    if result.means is not None:
        means = ", ".join(f"{number_text(mean)} at {at}" for at, mean in result.means.items())
        yield f"  {result.metric} by requested depth: {means}"
    yield from _cause_lines(result)
    worst = max(result.broken, key=lambda pair: len(pair.differences))
    differences = sorted(
        worst.differences, key=lambda difference: rbo(difference.shallow, difference.deep)
    )
    for difference in differences[:_QUERIES]:
        yield from _difference_lines(golden, worst, difference)
    hidden = [difference.query_id for difference in differences[_QUERIES:]]
    if hidden:
        yield f"    and {listed(hidden)}"


def _cause_lines(result: DepthResult) -> Iterator[str]:
    """Yield the cause of the difference, and what to do."""
    again = result.confirmation
    assert again is not None
    if result.is_random:
        yield (
            f"  asked again: different in {again.under:,} of {again.asked_under:,} requests at the "
            f"larger depth, and in {again.control:,} of {again.asked_control:,} at the smaller one:"
        )
        yield "  the depth is not the cause; see assert_deterministic"
        return
    yield (
        "  the depth decides how far the ranker searches: measure with the depth that production "
        "uses (rankcheck_depth),"
    )
    yield "  or search as far at every depth (ef of HNSW, nprobe of IVF, num_candidates)"


def _difference_lines(
    golden: GoldenSet, pair: DepthPair, difference: DepthDifference
) -> Iterator[str]:
    like = rbo(difference.shallow, difference.deep)
    yield f"    {query_in(golden, difference.query_id)}   RBO {number_text(like, 3)}"
    width = len(f"depth {pair.deep}")
    for depth, doc_ids in ((pair.shallow, difference.shallow), (pair.deep, difference.deep)):
        label = f"depth {depth}".ljust(width)
        yield from ranking_lines(golden, doc_ids, label, "      ", min(_TOP, pair.shallow))
