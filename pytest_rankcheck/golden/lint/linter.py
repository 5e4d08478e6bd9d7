"""Running the rules: all of them, or some."""

from __future__ import annotations

from collections.abc import Collection

from pytest_rankcheck.golden.golden_contents import Contents
from pytest_rankcheck.golden.lint import id_rules, judgment_rules, size_rules, text_rules
from pytest_rankcheck.golden.lint.lint_finding import Finding
from pytest_rankcheck.golden.lint.lint_options import LintOptions
from pytest_rankcheck.golden.lint.lint_rule import Linted, Rule

__all__ = ["ALL_RULES", "findings_of"]

ALL_RULES: tuple[Rule, ...] = (
    *judgment_rules.RULES,
    *text_rules.RULES,
    *id_rules.RULES,
    *size_rules.RULES,
)


def findings_of(
    contents: Contents, options: LintOptions, rules: Collection[str] | None = None
) -> list[Finding]:
    """Return the findings, errors first.

    Args:
        contents: what the golden set holds.
        options: the options; a level among them counts instead of a rule's own.
        rules: the names of some rules; without them, all.
    """
    linted = Linted(contents, contents.complete_queries(), options)
    findings = []
    for rule in ALL_RULES:
        level = options.levels.get(rule.name, rule.level)
        if level == "ignore" or (rules is not None and rule.name not in rules):
            continue
        found = rule.look(linted)
        if found is not None:
            findings.append(Finding.of(found, rule.name, level))
    return sorted(findings, key=lambda finding: finding.level != "error")
