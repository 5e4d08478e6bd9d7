"""Bodies of Elasticsearch's _rank_eval, and judgment lists of OpenSearch."""

import json
from pathlib import Path

import pytest

from pytest_rankcheck import GoldenSet, GoldenSetError


def rating(doc_id: object, grade: object) -> dict[str, object]:
    return {"_index": "my-index", "_id": doc_id, "rating": grade}


# As in the manual of Elasticsearch ("Ranking evaluation").
BODY = {
    "requests": [
        {
            "id": "amsterdam_query",
            "request": {"query": {"match": {"text": "amsterdam"}}},
            "ratings": [rating("doc1", 0), rating("doc2", 3), rating("doc3", 1)],
        },
        {
            "id": "berlin_query",
            "request": {"query": {"multi_match": {"query": "berlin", "fields": ["title", "body"]}}},
            "ratings": [rating("doc1", 1)],
        },
        {
            "id": "templated",
            "template_id": "match_one_field_query",
            "params": {"query_string": "paris", "field": "text"},
            "ratings": [rating("doc4", 1)],
        },
        {
            "id": "vectors",
            "request": {"knn": {"field": "title_vector", "query_vector": [0.5], "k": 5}},
            "ratings": [rating("doc5", 2)],
        },
        {
            "id": "both",
            "request": {
                "query": {"bool": {
                    "must": {"match_phrase": {"title": {"query": "rome", "analyzer": "english"}}},
                    "filter": [{"match": {"kind": "city"}}, {"term": {"lang": "en"}}],
                }},
                "knn": {"field": "v", "query_vector_builder": {"text_embedding": {
                    "model_id": "e5", "model_text": "rome",
                }}},
            },
            "ratings": [rating("doc6", None), rating("doc7", 1)],
        },
        {
            "id": "two_texts",
            "request": {"query": {"bool": {"should": [
                {"match": {"title": "a"}}, {"match": {"body": "b"}},
            ]}}},
            "ratings": [],
        },
    ],
    "metric": {"precision": {"k": 20, "relevant_rating_threshold": 1}},
}  # fmt: skip

LIST = {
    "name": "Q1 judgments",
    "type": "IMPORT_JUDGMENT",
    "judgmentRatings": [
        {
            "query": "red dress",
            "ratings": [
                {"docId": "B077ZJXCTS", "rating": "3.000"},
                {"docId": "B071S6LTJJ", "rating": "0.5"},
                {"docId": "B000000000", "rating": None},
            ],
        },
        {"query": "blue jeans", "ratings": []},
    ],
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "eval.json"


@pytest.mark.parametrize("indent", [None, 2])
def test_a_rank_eval_body(file: Path, indent: int | None) -> None:
    file.write_text(json.dumps(BODY, indent=indent))
    golden = GoldenSet.load(file)
    assert golden.grades("amsterdam_query") == {"doc1": 0, "doc2": 3, "doc3": 1}
    assert golden.grades("both") == {"doc7": 1}
    texts = ["amsterdam", "berlin", "paris", None, "rome", None]
    assert [query.text for query in golden] == texts
    assert golden.grades("two_texts") == {}


@pytest.mark.parametrize("indent", [None, 2])
def test_a_judgment_list_has_ratings_as_text(file: Path, indent: int | None) -> None:
    file.write_text(json.dumps(LIST, indent=indent))
    golden = GoldenSet.load(file)
    assert golden.grades("red dress") == {"B077ZJXCTS": 3, "B071S6LTJJ": 0.5}
    assert golden.query("red dress").text == "red dress"
    assert golden.grades("blue jeans") == {}


@pytest.mark.parametrize(
    ("format", "text", "message"),
    [
        ("elasticsearch", "{}", 'no "requests"'),
        ("elasticsearch", '{"requests": [{"ratings": []}]}', r'requests\[0\]: no "id"'),
        ("elasticsearch", '{"requests": [{"id": "q"}]}', r'requests\[0\]: no "ratings"'),
        ("elasticsearch", '{"requests": [{"id": "q", "ratings": [{"_id": "d"}]}]}',
         r'requests\[0\].ratings\[0\]: no "rating"'),
        ("elasticsearch", '{"requests": [{"id": "q", "ratings": [{"_id": "d", "rating": "x"}]}]}',
         r"ratings\[0\]: the grade of document 'd' is 'x'"),
        ("elasticsearch", json.dumps(
            {"requests": [{"id": "q", "ratings": [rating("d", 1), rating("d", 2)]}]}
        ), r"requests\[0\]: document 'd' of query 'q' is judged twice"),
        ("elasticsearch", '[1, 2]', "not an object"),
        ("opensearch", '{"judgmentRatings": [{"query": 5}]}', r"judgmentRatings\[0\].query: not a text"),
        ("opensearch", '{"judgmentRatings": [{"query": "q", "ratings": [{"docId": "d"}]}]}',
         r'judgmentRatings\[0\].ratings\[0\]: no "rating"'),
    ],
)  # fmt: skip
def test_a_broken_document_is_reported(file: Path, format: str, text: str, message: str) -> None:
    file.write_text(text)
    with pytest.raises(GoldenSetError, match=message) as refused:
        GoldenSet.load(file, format)
    assert str(refused.value).startswith(str(file))


def test_the_index_is_not_part_of_the_id(file: Path) -> None:
    ratings = [{"_index": index, "_id": "d", "rating": 1} for index in ("a", "b")]
    file.write_text(json.dumps({"requests": [{"id": "q", "ratings": ratings}]}))
    assert GoldenSet.load(file).grades("q") == {"d": 1}
