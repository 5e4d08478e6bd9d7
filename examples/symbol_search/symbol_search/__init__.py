"""Search Everywhere over the Python standard library."""
