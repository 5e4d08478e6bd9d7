"""Similarities of two rankings of one query, without judgments: pure functions over ids."""
