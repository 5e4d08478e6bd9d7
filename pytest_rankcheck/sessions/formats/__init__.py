"""The file formats of session logs, one module each."""
