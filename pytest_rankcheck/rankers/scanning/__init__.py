"""Scanning run files for an evaluation, in one pass and in blocks of whole queries."""
