"""docs/api.md lists every public name, explains it, and is in step with the code."""

import inspect
import runpy
from pathlib import Path
from typing import Any

from manual_tables import anchors_of

import pytest_rankcheck

DOCS = Path(__file__).parent.parent / "docs"
SCRIPT: dict[str, Any] = runpy.run_path(str(DOCS / "api_reference.py"))


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
        public = getattr(pytest_rankcheck, kind)
        fields = {field for base in public.__mro__ for field in inspect.get_annotations(base)}
        for name in names.split():
            assert hasattr(public, name) or name in fields, f"{kind}.{name}"
    for kind, names in SCRIPT["ONLY"].items():
        members = SCRIPT["members_of"](getattr(pytest_rankcheck, kind))
        assert {member.name for member in members} == set(names.split())


def test_the_manual_has_the_sections_that_explain_the_groups() -> None:
    for group in SCRIPT["GROUPS"]:
        name, _, anchor = group.explained.partition("#")
        assert not anchor or anchor in anchors_of(DOCS / (name or "api.md")), group.explained
