"""A log of searches over the Python standard library, and rankers that are replayed on it."""
