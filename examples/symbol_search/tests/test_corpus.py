"""The golden set and the corpus fit each other."""

from symbol_search.corpus import symbols


def test_every_judged_symbol_can_be_found(golden_set):
    names = {symbol.name for symbol in symbols()}
    judged = set(golden_set.judgments["doc_id"])
    assert judged <= names, f"not in the corpus: {sorted(judged - names)}"


def test_every_style_has_enough_queries_to_be_gated(golden_set):
    for style, query_ids in golden_set.slices("style").items():
        assert len(query_ids) >= 30, style
