"""docs/api.md lists every public name, explains it, and is in step with the code."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import Any

import pytest

import pytest_rankcheck

DOCS = Path(__file__).parent.parent / "docs"
SCRIPT: dict[str, Any] = runpy.run_path(str(DOCS / "api_reference.py"))
BEFORE = [
    "Finding",
    "Perturbed",
    "batch",
    "embedder",
    "http",
    "model",
    "read_record",
    "scorer",
    "transformer",
    "assert_abandonment_rate_at_most",
    "assert_abandonment_rate_not_regressed",
    "assert_mean_event_rank_at_most",
    "assert_mean_event_rank_not_regressed",
    "assert_session_duration_at_most",
    "assert_session_duration_not_regressed",
]
"""Names that are no longer public."""


def page() -> str:
    return (DOCS / "api.md").read_text("utf-8")


def test_the_reference_is_in_step_with_the_code() -> None:
    assert page() == SCRIPT["page"](), "run python docs/api_reference.py"


def test_every_public_name_is_listed_once() -> None:
    listed = [name for group in SCRIPT["GROUPS"] for name in group.names.split()]
    assert sorted(listed) == sorted(SCRIPT["objects"]())


def test_every_listed_class_and_member_is_described() -> None:
    for name, value in SCRIPT["objects"]().items():
        assert name == "__version__" or SCRIPT["first_line"](value.__doc__), name
        if isinstance(value, type):
            for member in SCRIPT["members_of"](value):
                is_field = "(" not in member.shown
                assert is_field or member.text, f"{name}{member.shown}"


def test_returned_types_are_public_or_explained() -> None:
    assert SCRIPT["types_in_signatures"]() == set(SCRIPT["TYPES"])


def test_members_that_the_script_names_exist() -> None:
    for kind, names in SCRIPT["INTERNAL"].items():
        for name in names.split():
            assert hasattr(getattr(pytest_rankcheck, kind), name) or name in {
                field
                for base in getattr(pytest_rankcheck, kind).__mro__
                for field in getattr(base, "__annotations__", {})
            }, f"{kind}.{name}"

    for kind, names in SCRIPT["ONLY"].items():
        members = SCRIPT["members_of"](getattr(pytest_rankcheck, kind))
        assert {member.name for member in members} == set(names.split())


@pytest.mark.parametrize("group", SCRIPT["GROUPS"], ids=lambda group: group.title)
def test_the_manual_has_the_section_that_explains_a_group(group: Any) -> None:
    name, _, anchor = group.explained.partition("#")
    text = (DOCS / name if name else DOCS / "api.md").read_text("utf-8")
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    slugs = {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}
    assert not anchor or anchor in slugs, f"{group.explained}: {sorted(slugs)}"


@pytest.mark.parametrize("name", BEFORE)
def test_a_name_that_is_no_longer_public_has_a_replacement(name: str) -> None:
    assert name not in pytest_rankcheck.__all__
    with pytest.raises(AttributeError):
        getattr(pytest_rankcheck, name)
    rows = page().partition("## Renamed or removed")[2].splitlines()
    before = [row.split(" | ")[0] for row in rows]
    assert any(re.search(rf"`{name}\b", cell) for cell in before), name
