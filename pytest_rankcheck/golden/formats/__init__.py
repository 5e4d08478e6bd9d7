"""The file formats of golden sets, one module each: a module with a ``FORMAT`` is registered."""
