"""Files: opening plain or packed files, reading lines, tables and JSON, atomic writing."""
