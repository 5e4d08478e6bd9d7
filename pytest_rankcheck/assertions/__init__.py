"""The assertions: each fails its test with a text that says what is wrong, where, what to do.

They raise AssertionError themselves instead of using ``assert``, so that they work and read the
same under ``python -O`` and ``pytest --assert=plain``.
"""
