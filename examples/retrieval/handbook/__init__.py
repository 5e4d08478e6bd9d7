"""Retrieval for questions about a handbook."""
