"""The endpoint: ``POST /status/_search`` with ``{"query": "...", "size": 10}``, on loopback."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

from search.engine import Engine


@contextmanager
def serving(engine: Engine, token: str) -> Iterator[str]:
    """Serve until the block ends; yield the address."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # send each answer as one packet, to avoid a delay between two

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if self.headers["Authorization"] != f"Bearer {token}":
                self.send({"error": "who are you?"}, 401)
                return
            answer = engine.search(request["query"], request["size"])
            hits = [{"_id": doc_id, "_score": score} for doc_id, score in answer]
            self.send({"hits": {"total": len(hits), "hits": hits}}, 200)

        def send(self, content: object, status: int) -> None:
            raw = json.dumps(content).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

        def log_message(self, format: str, *args: object) -> None:
            """Log nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/status/_search"
    finally:
        server.shutdown()
        server.server_close()
