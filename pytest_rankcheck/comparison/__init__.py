"""Comparison: two measurements held against each other, by query or as two samples."""
