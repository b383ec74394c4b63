import http.client
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

from sandbox.lambdas.outcome import Json
from sandbox.lambdas.runtime_api import Answer, Invocation, RuntimeApi

INVOCATION = Invocation("r-1", b'{"a":1}', "arn:f", 1234, "Root=1;Lineage=x:1")


@pytest.fixture
def served() -> Iterator[tuple[RuntimeApi, str]]:
    api = RuntimeApi()
    yield api, api.start()
    api.close()


def test_an_invocation_is_handed_over_with_its_headers_and_its_answer_comes_back(
    served: tuple[RuntimeApi, str],
) -> None:
    api, address = served
    with ThreadPoolExecutor() as threads:
        waiting = threads.submit(api.invoke, INVOCATION, 30)
        status, headers, body = _call(address, "GET", "invocation/next")
        assert (status, body) == (200, {"a": 1})
        assert headers["lambda-runtime-aws-request-id"] == "r-1"
        assert headers["lambda-runtime-deadline-ms"] == "1234"
        assert headers["lambda-runtime-invoked-function-arn"] == "arn:f"
        assert headers["lambda-runtime-trace-id"] == "Root=1;Lineage=x:1"
        assert _call(address, "POST", "invocation/r-1/response", {"done": True})[0] == 202
        assert waiting.result() == Answer("r-1", {"done": True}, failed=False)


def test_an_answer_to_another_invocation_is_refused(served: tuple[RuntimeApi, str]) -> None:
    api, address = served
    with ThreadPoolExecutor() as threads:
        waiting = threads.submit(api.invoke, INVOCATION, 30)
        _call(address, "GET", "invocation/next")
        assert _call(address, "POST", "invocation/r-0/response", {})[0] == 400
        assert _call(address, "POST", "invocation/r-1/error", {"errorType": "E"})[0] == 202
        assert waiting.result() == Answer("r-1", {"errorType": "E"}, failed=True)


@pytest.mark.parametrize(("method", "path"), [("GET", "invocation/last"), ("POST", "invocation/r-1/shrug")])
def test_there_is_no_other_path(served: tuple[RuntimeApi, str], method: str, path: str) -> None:
    assert _call(served[1], method, path, {})[0] == 404


def test_an_environment_is_initialised_when_it_asks_for_work(served: tuple[RuntimeApi, str]) -> None:
    api, address = served
    assert api.initialised(0.01)["errorType"] == "Sandbox.Timedout"
    with ThreadPoolExecutor() as threads:
        asking = threads.submit(_call, address, "GET", "invocation/next")
        assert api.initialised(30) is None
        api.invoke(INVOCATION, 0.01)
        assert asking.result()[0] == 200


def test_an_init_error_is_why_it_did_not_start(served: tuple[RuntimeApi, str]) -> None:
    api, address = served
    assert _call(address, "POST", "init/error", {"errorType": "Runtime.ImportModuleError"})[0] == 202
    assert api.initialised(30) == {"errorType": "Runtime.ImportModuleError"}


def test_an_exit_ends_both_waits(served: tuple[RuntimeApi, str]) -> None:
    api, _ = served
    api.exited("Runtime exited with error: exit status 1")
    assert api.initialised(30)["errorType"] == "Runtime.ExitError"
    answer = api.invoke(INVOCATION, 30)
    assert answer is not None
    assert answer.failed


def _call(address: str, method: str, path: str, body: Json = None) -> tuple[int, dict[str, str], Json]:
    with closing(http.client.HTTPConnection(address)) as connection:
        connection.request(method, f"/2018-06-01/runtime/{path}", None if body is None else json.dumps(body))
        answer = connection.getresponse()
        headers = {name.lower(): value for name, value in answer.getheaders()}
        return answer.status, headers, json.loads(answer.read())
