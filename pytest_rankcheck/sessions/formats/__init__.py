"""The file formats of session logs, a module each."""
