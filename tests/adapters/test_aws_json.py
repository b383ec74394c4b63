import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from botocore.exceptions import ClientError, NoCredentialsError

from nodewright.adapters import aws_clients, aws_json
from nodewright.adapters.aws_errors import outside
from nodewright.adapters.dynamodb.cluster_items import write_cluster
from nodewright.adapters.dynamodb.connected import ConnectedReader
from nodewright.application.errors import NotFoundError, OutsideError, RefusedError, UnavailableError
from sandbox.aws.server import SandboxAws
from tests.adapters.builders import cluster
from tests.adapters.tables import TABLE, make_table

FAR = "https://sqs.eu-west-1.amazonaws.com/123456789012/provision.fifo"


class Scripted(BaseHTTPRequestHandler):
    """Answers each call with the next of `answers`, and keeps what it was asked."""

    answers: list[tuple[int, str]]
    asked: list[dict[str, str]]

    def do_POST(self) -> None:
        self.asked.append({name.lower(): value for name, value in self.headers.items()})
        self.rfile.read(int(self.headers["Content-Length"]))
        status, body = self.answers.pop(0)
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_: object) -> None:
        return


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        monkeypatch.setenv(name, f"value-of-{name}")


@pytest.fixture
def service(keys: None) -> Iterator[tuple[aws_json.JsonService, type[Scripted]]]:  # noqa: ARG001  they must be there
    script = type("Script", (Scripted,), {"answers": [], "asked": []})
    server = ThreadingHTTPServer(("127.0.0.1", 0), script)
    thread = threading.Thread(target=server.serve_forever, args=[0.01])
    thread.start()
    yield aws_json.dynamodb("eu-west-1", f"http://127.0.0.1:{server.server_port}"), script
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_call_is_signed_with_the_keys_of_the_functions_role(
    service: tuple[aws_json.JsonService, type[Scripted]],
) -> None:
    bare, script = service
    script.answers.append((200, '{"Item": {}}'))
    assert bare.call("GetItem", {"TableName": "t"}) == {"Item": {}}
    (asked,) = script.asked
    assert "Credential=value-of-AWS_ACCESS_KEY_ID/" in asked["authorization"]
    assert "/eu-west-1/dynamodb/aws4_request" in asked["authorization"]
    assert asked["x-amz-security-token"] == "value-of-AWS_SESSION_TOKEN"
    assert asked["x-amz-target"] == "DynamoDB_20120810.GetItem"


@pytest.mark.parametrize(
    ("status", "body", "word"),
    [
        (400, '{"__type": "com.amazonaws.sqs#QueueDoesNotExist", "message": "gone"}', NotFoundError),
        (400, '{"__type": "com.amazon.coral.availability#ThrottlingException"}', UnavailableError),
        (400, '{"__type": "AccessDeniedException", "Message": "not yours"}', RefusedError),
        (500, '{"__type": "com.amazonaws.dynamodb.v20120810#InternalServerError"}', UnavailableError),
        (503, "<html>busy</html>", UnavailableError),
        (403, "[]", RefusedError),
    ],
)
def test_a_refusal_becomes_the_applications_word(
    service: tuple[aws_json.JsonService, type[Scripted]], status: int, body: str, word: type[OutsideError]
) -> None:
    bare, script = service
    script.answers.append((status, body))
    with pytest.raises(word, match="reading"), outside("reading"):
        bare.call("GetItem", {})


def test_a_refusal_keeps_the_services_words(service: tuple[aws_json.JsonService, type[Scripted]]) -> None:
    bare, script = service
    script.answers.append((400, '{"__type": "com.amazonaws.sqs#QueueDoesNotExist", "message": "no such queue"}'))
    with pytest.raises(ClientError, match=r"\(QueueDoesNotExist\) when calling the SendMessage .* no such queue"):
        bare.call("SendMessage", {})


@pytest.mark.usefixtures("keys")
def test_an_endpoint_that_does_not_answer_is_unavailable() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        service = aws_json.sqs("eu-west-1", f"http://127.0.0.1:{free.getsockname()[1]}")
        with pytest.raises(UnavailableError), outside("hinting"):
            service.call("SendMessage", {})


def test_without_keys_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID", raising=False)
    with pytest.raises(NoCredentialsError):
        aws_json.sqs("eu-west-1", "https://sqs.eu-west-1.amazonaws.com")


@pytest.mark.parametrize(
    ("queue", "endpoint"),
    [
        (FAR, "https://dynamodb.eu-west-1.amazonaws.com"),
        ("https://sqs.cn-north-1.amazonaws.com.cn/1/q", "https://dynamodb.cn-north-1.amazonaws.com.cn"),
        ("https://sqs.eusc-de-east-1.amazonaws.eu/1/q", "https://dynamodb.eusc-de-east-1.amazonaws.eu"),
    ],
)
def test_a_queues_url_tells_where_other_services_are(queue: str, endpoint: str) -> None:
    assert aws_json.endpoint_beside(queue, "dynamodb") == endpoint


@pytest.mark.parametrize("region", ["eu-west-1", "us-gov-west-1", "cn-north-1", "eusc-de-east-1"])
def test_that_is_where_the_sdk_finds_them_too(aws: str, region: str) -> None:  # noqa: ARG001  keys and no endpoint
    queue = f"{aws_clients.sqs(region).meta.endpoint_url}/123456789012/provision.fifo"
    assert aws_json.endpoint_beside(queue, "dynamodb") == aws_clients.dynamodb(region).meta.endpoint_url


def test_a_connected_cluster_is_read_as_the_ledger_wrote_it(sandbox: SandboxAws) -> None:
    table = make_table(sandbox.region)
    table.put_item(TableName=TABLE, Item=write_cluster(cluster(token_hashes=("a", "b"))))
    reader = ConnectedReader(aws_json.dynamodb(sandbox.region, sandbox.endpoint), TABLE)
    assert reader.cluster("prod") == cluster(token_hashes=("a", "b"))
    with pytest.raises(NotFoundError, match="cluster other is not connected: run `nodewright connect other`"):
        reader.cluster("other")


def test_a_table_that_is_gone_is_said_so(sandbox: SandboxAws) -> None:
    reader = ConnectedReader(aws_json.dynamodb(sandbox.region, sandbox.endpoint), "gone")
    with pytest.raises(NotFoundError, match="reading gone"):
        reader.cluster("prod")
