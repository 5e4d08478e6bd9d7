"""The linter of golden sets, which applies all rules or some."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

from pytest_rankcheck.golden.judged_queries import JudgedQueries
from pytest_rankcheck.golden.lint import corpus_rules, judgment_rules, text_rules
from pytest_rankcheck.golden.lint.lint_rule import (
    Linted,
    LintFinding,
    LintOptions,
    Rule,
    unknown_name,
)

if TYPE_CHECKING:
    from pytest_rankcheck.golden.documents import CorpusSource


_MODULES = (judgment_rules, text_rules, corpus_rules)
"""The modules of the rules, in the order in which rules are listed."""


def all_rules() -> Sequence[Rule]:
    """Return all rules of the linter."""
    values = chain.from_iterable(vars(module).values() for module in _MODULES)
    return [value for value in values if isinstance(value, Rule)]


def findings_of(
    golden: JudgedQueries,
    options: LintOptions,
    rules: Collection[str] | None = None,
    *,
    documents: CorpusSource | None = None,
) -> list[LintFinding]:
    """Return the findings of all rules, or of the named ones, errors first.

    The levels in the options override those of the rules. Without ``documents``, those of the
    golden set are used, if it has any.
    """
    contents, ranked = golden.contents, golden.catalogue
    if documents is not None:
        from pytest_rankcheck.golden.documents import Documents

        ranked = Documents(documents, contents.source.columns)
    linted = Linted(contents, contents.complete_queries(), options, ranked)
    known = {rule.name: rule for rule in all_rules()}
    for name in rules or ():
        if name not in known:
            raise unknown_name(name, "not a rule of the linter", list(known))
    findings = []
    for rule in known.values():
        is_chosen = rules is None or rule.name in rules
        level = options.levels.get(rule.name, rule.level) if is_chosen else "ignore"
        if level != "ignore" and (found := rule.look(linted)) is not None:
            places = found.places or linted.places_of(found.query_ids)
            findings.append(replace(found, places=places, rule=rule.name, level=level))
    return sorted(findings, key=lambda finding: finding.level != "error")
