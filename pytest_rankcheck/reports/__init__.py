"""Reports: evaluations, comparisons and verdicts as text."""
