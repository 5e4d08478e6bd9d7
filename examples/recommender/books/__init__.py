"""Recommendations of books."""
