"""Ranking on an executor, and resuming: chunks of queries, lost chunks, kept answers."""
