"""Reads what an AWS request asks for and writes answers, in whichever of AWS's protocols the service speaks.

botocore's service models decide both ways, through moto's own parser and serializer; nothing here knows a service.
"""

import io
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs
from xml.sax.saxutils import escape

from botocore.exceptions import UnknownServiceError
from moto.core.model import OperationModel
from moto.core.parse import PROTOCOL_PARSERS
from moto.core.request import Request, determine_request_protocol
from moto.core.routing import get_service_router
from moto.core.serialize import XFormedAttributePicker, get_serializer_class
from moto.core.utils import get_service_model
from werkzeug.exceptions import NotFound
from werkzeug.wrappers import Response

Environ = dict[str, Any]

SCOPE = re.compile(r"Credential=(?P<key>[^/,\s]+)/\d{8}/(?P<region>[^/]*)/(?P<service>[^/]+)/aws4_request")
# The name a service signs with, where it isn't botocore's name of it.
SIGNING_NAMES = {"monitoring": "cloudwatch", "eventbridge": "events", "email": "ses"}


class AwsError(Exception):
    """An error a caller of AWS sees: its code, message and HTTP status."""

    def __init__(self, code: str, message: str, status: int = 400) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.status = status


@dataclass(frozen=True, slots=True)
class Call:
    """One signed request: who asks which service for what."""

    service: str
    operation: str
    region: str
    access_key: str
    request: Request
    path_parameters: Mapping[str, Any]

    @property
    def parameters(self) -> dict[str, Any]:
        """The operation's input, under the names the service model gives its members."""
        model = _operation_model(self)
        protocol = determine_request_protocol(model.service_model, self.request.content_type)
        parser = PROTOCOL_PARSERS[protocol](model)
        parsed = parser.parse(
            {
                "method": self.request.method,
                "values": self.request.values,
                "headers": self.request.headers,
                "body": self.request.data,
                "url_path": self.request.path,
                "url_params": dict(self.path_parameters),
            }
        )
        return {**parsed, **self.path_parameters}


def read(environ: Environ) -> Call | None:
    """The call a request carries, or None when it isn't a signed call of a service botocore knows."""
    scope = SCOPE.search(environ.get("HTTP_AUTHORIZATION", "") or _presigned_credential(environ))
    if scope is None:
        return None
    service = _service(scope["service"], environ.get("PATH_INFO", ""))
    request = Request(_bodiless(environ) if service == "s3" else _replayable(environ))
    operation, path_parameters = _operation(service, request)
    return Call(service, operation, scope["region"], scope["key"], request, path_parameters)


def answer(call: Call, result: object) -> Response:
    """The HTTP response that carries an operation's result."""
    model = _operation_model(call)
    serializer = _serializer_class(call, model)(operation_model=model, value_picker=XFormedAttributePicker())
    serialized = serializer.serialize(result)
    return Response(serialized["body"], serialized["status_code"], dict(serialized["headers"]))


def refuse(call: Call, error: AwsError) -> Response:
    """The HTTP response that carries an error; the code need not be one of the service model's."""
    protocol = str(get_service_model(call.service).protocol) if _known(call.service) else "query"
    if protocol.endswith("json") or call.request.headers.get("X-Amz-Target"):
        body = json.dumps({"__type": error.code, "message": error.message, "Message": error.message})
        headers = {"Content-Type": "application/x-amz-json-1.1", "x-amzn-errortype": error.code}
        return Response(body, error.status, headers)
    return Response(_xml_error(protocol, error), error.status, {"Content-Type": "text/xml"})


def _xml_error(protocol: str, error: AwsError) -> str:
    detail = f"<Code>{escape(error.code)}</Code><Message>{escape(error.message)}</Message>"
    if protocol == "ec2":
        return f"<Response><Errors><Error>{detail}</Error></Errors><RequestID>sandbox</RequestID></Response>"
    if protocol == "rest-xml":
        return f"<Error>{detail}<RequestId>sandbox</RequestId></Error>"
    return f"<ErrorResponse><Error><Type>Sender</Type>{detail}</Error><RequestId>sandbox</RequestId></ErrorResponse>"


def _presigned_credential(environ: Environ) -> str:
    credential = parse_qs(environ.get("QUERY_STRING", "")).get("X-Amz-Credential", [""])[0]
    return f"Credential={credential}"


def _service(signing_name: str, path: str) -> str:
    if signing_name == "apigateway":
        return "apigatewayv2" if path.startswith("/v2/") else "apigateway"
    return SIGNING_NAMES.get(signing_name, signing_name)


def _bodiless(environ: Environ) -> Environ:
    """Objects may be large, and nothing here looks into them."""
    return {**environ, "wsgi.input": io.BytesIO(), "CONTENT_LENGTH": "0"}


def _replayable(environ: Environ) -> Environ:
    """A copy with the body read, so that moto can read the original again."""
    length = int(environ.get("CONTENT_LENGTH") or 0)
    body = environ["wsgi.input"].read(length) if length else b""
    environ["wsgi.input"] = io.BytesIO(body)
    return {**environ, "wsgi.input": io.BytesIO(body)}


def _operation(service: str, request: Request) -> tuple[str, Mapping[str, Any]]:
    # Asked first: werkzeug forgets a form's raw body once it has parsed the form.
    request.get_data(cache=True, parse_form_data=False)
    if target := request.headers.get("X-Amz-Target"):
        return target.rsplit(".", 1)[-1], {}
    if action := request.values.get("Action"):
        return action, {}
    if not _known(service):
        return "Unknown", {}
    try:
        model, parameters = get_service_router(service).match(request)
    except (NotFound, NotImplementedError):
        return request.path.rsplit("/operation/", 1)[-1] if "/operation/" in request.path else "Unknown", {}
    return str(model.name), parameters


def _known(service: str) -> bool:
    try:
        get_service_model(service)
    except UnknownServiceError:
        return False
    return True


def _operation_model(call: Call) -> OperationModel:
    model: OperationModel = get_service_model(call.service).operation_model(call.operation)
    return model


def _serializer_class(call: Call, model: OperationModel) -> Any:
    protocol = determine_request_protocol(model.service_model, call.request.content_type)
    return get_serializer_class(str(model.service_model.service_name), protocol)
