"""Findings as plain text: failure texts, the summary of a test session, notes."""
