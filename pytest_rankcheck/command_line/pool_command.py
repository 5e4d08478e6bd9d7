"""``python -m pytest_rankcheck pool``: the unjudged documents that several systems rank at the top.

Judging is expensive, so the documents that tell the systems apart come first: those that one ranks
high and another low or not at all.
"""

from __future__ import annotations

import argparse
import math
import shlex
from collections.abc import Iterator, Sequence
from itertools import chain, combinations
from pathlib import Path

from pytest_rankcheck.command_line.shared_inputs import PASSED, Commands, ProjectInputs
from pytest_rankcheck.errors import ConfigurationError, plural, quoted
from pytest_rankcheck.files.delimited_tables import table_text
from pytest_rankcheck.files.whole_files import write_whole
from pytest_rankcheck.golden.documents import Documents
from pytest_rankcheck.golden.formats.to_judge_csv import COLUMNS, shown
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.rankers.ranking import first_ranks
from pytest_rankcheck.rankers.run import Run

_Pooled = tuple[float, str, str, Sequence[int | None]]
"""The negated value of judging a document; its query, its id, and its rank in each run."""


def add_pool_command(commands: Commands) -> None:
    """Add the command ``pool`` to the parser."""
    what = "list the unjudged documents at the top of runs, those on which they differ most first"
    pool = commands.add_parser("pool", help=what)
    pool.add_argument("runs", type=Path, nargs="+", metavar="RUN", help="the run of a system")
    pool.add_argument("--out", type=Path, required=True, metavar="PATH", help="the CSV to write")
    texts = "show texts: a table with the columns doc_id, title and text, or a BEIR folder"
    pool.add_argument("--documents", type=Path, metavar="PATH", help=texts)
    pool.add_argument("--weight-by", metavar="ATTRIBUTE", help="the weight of each query")
    ProjectInputs.add_options(pool)
    pool.set_defaults(run=_pool)


def _pool(chosen: argparse.Namespace) -> int:
    project, out = ProjectInputs.of(chosen), chosen.out
    golden = project.golden_set(chosen.golden)
    inputs = project.inputs.of_golden(golden.name)
    golden = golden.weighted(chosen.weight_by) if chosen.weight_by else golden
    if out.exists():
        raise ConfigurationError(f"{quoted(out)} exists; give --out another name, or delete it")
    depth = (chosen.depth and project.depth) or inputs.config.unjudged_depth
    runs = {str(path): inputs.read_run(path).top(depth) for path in chosen.runs}
    pooled = sorted(_pooled([*runs.values()], golden))
    queries = plural(len({query_id for _, query_id, *_ in pooled}), "query", "queries")
    print(f"{plural(len(pooled), 'unjudged document')} of {queries} in the top {depth}")
    for place, name in enumerate(runs):
        print(f"  {quoted(name)}: {sum(ranks[place] is not None for *_, ranks in pooled):,}")
    if pooled:
        wanted, path = [doc_id for _, _, doc_id, _ in pooled], chosen.documents
        documents = Documents(path, rule=inputs.doc_id) if path else golden.catalogue
        texts = documents.values("text", wanted) if documents else []
        text_of = dict(zip(wanted, texts, strict=False))
        rows = []
        for value, query_id, doc_id, ranks in pooled:
            known = (documents.title(doc_id) if documents else None, text_of.get(doc_id))
            title, text = (" ".join(str(each or "").split()) for each in known)
            start = map(shown, (query_id, golden.query(query_id).text or "", doc_id, title))
            best = (min(filter(None, ranks)), f"nDCG@{depth}", f"{-value:.6f}")
            rows.append((*start, "", *best, shown(text), *ranks))
        columns = [*COLUMNS, "text", *(shown(f"rank in {name}") for name in runs)]
        write_whole(out, table_text(columns, rows, ConfigurationError))
        given = [("--golden", chosen.golden), ("--golden-format", chosen.golden_format)]
        given += [("--grades", code) for code in chosen.grades]
        given += [("--columns", column) for column in chosen.columns]
        words = [word for flag, value in given if value for word in (flag, str(value))]
        command = shlex.join(["import-judgments", str(out), *words])
        print(f"fill in the column relevance; then:\n  python -m pytest_rankcheck {command}")
    return PASSED


def _pooled(runs: Sequence[Run], golden: GoldenSet) -> Iterator[_Pooled]:
    weights = golden.weights or [1.0] * len(golden)
    for query_id, weight in zip(golden.query_ids, weights, strict=True):
        tops = [first_ranks(run.get(query_id)) for run in runs]
        for doc_id in dict.fromkeys(chain(*tops)):
            if doc_id not in golden.grades(query_id):
                ranks = [top.get(doc_id) for top in tops]
                yield -weight * _difference(ranks), query_id, doc_id, ranks


def _difference(ranks: Sequence[int | None]) -> float:
    """Return how much the discounts differ, over all pairs of runs; for one run, its discount."""
    discounts = [1 / math.log2(1 + rank) if rank else 0.0 for rank in ranks]
    pairs = combinations(discounts, 2) if len(discounts) > 1 else [(discounts[0], 0.0)]
    return math.fsum(abs(one - other) for one, other in pairs)
