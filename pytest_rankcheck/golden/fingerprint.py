"""Fingerprints of queries (text, judgments, candidates) and of whole golden sets."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from json.encoder import encode_basestring_ascii

from pytest_rankcheck.golden.golden_contents import Contents
from pytest_rankcheck.golden.query import Query

_LENGTH = 16
"""Hexadecimal digits, 64 bits: with a million contents, a collision has odds of 1 to 37 million."""

_NOT_PLAIN = re.compile(r"[^#-\[\]-~]")
"""Characters that JSON escapes, or that sort before its quotation mark."""


def query_fingerprints(contents: Contents, weights: Sequence[float] | None) -> Mapping[str, str]:
    """Return the fingerprint of each query's id, text, judgments, candidates, weight, subtopics.

    It is the fingerprint of the JSON text ``[id, text, [[document, grade], ...], candidates,
    weight, subtopics]``, without the parts that the query does not have.
    """
    judgments, candidates, fingerprints = contents.judgments, contents.candidates, {}
    subtopics = defaultdict[str, list[str]](list)
    for key, judged in contents.by_subtopic or ():
        subtopics[key.rpartition("\t")[0]].append(json.dumps([key, judged], sort_keys=True))
    endings = {grade: f'", {float(grade)!r}]' for grade in judgments.distinct_grades}
    for place, (query_id, documents, grades) in enumerate(judgments.walk()):
        query = contents.queries.get(query_id)
        parts = [
            encode_basestring_ascii(query_id),
            json.dumps(query.text) if query and query.text else '""',
            _judgments_text(documents, [endings[grade] for grade in grades]),
        ]
        if candidates.rows(query_id):  # without their features, which belong to the world
            parts.append(json.dumps([(doc, "{}") for doc in sorted(candidates.rows(query_id))]))
        if weights is not None:
            parts.append(json.dumps({"weight": weights[place]}))
        parts += sorted(subtopics[query_id])
        fingerprints[query_id] = _digest(f"[{', '.join(parts)}]")
    return fingerprints


def _judgments_text(documents: Sequence[str], endings: Sequence[str]) -> str:
    """Return judgments, sorted by document, as ``json.dumps`` writes them.

    No document is repeated. An ending is the text after an id, from its quotation mark on.
    """
    if not documents:
        return "[]"
    if _NOT_PLAIN.search("".join(documents)):
        pairs = sorted(zip(documents, endings, strict=True))
        texts = (f"[{json.dumps(doc)[:-1]}{ending}" for doc, ending in pairs)
        return f"[{', '.join(texts)}]"
    # No character sorts before the quotation mark, so these sort as the documents do.
    return '[["' + ', ["'.join(sorted(map(str.__add__, documents, endings))) + "]"


def fingerprint_of(fingerprints: Iterable[str], scale: float | None = None) -> str:
    """Return the fingerprint of a golden set, from those of its queries and a scale to store."""
    of_scale = [] if scale is None else [f"scale {float(scale)!r}"]
    return _digest("\n".join([*sorted(fingerprints), *of_scale]))


def visible_fingerprint(fingerprint: str, queries: Iterable[Query], contents: Contents) -> str:
    """Return a fingerprint of everything that a ranker can see, including attributes and features.

    Args:
        fingerprint: the golden set's fingerprint.
        queries: its queries, in any order.
        contents: the contents of the golden set.
    """
    attributes = sorted((query.id, dict(query.attributes)) for query in queries)
    rows = contents.candidates
    features = [sorted(rows.cells(query_id)) for query_id, _ in attributes]
    return f"{fingerprint} {_digest(ascii((attributes, features)))}"


def _digest(text: str) -> str:
    import hashlib  # loads OpenSSL, so only when needed

    return hashlib.sha256(text.encode("ascii")).hexdigest()[:_LENGTH]
