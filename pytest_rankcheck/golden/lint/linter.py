"""The linter of golden sets: all its rules are applied, or some."""

from __future__ import annotations

import importlib
from collections.abc import Collection, Sequence
from functools import cache
from typing import TYPE_CHECKING

from pytest_rankcheck.golden.lint.lint_options import LintOptions, unknown_name
from pytest_rankcheck.golden.lint.lint_rule import Linted, LintFinding, Rule
from pytest_rankcheck.golden.sampled_queries import SampledQueries

if TYPE_CHECKING:
    from pytest_rankcheck.golden.corpus import Corpus, CorpusSource
    from pytest_rankcheck.golden.golden_contents import Contents
    from pytest_rankcheck.golden.lint.ranked_judgments import RankedQueries

__all__ = ["all_rules", "findings_of", "unchecked_in"]

_MODULES = (
    *("judgment_rules", "grade_rules", "column_rules"),
    *("text_rules", "id_rules", "corpus_rules", "balance_rules", "size_rules"),
    *("run_rules", "slice_rules", "judge_rules", "expectation_rules"),
)
"""The modules of the rules, in the order in which rules are listed."""
_FIRST = ("judgment_rules", "id_rules")
"""Where rules are looked for first: those that every test session applies."""

_OF_JUDGED_GRADES = (
    *("negative-grade", "no-relevant", "only-relevant", "one-grade", "ceiling"),
    *("expectation-against-grades", "expectation-without-gain"),
)
"""The lint rules that do not apply to estimates of relevance, which are often negative."""


def all_rules() -> Sequence[Rule[Linted]]:
    """Return all rules of the linter."""
    return [rule for module in _MODULES for rule in _rules_of(module)]


@cache
def _rules_of(module: str) -> tuple[Rule[Linted], ...]:
    """Return the rules of a module, in its order; it is imported on first use."""
    values = vars(importlib.import_module(f"{__package__}.{module}")).values()
    return tuple(value for value in values if isinstance(value, Rule))


def _rules_named(names: Collection[str]) -> Sequence[Rule[Linted]]:
    """Return some rules, in the order of the list; only the modules that have them are imported."""
    missing, modules = set(names), []
    for module in sorted(_MODULES, key=lambda module: module not in _FIRST):
        if missing:
            modules.append(module)
            missing -= {rule.name for rule in _rules_of(module)}
    for name in names:
        if name in missing:
            known = [rule.name for rule in all_rules()]
            raise unknown_name(name, "not a rule of the linter", known)
    found = (rule for module in sorted(modules, key=_MODULES.index) for rule in _rules_of(module))
    return [rule for rule in found if rule.name in names]


def findings_of(
    golden: SampledQueries,
    options: LintOptions,
    rules: Collection[str] | None = None,
    *,
    run: RankedQueries | None = None,
    corpus: CorpusSource | None = None,
) -> list[LintFinding]:
    """Return what the named rules, or all, find in a golden set, errors first.

    The levels in the options override those of the rules. Without ``corpus``, the corpus in the
    golden set's folder is used, if there is one.
    """
    contents = golden._contents
    documents = _corpus(contents, corpus)
    chosen = all_rules() if rules is None else _rules_named(rules)
    pointless = _OF_JUDGED_GRADES if golden.has_estimates else ()
    linted = Linted(contents, contents.complete_queries(), options, documents, run)
    findings = []
    for rule in chosen:
        level = options.levels.get(rule.name, rule.level)
        if level == "ignore" or rule.name in pointless:
            continue
        result = rule.look(linted)
        if result is not None:
            about, places = result.query_ids, result.places or linted.places_of(result.query_ids)
            words = result.what, result.why, result.remedy
            findings.append(LintFinding(about, *words, places, rule.name, level))
    return sorted(findings, key=lambda finding: finding.level != "error")


def _corpus(contents: Contents, given: CorpusSource | None) -> Corpus | None:
    """Return the corpus that is given, or else that of the golden set's folder, if it has one."""
    columns = None if given is None else contents.source.columns
    source = contents.corpus if given is None else given
    if source is None:
        return None
    from pytest_rankcheck.golden.corpus import Corpus

    return Corpus.of(source, columns)


def unchecked_in(
    golden: SampledQueries,
    options: LintOptions,
    *,
    run: RankedQueries | None = None,
    corpus: CorpusSource | None = None,
) -> str:
    """Return which rules `findings_of` could not apply, and why; empty if it applied all."""
    from pytest_rankcheck.golden.lint.run_rules import unchecked_rules

    has_corpus = corpus is not None or golden._contents.corpus is not None
    return unchecked_rules(run, golden.query_ids, options.levels, has_corpus=has_corpus)
