"""The file formats of runs, one module each: a module with a ``FORMAT`` is registered."""
