"""AWS's JSON protocol with botocore's signer and connections, but without its clients (decision 0006).

For notify alone, which an API server waits for: making clients loads service descriptions and endpoint rules,
and takes longer than all else that notify does at its start. Calls fail with the exceptions of botocore's clients.
"""

import json
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials, EnvProvider
from botocore.exceptions import ClientError, NoCredentialsError
from botocore.httpsession import URLLib3Session

_CONTENT_TYPE: Final = "application/x-amz-json-1.0"


@dataclass(frozen=True, slots=True)
class JsonService:
    """One service. Each call is made once, as whoever waits for notify doesn't wait for a second try."""

    name: str
    """As it signs: `sqs`."""
    target: str
    """What its operations' names are prefixed with: `AmazonSQS`."""
    endpoint: str
    region: str
    connections: URLLib3Session
    credentials: Credentials

    def call(self, operation: str, request: Mapping[str, object]) -> dict[str, object]:
        """ClientError where the service refuses; another of botocore's exceptions where it can't be reached."""
        headers = {"Content-Type": _CONTENT_TYPE, "X-Amz-Target": f"{self.target}.{operation}"}
        signed = AWSRequest("POST", self.endpoint, headers, json.dumps(request).encode())
        SigV4Auth(self.credentials, self.name, self.region).add_auth(signed)
        answer = self.connections.send(signed.prepare())
        body = _object(answer.content)
        if answer.status_code != 200:
            raise _refusal(operation, answer.status_code, body)
        return body


@dataclass(frozen=True, slots=True)
class QueueService:
    """Stands for the SQS client that SqsHints sends with."""

    service: JsonService

    def send_message(self, **request: object) -> dict[str, object]:
        """SQS's SendMessage."""
        return self.service.call("SendMessage", request)


def sqs(region: str, endpoint: str) -> JsonService:
    """For hints: 300 ms; the API server is waiting, and another hint will get through."""
    return JsonService("sqs", "AmazonSQS", endpoint, region, _connections(connect=0.3, read=0.3), _role())


def dynamodb(region: str, endpoint: str) -> JsonService:
    """Within the second that the API server waits."""
    connections = _connections(connect=0.3, read=0.5)
    return JsonService("dynamodb", "DynamoDB_20120810", endpoint, region, connections, _role())


def endpoint_beside(queue_url: str, service: str) -> str:
    """Where a service stands, told by a queue's URL, which names region and partition.

    `https://sqs.cn-north-1.amazonaws.com.cn/1/hints` → `https://dynamodb.cn-north-1.amazonaws.com.cn`.
    """
    return f"https://{service}.{urlsplit(queue_url).netloc.partition('.')[2]}"


def _connections(*, connect: float, read: float) -> URLLib3Session:
    """Kept between calls; seconds to connect and to wait for an answer.

    Without TCP_NODELAY, which botocore's clients set too, a body waits 40 ms for its headers to be acknowledged.
    """
    at_once = [(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)]
    timeout = (connect, read)
    return URLLib3Session(timeout=timeout, socket_options=at_once)  # type: ignore[arg-type]  # the stubs know no pairs


def _role() -> Credentials:
    """Lambda gives a container the keys of its role in variables, for as long as it lives."""
    keys = EnvProvider().load()
    if keys is None:
        raise NoCredentialsError
    return keys


def _object(content: bytes) -> dict[str, object]:
    """What isn't a JSON object came from something in between; its status says what went wrong."""
    try:
        decoded: object = json.loads(content)
    except ValueError:
        return {}
    return decoded if isinstance(decoded, dict) else {}


def _refusal(operation: str, status: int, body: Mapping[str, object]) -> ClientError:
    """Of `{"__type": "com.amazonaws.sqs#QueueDoesNotExist", "message": "…"}`; without a type the status is the code."""
    code = str(body.get("__type") or status).rpartition("#")[2]
    message = str(body.get("message") or body.get("Message") or "")
    error = {"Error": {"Code": code, "Message": message}, "ResponseMetadata": {"HTTPStatusCode": status}}
    return ClientError(error, operation)  # type: ignore[arg-type]  # the stubs want metadata that is only a client's
