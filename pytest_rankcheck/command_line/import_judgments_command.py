"""``python -m pytest_rankcheck import-judgments``: add a judged CSV to the golden set."""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path

from pytest_rankcheck.command_line.shared_inputs import BLOCKED, PASSED, Commands, ProjectInputs
from pytest_rankcheck.errors import GoldenSetError, plural, quoted
from pytest_rankcheck.files.delimited_tables import table_of
from pytest_rankcheck.golden.golden_files import GOLDEN_FORMATS
from pytest_rankcheck.golden.golden_set import GoldenSet


def add_import_judgments_command(commands: Commands) -> None:
    """Add the command ``import-judgments`` to the parser."""
    what = "add the grades of a CSV from pool or --rankcheck-unjudged to the golden set"
    command = commands.add_parser("import-judgments", help=what)
    command.add_argument("file", type=Path, help="the judged CSV")
    command.add_argument("--replace", action="store_true", help="replace grades that differ")
    ProjectInputs.add_options(command)
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
        _write(path, chosen.golden_format, golden, judged)
        print(f"{quoted(path)}: written; its baselines are stale now: pytest --snapshot-update")
    return PASSED


def _write(path: Path, format: str | None, golden: GoldenSet, judged: GoldenSet) -> None:
    """Write a golden set with more judgments to its file, completely or not at all."""
    kind = format or GOLDEN_FORMATS.detected(path).name
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
