"""Running all rules of the linter, or some."""

from __future__ import annotations

from collections.abc import Collection

from pytest_rankcheck.golden.golden_contents import Contents
from pytest_rankcheck.golden.lint import (
    column_rules,
    grade_rules,
    id_rules,
    judgment_rules,
    size_rules,
    text_rules,
)
from pytest_rankcheck.golden.lint.lint_finding import LintFinding
from pytest_rankcheck.golden.lint.lint_options import LintOptions, unknown_name
from pytest_rankcheck.golden.lint.lint_rule import Linted, Rule

__all__ = ["ALL_RULES", "findings_of"]

ALL_RULES: tuple[Rule, ...] = (
    *judgment_rules.RULES,
    *grade_rules.RULES,
    *column_rules.RULES,
    *text_rules.RULES,
    *id_rules.RULES,
    *size_rules.RULES,
)


def findings_of(
    contents: Contents, options: LintOptions, rules: Collection[str] | None = None
) -> list[LintFinding]:
    """Return the findings, errors first.

    Args:
        contents: the contents of the golden set.
        options: the options; their levels override the defaults of the rules.
        rules: the names of the rules to run; all by default.

    Raises:
        GoldenSetError: a rule is unknown.
    """
    names = [rule.name for rule in ALL_RULES]
    for name in rules or ():
        if name not in names:
            raise unknown_name(name, "not a rule of the linter", names)
    linted = Linted(contents, contents.complete_queries(), options)
    findings = []
    for rule in ALL_RULES:
        level = options.levels.get(rule.name, rule.level)
        if level == "ignore" or (rules is not None and rule.name not in rules):
            continue
        result = rule.look(linted)
        if result is not None:
            findings.append(LintFinding.of(result, rule.name, level))
    return sorted(findings, key=lambda finding: finding.level != "error")
