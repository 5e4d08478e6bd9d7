"""Metrics: pure functions over judged hits, their registry and their names. numpy in, numpy out."""
