"""Adapters for the ways in which models are called, one module each."""
