"""The metrics, one module a family. Every module here is found and registered by itself."""
