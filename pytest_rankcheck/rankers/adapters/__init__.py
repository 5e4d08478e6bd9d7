"""Adapters: each makes a run of a model that is asked in its own way, one module each."""
