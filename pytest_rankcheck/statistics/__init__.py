"""Paired statistics: is a difference real, how sure is it, how small a one could be seen."""
