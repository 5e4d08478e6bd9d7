"""Reading run files for an evaluation: in one pass, in blocks of whole queries."""
