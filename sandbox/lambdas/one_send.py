"""A threaded HTTP/1.1 server whose every response leaves in one send.

Headers and body in two writes cost the caller 40 ms: its kernel holds back the acknowledgement of the first, ours
holds back the second until it comes.
"""

import contextlib
import logging
import socket
import ssl
import sys
import threading
from collections.abc import Mapping
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

_log = logging.getLogger(__name__)

# How long closing takes at most; a server looks as often whether it should.
_CLOSING_SECONDS = 0.1


class OneSendServer(ThreadingHTTPServer):
    """A thread per connection; `close` ends the open ones too, however long a client would keep them."""

    daemon_threads = True
    request_queue_size = 1024

    def __init__(
        self, host: str, port: int, handler: type["OneSendHandler"], tls: ssl.SSLContext | None = None
    ) -> None:
        super().__init__((host, port), handler)
        self._tls = tls
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        serve = partial(self.serve_forever, poll_interval=_CLOSING_SECONDS)
        self._thread = threading.Thread(target=serve, name=f"http-{self.server_port}", daemon=True)

    def start(self) -> None:
        """Serve on a thread of its own."""
        self._thread.start()

    def close(self) -> None:
        """Stop accepting, end every connection, free the port."""
        self.shutdown()
        self._thread.join()
        with self._lock:
            remaining = list(self._open)
        for connection in remaining:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        self.server_close()

    def get_request(self) -> tuple[socket.socket, Any]:
        """Accept a connection and remember it."""
        connection, address = super().get_request()
        if self._tls is not None:
            # The handshake belongs to the connection's thread, or one slow client would hold up the rest.
            connection = self._tls.wrap_socket(connection, server_side=True, do_handshake_on_connect=False)
        with self._lock:
            self._open.add(connection)
        return connection, address

    def shutdown_request(self, request: Any) -> None:
        """Forget a connection that ends."""
        with self._lock:
            self._open.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ARG002 - the base class's signature
        """A client that went away is no news."""
        if not isinstance(sys.exc_info()[1], OSError):
            _log.exception("while answering %s", client_address)


class OneSendHandler(BaseHTTPRequestHandler):
    """Collects a response and sends it at once."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = 1 << 16

    def reply(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        """Send one whole response."""
        self.send_response_only(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()

    def read_body(self) -> bytes:
        """The request's body as its Content-Length says."""
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's signature
        """Say nothing: a function's log tells what it was called with."""
