"""Comparison: two measurements compared with each other, by query or as two samples."""
