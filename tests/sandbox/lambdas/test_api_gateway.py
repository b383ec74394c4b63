import http.client
import json
import ssl
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

from sandbox.controlplane.pki import Authority
from sandbox.lambdas.api_gateway import Tls
from sandbox.lambdas.lambdas import Lambdas
from sandbox.lambdas.outcome import Json
from tests.sandbox.lambdas.conftest import Running
from tests.sandbox.lambdas.stack import function, http_api

ECHO = """
import json
def handler(event, context):
    return {"statusCode": 200, "headers": {"X-Answer": "yes"}, "body": json.dumps(event)}
"""
PLAIN = "def handler(event, context):\n    return {'allowed': True}\n"
BINARY = "def handler(event, context):\n    return {'statusCode': 201, 'isBase64Encoded': True, 'body': 'AAH/'}\n"
FAIL = "def handler(event, context):\n    raise ValueError('no')\n"
NOTIFY = "POST /v1/clusters/{cluster}/{token}"


def test_a_route_calls_its_function_with_payload_format_2_0(running: Running) -> None:
    lambdas = running({"Notify": function(ECHO), **http_api("Notify", NOTIFY)})
    path = "/v1/clusters/prod/s%2Fecret?timeout=1s&a=1&a=2"
    status, headers, body = _call(
        lambdas, "POST", path, b'{"uid": 1}', {"Content-Type": "application/json", "X-One": "1"}
    )
    event = json.loads(body)
    assert status == 200
    assert headers["x-answer"] == "yes"
    assert event["version"] == "2.0"
    assert event["routeKey"] == NOTIFY
    assert event["rawPath"] == "/v1/clusters/prod/s%2Fecret"
    assert event["rawQueryString"] == "timeout=1s&a=1&a=2"
    assert event["queryStringParameters"] == {"timeout": "1s", "a": "1,2"}
    assert event["pathParameters"] == {"cluster": "prod", "token": "s/ecret"}
    assert event["headers"]["x-one"] == "1"
    assert event["body"] == '{"uid": 1}'
    assert event["isBase64Encoded"] is False
    assert event["requestContext"]["http"]["method"] == "POST"
    assert event["requestContext"]["accountId"] == "123456789012"


def test_what_no_route_takes_is_not_found(running: Running) -> None:
    lambdas = running({"Notify": function(ECHO), **http_api("Notify", NOTIFY)})
    for method, path in [("GET", "/v1/clusters/a/b"), ("POST", "/v1/clusters/a"), ("POST", "/v1/clusters/a/b/c")]:
        status, _, body = _call(lambdas, method, path)
        assert (status, json.loads(body)) == (404, {"message": "Not Found"})


def test_the_more_specific_route_wins(running: Running) -> None:
    keys = ("$default", "ANY /v1/{proxy+}", "GET /v1/{name}", "GET /v1/exact")
    lambdas = running({"Notify": function(ECHO), **http_api("Notify", *keys)})
    wanted = {
        ("GET", "/v1/exact"): "GET /v1/exact",
        ("GET", "/v1/other"): "GET /v1/{name}",
        ("PUT", "/v1/a/b"): "ANY /v1/{proxy+}",
        ("GET", "/elsewhere"): "$default",
    }
    found = {request: json.loads(_call(lambdas, *request)[2])["routeKey"] for request in wanted}
    assert found == wanted


def test_more_than_ten_megabytes_are_refused_unread(running: Running) -> None:
    lambdas = running({"Notify": function(ECHO), **http_api("Notify", NOTIFY)})
    status, _, body = _call(lambdas, "POST", "/v1/clusters/a/b", headers={"Content-Length": str(10 * 1024 * 1024 + 1)})
    assert (status, json.loads(body)) == (413, {"message": "Request Entity Too Large"})


def test_more_than_a_lambda_event_holds_is_refused(running: Running) -> None:
    lambdas = running({"Notify": function(ECHO), **http_api("Notify", NOTIFY)})
    headers = {"Content-Type": "application/json"}
    assert _call(lambdas, "POST", "/v1/clusters/a/b", b" " * 6 * 1024 * 1024, headers)[0] == 413


def test_three_megabytes_go_through(running: Running) -> None:
    code = "def handler(event, context):\n    return str(len(event['body']))\n"
    lambdas = running({"Notify": function(code), **http_api("Notify", NOTIFY)})
    headers = {"Content-Type": "application/json"}
    answer = _call(lambdas, "POST", "/v1/clusters/a/b", b"x" * 3 * 1024 * 1024, headers)
    assert (answer[0], answer[2]) == (200, str(3 * 1024 * 1024).encode())


def test_a_failing_function_is_an_internal_server_error(running: Running) -> None:
    lambdas = running({"Notify": function(FAIL), **http_api("Notify", NOTIFY)})
    status, _, body = _call(lambdas, "POST", "/v1/clusters/a/b")
    assert (status, json.loads(body)) == (500, {"message": "Internal Server Error"})


def test_an_answer_without_a_status_is_the_body(running: Running) -> None:
    lambdas = running({"Notify": function(PLAIN), **http_api("Notify", NOTIFY)})
    status, headers, body = _call(lambdas, "POST", "/v1/clusters/a/b")
    assert (status, json.loads(body)) == (200, {"allowed": True})
    assert headers["content-type"] == "application/json"


def test_binary_bodies_are_base64_in_the_event_and_in_the_answer(running: Running) -> None:
    lambdas = running({"Binary": function(BINARY), **http_api("Binary", NOTIFY)})
    assert _call(lambdas, "POST", "/v1/clusters/a/b")[::2] == (201, b"\x00\x01\xff")


def test_binary_requests_reach_the_function_as_base64(running: Running) -> None:
    lambdas = running({"Notify": function(ECHO), **http_api("Notify", NOTIFY)})
    event = json.loads(_call(lambdas, "POST", "/v1/clusters/a/b", b"\x00\xff")[2])
    assert (event["body"], event["isBase64Encoded"]) == ("AP8=", True)


def test_the_stages_throttle_answers_429_beyond_its_burst(running: Running) -> None:
    settings = {"DefaultRouteSettings": {"ThrottlingRateLimit": 0.001, "ThrottlingBurstLimit": 3}}
    lambdas = running({"Notify": function(PLAIN), **http_api("Notify", NOTIFY, **settings)})
    statuses = [_call(lambdas, "POST", "/v1/clusters/a/b")[0] for _ in range(5)]
    assert statuses == [200, 200, 200, 429, 429]


def test_one_connection_serves_many_requests_and_many_connections_are_served_at_once(running: Running) -> None:
    lambdas = running({"Notify": function(PLAIN), **http_api("Notify", NOTIFY)})

    def burst(_: int) -> list[int]:
        with closing(_connection(lambdas)) as connection:
            return [_request(connection, "POST", "/v1/clusters/a/b")[0] for _ in range(5)]

    with ThreadPoolExecutor(max_workers=20) as threads:
        assert [status for statuses in threads.map(burst, range(20)) for status in statuses] == [200] * 100


def test_it_serves_tls_with_the_certificate_it_is_given(running: Running, tmp_path: Path) -> None:
    authority = Authority("webhook tests", datetime.now(UTC))  # noqa: TID251 - OpenSSL compares with the real clock
    issued = authority.serving(["127.0.0.1"])
    certificate, key = tmp_path / "tls.crt", tmp_path / "tls.key"
    certificate.write_bytes(issued.certificate_pem)
    key.write_bytes(issued.key_pem)
    lambdas = running({"Notify": function(PLAIN), **http_api("Notify", NOTIFY)}, tls=Tls(certificate, key))
    trust = ssl.create_default_context(cadata=authority.ca_pem.decode())
    address = urlsplit(lambdas.api_url)
    assert address.scheme == "https"
    with closing(http.client.HTTPSConnection(address.netloc, context=trust)) as connection:
        assert _request(connection, "POST", "/v1/clusters/a/b")[0] == 200


def _connection(lambdas: Lambdas) -> http.client.HTTPConnection:
    return http.client.HTTPConnection(urlsplit(lambdas.api_url).netloc)


def _call(
    lambdas: Lambdas, method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None
) -> tuple[int, dict[str, str], bytes]:
    with closing(_connection(lambdas)) as connection:
        return _request(connection, method, path, body, headers)


def _request(
    connection: http.client.HTTPConnection,
    method: str,
    path: str,
    body: bytes | None = None,
    headers: Json = None,
) -> tuple[int, dict[str, str], bytes]:
    connection.request(method, path, body, headers or {})
    answer = connection.getresponse()
    return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
