"""The assertions: each fails its test with a text that says what, where and what to do.

They raise AssertionError themselves instead of using ``assert``, so that they work and read the
same under ``python -O`` and ``pytest --assert=plain``.
"""
