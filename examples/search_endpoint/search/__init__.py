"""A search over HTTP status codes, behind an endpoint in the style of Elasticsearch."""
