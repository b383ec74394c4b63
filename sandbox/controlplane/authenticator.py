"""The token webhook of the control plane: an HTTPS server that answers TokenReviews by asking a function.

EKS authenticates the same way (aws-iam-authenticator behind kube-apiserver's token webhook), so the `k8s-aws-v1.`
tokens that our functions send are checked where AWS checks them, and no token has to be known in advance.
"""

import json
import ssl
import tempfile
import threading
from collections.abc import Callable, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Self

from sandbox.controlplane.pki import Certificate

# Who a token stands for: the user's name and groups, or None for nobody.
Verify = Callable[[str], tuple[str, Sequence[str]] | None]

_LONGEST_REVIEW = 1 << 20


class Authenticator:
    """Serves TokenReviews on a free local port while it is entered."""

    def __init__(self, verify: Verify, certificate: Certificate) -> None:
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.verify = verify
        # The handshake belongs into the connection's own thread: one slow caller must not hold up the others.
        self._server.socket = _serving_context(certificate).wrap_socket(
            self._server.socket, server_side=True, do_handshake_on_connect=False
        )
        self._thread = threading.Thread(target=self._server.serve_forever, name="authenticator", daemon=True)

    @property
    def url(self) -> str:
        """Where kube-apiserver posts its reviews."""
        return f"https://127.0.0.1:{self._server.server_address[1]}/authenticate"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def review(body: bytes, verify: Verify) -> dict[str, object]:
    """The answer to one TokenReview. A token that can't be checked is nobody's, with the reason beside it."""
    try:
        token = json.loads(body)["spec"]["token"]
        identity = verify(token)
    except Exception as error:  # noqa: BLE001 - whatever verify raises, the API server must get its answer
        return _answer({"authenticated": False, "error": f"{type(error).__name__}: {error}"})
    if identity is None:
        return _answer({"authenticated": False})
    user, groups = identity
    return _answer({"authenticated": True, "user": {"username": user, "uid": user, "groups": list(groups)}})


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    verify: Verify

    def handle_error(self, request: object, client_address: object) -> None:
        """A connection that ends early is the API server's affair and no news."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Headers and body leave in one packet; in two, delayed acknowledgement costs 40 ms.
    wbufsize = -1
    server: _Server

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length", "0"))
        if length > _LONGEST_REVIEW:
            self.close_connection = True
            self._send(413, b"{}")
            return
        self._send(200, json.dumps(review(self.rfile.read(length), self.server.verify)).encode())

    def log_message(self, *_: object) -> None:
        """Kept silent: tokens are secrets, and the API server logs what it refuses."""

    def _send(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _answer(status: dict[str, object]) -> dict[str, object]:
    return {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "status": status}


def _serving_context(certificate: Certificate) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    # The ssl module loads certificates from files only.
    with tempfile.TemporaryDirectory() as folder:
        chain = Path(folder) / "server.pem"
        chain.touch(mode=0o600)
        chain.write_bytes(certificate.key_pem + certificate.certificate_pem)
        context.load_cert_chain(chain)
    return context
