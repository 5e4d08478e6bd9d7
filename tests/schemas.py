"""The schemas of our JSON files, each read and checked once."""

import json
from functools import cache
from pathlib import Path

from jsonschema import Draft202012Validator

import pytest_rankcheck


@cache
def schema(path: str) -> Draft202012Validator:
    """Return what validates against a schema of the package."""
    found = json.loads((Path(pytest_rankcheck.__file__).parent / path).read_text("utf-8"))
    Draft202012Validator.check_schema(found)
    return Draft202012Validator(found)


def report_schema() -> Draft202012Validator:
    return schema("reports/report.schema.json")


def record_schema() -> Draft202012Validator:
    return schema("baselines/record.schema.json")
