"""Statistics of paired differences: tests, intervals, bounds and power."""
