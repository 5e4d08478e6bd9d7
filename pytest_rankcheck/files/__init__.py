"""Files: opening them packed or not, reading text by lines, tables and JSON, writing whole."""
