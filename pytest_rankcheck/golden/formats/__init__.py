"""The file formats of golden sets, one module each: a module with a ``FORMAT`` is registered.

A malformed file raises GoldenSetError, with a message that names the line or the place.
"""
