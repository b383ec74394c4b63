import base64
import socket
import ssl
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.x509.oid import NameOID

from sandbox.controlplane.pki import Authority, Certificate, signing_key

NOW = datetime.now(UTC)  # noqa: TID251 - OpenSSL compares with the real clock


@pytest.fixture(scope="module")
def authority() -> Authority:
    return Authority("test authority", NOW)


def load(certificate: Certificate) -> x509.Certificate:
    return x509.load_pem_x509_certificate(certificate.certificate_pem)


def handshake(folder: Path, serving: Certificate, client: ssl.SSLContext, host: str) -> str | None:
    """Connect to a TLS server with this certificate; its subject as the client read it, or an SSLError."""
    pair = folder / "pair.pem"
    pair.write_bytes(serving.key_pem + serving.certificate_pem)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pair)
    ours, theirs = socket.socketpair()

    def serve() -> None:
        try:
            with context.wrap_socket(theirs, server_side=True) as server:
                server.recv(1)
        except OSError:
            theirs.close()

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        with client.wrap_socket(ours, server_hostname=host) as connected:
            return connected.version()
    finally:
        ours.close()
        thread.join()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "kubernetes.default.svc"])
def test_a_serving_certificate_is_trusted_under_each_of_its_names(
    authority: Authority, tmp_path: Path, host: str
) -> None:
    serving = authority.serving(["127.0.0.1", "localhost", "kubernetes.default.svc"])
    trusting = ssl.create_default_context(cadata=authority.ca_pem.decode())
    # What Python 3.13 does by default.
    trusting.verify_flags |= ssl.VERIFY_X509_STRICT

    assert handshake(tmp_path, serving, trusting, host) == "TLSv1.3"


def test_a_serving_certificate_is_refused_under_another_name(authority: Authority, tmp_path: Path) -> None:
    trusting = ssl.create_default_context(cadata=authority.ca_pem.decode())

    with pytest.raises(ssl.SSLCertVerificationError, match=r"not valid for 'example.test'"):
        handshake(tmp_path, authority.serving(["localhost"]), trusting, "example.test")


def test_another_authority_s_certificate_is_refused(authority: Authority, tmp_path: Path) -> None:
    trusting = ssl.create_default_context(cadata=Authority("somebody else", NOW).ca_pem.decode())

    with pytest.raises(ssl.SSLCertVerificationError):
        handshake(tmp_path, authority.serving(["localhost"]), trusting, "localhost")


def test_a_client_certificate_says_user_and_groups_as_kubernetes_reads_them(authority: Authority) -> None:
    subject = load(authority.client("admin", ["system:masters", "others"])).subject

    assert [name.value for name in subject.get_attributes_for_oid(NameOID.COMMON_NAME)] == ["admin"]
    groups = [name.value for name in subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)]
    assert groups == ["system:masters", "others"]


def test_certificates_are_valid_from_a_little_before_they_are_made(authority: Authority) -> None:
    certificate = load(authority.serving(["localhost"]))

    assert certificate.not_valid_before_utc < NOW < certificate.not_valid_after_utc
    assert certificate.not_valid_after_utc - certificate.not_valid_before_utc > timedelta(days=1)


def test_the_ca_bundle_is_what_a_webhook_configuration_holds(authority: Authority) -> None:
    assert base64.b64decode(authority.ca_bundle) == authority.ca_pem
    assert (
        x509.load_pem_x509_certificate(authority.ca_pem)
        .extensions.get_extension_for_class(x509.BasicConstraints)
        .value.ca
    )


def test_the_signing_key_s_halves_belong_together() -> None:
    key = signing_key()

    private = serialization.load_pem_private_key(key.private_pem, None)
    public = serialization.load_pem_public_key(key.public_pem)
    assert private.public_key() == public
