"""Pytest's side: hooks, options, fixtures, and what a test session reports."""
