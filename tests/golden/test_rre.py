"""The ratings of RRE."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_rankcheck import GoldenSet, GoldenSetError

RATINGS = {
    "index": "products",
    "corpora_file": "products.json",
    "id_field": "id",
    "topics": [
        {
            "description": "Shoes",
            "query_groups": [
                {
                    "name": "by colour",
                    "queries": [
                        {"template": "t.json", "placeholders": {"$query": "red shoes"}},
                        {"template": "t.json", "placeholders": {"$query": "shoes in red", "$n": 1}},
                    ],
                    "relevant_documents": {"d3": {"gain": 2}, "d7": {"gain": 3}},
                },
                {
                    "name": "by brand",
                    "queries": [{"placeholders": {"$brand": "acme", "$kind": "boots"}}],
                    "relevant_documents": {"1": ["d1", "d2"], "3": ["d4"]},
                },
            ],
        },
        {
            "description": "Hats",
            "query_groups": [
                {
                    "name": "hats",
                    "queries": [{"placeholders": {"$query": "red shoes"}}],
                    "relevant_documents": {"h": {"gain": 1}},
                }
            ],
        },
    ],
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "ratings.json"


@pytest.mark.parametrize("indent", [None, 1])
def test_groups_share_their_documents_and_become_attributes(file: Path, indent: int | None) -> None:
    file.write_text(json.dumps(RATINGS, indent=indent))
    golden = GoldenSet.load(file)
    assert golden.name == "ratings"
    assert {query.id: query.text for query in golden} == {
        "red shoes": "red shoes",
        "shoes in red": "shoes in red",
        "acme boots": "acme boots",
        "red shoes [hats]": "red shoes",
    }
    assert golden.grades("shoes in red") == golden.grades("red shoes") == {"d3": 2, "d7": 3}
    assert golden.grades("acme boots") == {"d1": 1, "d2": 1, "d4": 3}
    assert golden.grades("red shoes [hats]") == {"h": 1}
    assert golden.query("acme boots").attributes == {"topic": "Shoes", "query_group": "by brand"}
    assert golden.slices("query_group")["by colour"] == ["red shoes", "shoes in red"]


def test_queries_without_topics_and_groups(file: Path) -> None:
    flat = {
        "id_field": "id",
        "template": "template.json",
        "queries": [
            {"placeholders": {"$query": "star wars"}, "relevant_documents": {"2.0": ["11", "12"]}}
        ],
    }
    file.write_text(json.dumps(flat))
    golden = GoldenSet.load(file)
    assert golden.grades("star wars") == {"11": 2, "12": 2}
    assert golden.query("star wars").attributes == {}
    group = {"query_groups": [{"queries": flat["queries"]}]}
    file.write_text(json.dumps(group))
    assert GoldenSet.load(file).fingerprint == golden.fingerprint


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{}", 'no "topics", "query_groups" or "queries"'),
        ('{"topics": {}}', "topics: not a list"),
        ('{"topics": [{"query_groups": [{"queries": [{}]}]}]}',
         r'topics\[0\].query_groups\[0\].queries\[0\]: no "placeholders"'),
        ('{"queries": [{"placeholders": {"$query": ""}}]}', "the placeholders are empty"),
        ('{"queries": [{"placeholders": {"$q": "a"}, "relevant_documents": {"d": 3}}]}',
         r'queries\[0\].relevant_documents.d: 3 is neither {"gain": 2} nor a list'),
        ('{"queries": [{"placeholders": {"$q": "a"}, "relevant_documents": {"d": {}}}]}',
         r'relevant_documents.d: no "gain"'),
        ('{"queries": [{"placeholders": {"$q": "a"}, "relevant_documents": {"high": ["d"]}}]}',
         "the grade of document 'd' is 'high'"),
        ('{"topics": [', ":1: not JSON"),
    ],
)  # fmt: skip
def test_a_broken_document_is_reported(file: Path, text: str, message: str) -> None:
    file.write_text(text)
    with pytest.raises(GoldenSetError, match=message) as refused:
        GoldenSet.load(file, "rre")
    assert str(refused.value).startswith(str(file))
