"""``python -m pytest_rankcheck pool`` and ``import-judgments``: judge what systems differ in.

``pool`` lists the unjudged documents that several systems rank at the top. Judging is expensive, so
the documents that tell the systems apart come first: those that one ranks high and another low or
not at all. ``import-judgments`` adds the grades to the golden set.
"""

from __future__ import annotations

import argparse
import math
import shlex
import sys
from collections.abc import Iterator, Sequence
from itertools import chain, combinations
from pathlib import Path

from pytest_rankcheck.command_line.shared_inputs import (
    BLOCKED,
    PASSED,
    Commands,
    ProjectInputs,
    add_project_options,
)
from pytest_rankcheck.errors import ConfigurationError, GoldenSetError, plural, quoted
from pytest_rankcheck.files.delimited_tables import table_of, table_text
from pytest_rankcheck.files.whole_files import write_whole
from pytest_rankcheck.golden.formats.to_judge_csv import COLUMNS, shown
from pytest_rankcheck.golden.golden_files import GOLDEN_FORMATS
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
    add_project_options(pool)
    pool.set_defaults(run=_pool)


def _pool(chosen: argparse.Namespace) -> int:
    project, out = ProjectInputs.of(chosen), chosen.out
    golden = project.golden_set(chosen.golden)
    inputs = project.inputs.of_golden(golden.name)
    if out.exists():
        raise ConfigurationError(f"{quoted(out)} exists; give --out another name, or delete it")
    depth = inputs.config.unjudged_depth
    runs = {str(path): inputs.read_run(path).top(depth) for path in chosen.runs}
    pooled = sorted(_pooled([*runs.values()], golden))
    queries = plural(len({query_id for _, query_id, *_ in pooled}), "query", "queries")
    print(f"{plural(len(pooled), 'unjudged document')} of {queries} in the top {depth}")
    for place, name in enumerate(runs):
        print(f"  {quoted(name)}: {sum(ranks[place] is not None for *_, ranks in pooled):,}")
    if pooled:
        wanted, documents = [doc_id for _, _, doc_id, _ in pooled], golden.catalogue
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
        given = [("--golden", chosen.golden), *(("-o", each) for each in chosen.o)]
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


def add_import_judgments_command(commands: Commands) -> None:
    """Add the command ``import-judgments`` to the parser."""
    what = "add the grades of a CSV from pool or --rankcheck-unjudged to the golden set"
    command = commands.add_parser("import-judgments", help=what)
    command.add_argument("file", type=Path, help="the judged CSV")
    command.add_argument("--replace", action="store_true", help="replace grades that differ")
    add_project_options(command)
    command.set_defaults(run=_import)


def _import(chosen: argparse.Namespace) -> int:
    project, file = ProjectInputs.of(chosen), chosen.file
    golden, judged = project.golden_set(chosen.golden), GoldenSet.load(file, "to_judge")
    added, conflicts = 0, []
    for row, (query_id, doc_id, grade) in enumerate(judged.columns.rows_at()):
        where = f"{quoted(file, 300)}:{judged.columns.line(row)}: query '{quoted(query_id)}'"
        text = judged.query(query_id).text
        if query_id not in golden or text not in {None, golden.query(query_id).text}:
            raise GoldenSetError(f"{where} is not in the golden set, or has another text")
        if grade > golden.scale > 0:
            problem = f"the grade {grade:g} is above the scale, {golden.scale:g} (rankcheck_scale)"
            raise GoldenSetError(f"{where}: {problem}")
        before = golden.grades(query_id).get(doc_id)
        added += before is None
        if before not in {None, grade}:
            conflicts.append(f"{where}, document '{quoted(doc_id)}': {before:g} -> {grade:g}")
    if conflicts and not chosen.replace:
        print("judged already, with another grade:", *conflicts, sep="\n  ")
        command = shlex.join(["python", "-m", "pytest_rankcheck", *sys.argv[1:], "--replace"])
        print(f"nothing was written; to replace these grades, and add the others:\n  {command}")
        return BLOCKED
    rows = plural(sum(1 for _ in table_of(file, GoldenSetError).rows), "row")
    same = judged.judgment_count - added - len(conflicts)
    print(f"{rows}: {added:,} to add, {len(conflicts):,} to replace, {same:,} known already")
    if added or conflicts:
        path = chosen.golden or project.inputs.config.golden[0]
        _write(path, golden, judged)
        print(f"{quoted(path)}: written; its baselines are stale now: pytest --snapshot-update")
    return PASSED


def _write(path: Path, golden: GoldenSet, judged: GoldenSet) -> None:
    """Write a golden set with more judgments to its file, completely or not at all."""
    kind = GOLDEN_FORMATS.detected(path).name
    if kind not in {"jsonl", "trec", "csv", "tsv", "parquet"}:
        load = f"GoldenSet.load({str(path)!r}, {kind!r}).save({str(path.with_suffix('.jsonl'))!r})"
        code = shlex.quote(f"from pytest_rankcheck import GoldenSet; {load}")
        problem = f"{kind} cannot be written; convert it, and use the new file: python -c {code}"
        raise GoldenSetError(f"{quoted(path)}: {problem}")
    raw = GoldenSet.load(path, kind)
    if raw.contents.candidates or dict(raw.columns) != dict(golden.columns):
        problem = "it has candidates, or rankcheck_grades or rankcheck_doc_id maps it"
        raise GoldenSetError(f"{quoted(path)}: {problem}; add the judgments by hand")
    new = GoldenSet.from_dict({query_id: judged.grades(query_id) for query_id in judged.query_ids})
    raw.merge(new, contradictions="last").save(path, kind)
