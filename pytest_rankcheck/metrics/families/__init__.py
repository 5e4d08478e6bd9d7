"""The metrics, one module per family. Every module in this package is registered automatically."""
