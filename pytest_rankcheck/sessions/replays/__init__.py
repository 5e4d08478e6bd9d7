"""Replays: states of a log become judged queries, corrected for where people look."""
