import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from sandbox.lambdas.deployed import NotDeployedError
from sandbox.lambdas.interpreter import current_runtime
from sandbox.lambdas.lambdas import Lambdas
from sandbox.lambdas.outcome import Json
from tests.sandbox.lambdas.conftest import Running, credentials, eventually
from tests.sandbox.lambdas.stack import REGION, arn_of, function, mapping, queue, rule, synthesize

ECHO = """
import os
def handler(event, context):
    return {"event": event, "pid": os.getpid(), "request": context.aws_request_id,
            "left": context.get_remaining_time_in_millis(), "arn": context.invoked_function_arn}
"""
FAIL = """
def handler(event, context):
    raise ValueError("no " + event["what"])
"""
SLEEP = """
import time
def handler(event, context):
    print("asleep", flush=True)
    time.sleep(event["seconds"])
    return "awake"
"""
# Busy until there is another one.
MEET = """
import os, pathlib, time
def handler(event, context):
    here = pathlib.Path(event["folder"])
    (here / f"{os.getpid()}.met").touch()
    while len(list(here.glob("*.met"))) < 2:
        time.sleep(0.02)
    return os.getpid()
"""
VARIABLES = """
import os
def handler(event, context):
    return dict(os.environ)
"""


def test_a_function_answers_with_its_handlers_result(running: Running) -> None:
    lambdas = running({"Echo": function(ECHO, Timeout=7)})
    outcome = lambdas.invoke("Echo", {"naïve": [1, None]})
    assert not outcome.failed
    assert outcome.payload["event"] == {"naïve": [1, None]}
    assert outcome.payload["request"] == outcome.request_id
    assert outcome.payload["arn"] == lambdas.find("Echo").arn
    assert 0 < outcome.payload["left"] <= 7000


def test_an_exception_is_the_functions_error_and_the_environment_stays(running: Running) -> None:
    lambdas = running({"Fail": function(FAIL)})
    first, second = (lambdas.invoke("Fail", {"what": "way"}) for _ in range(2))
    assert first.failed
    assert first.error_type == "ValueError"
    assert first.payload["errorMessage"] == "no way"
    assert first.init_ms is not None
    assert second.init_ms is None


def test_a_warm_environment_is_used_again(running: Running) -> None:
    lambdas = running({"Echo": function(ECHO)})
    first, second = (lambdas.invoke("echo", {}) for _ in range(2))
    assert first.payload["pid"] == second.payload["pid"]
    assert first.init_ms is not None
    assert second.init_ms is None


def test_busy_environments_are_joined_by_new_ones_up_to_the_cap(running: Running, tmp_path: Path) -> None:
    lambdas = running({"Meet": function(MEET, Timeout=120)}, concurrency=2)
    with ThreadPoolExecutor(4) as threads:
        outcomes = list(threads.map(lambda _: lambdas.invoke("Meet", {"folder": str(tmp_path)}), range(4)))
    assert len({outcome.payload for outcome in outcomes}) == 2


def test_reserved_concurrency_of_the_template_is_a_cap(running: Running) -> None:
    code = SLEEP.replace('"awake"', "__import__('os').getpid()")
    lambdas = running({"Sleep": function(code, ReservedConcurrentExecutions=1)})
    with ThreadPoolExecutor() as threads:
        outcomes = list(threads.map(lambda _: lambdas.invoke("Sleep", {"seconds": 0.1}), range(3)))
    assert len({outcome.payload for outcome in outcomes}) == 1


def test_recycling_makes_the_next_call_start_cold(running: Running) -> None:
    lambdas = running({"Echo": function(ECHO)})
    first = lambdas.invoke("Echo", {})
    lambdas.recycle()
    second = lambdas.invoke("Echo", {})
    assert first.payload["pid"] != second.payload["pid"]


def test_killing_a_function_ends_what_is_at_work_and_nothing_else(running: Running) -> None:
    lambdas = running({"Sleep": function(SLEEP, Timeout=120), "Echo": function(ECHO)})
    before = lambdas.invoke("Echo", {}).payload["pid"]
    with ThreadPoolExecutor(1) as thread:
        asleep = thread.submit(lambdas.invoke, "Sleep", {"seconds": 100})
        assert eventually(lambda: "asleep" in lambdas.logs("Sleep"))
        lambdas.kill("Sleep")
        assert asleep.result().error_type == "Runtime.ExitError"
    assert lambdas.invoke("Echo", {}).payload["pid"] == before


def test_nothing_is_at_work_while_functions_are_held(running: Running) -> None:
    lambdas = running({"Sleep": function(SLEEP)})
    with ThreadPoolExecutor(1) as thread:
        asleep = thread.submit(lambdas.invoke, "Sleep", {"seconds": 0.3})
        assert eventually(lambda: "asleep" in lambdas.logs("Sleep"))
        with lambdas.held(patience_seconds=30):
            assert asleep.result().payload == "awake"


def test_who_works_longer_than_held_functions_are_waited_for_is_killed(running: Running) -> None:
    lambdas = running({"Sleep": function(SLEEP, Timeout=120)})
    with ThreadPoolExecutor(1) as thread:
        asleep = thread.submit(lambdas.invoke, "Sleep", {"seconds": 100})
        assert eventually(lambda: "asleep" in lambdas.logs("Sleep"))
        with lambdas.held(patience_seconds=0.1):
            assert asleep.result().error_type == "Runtime.ExitError"
    assert lambdas.invoke("Sleep", {"seconds": 0}).payload == "awake"


def test_a_queue_wakes_a_held_function_as_soon_as_it_is_released(running: Running, sqs: Json) -> None:
    resources = {"Queue": queue(VisibilityTimeout=60), "Echo": function(ECHO), "Map": mapping("Echo", "Queue")}
    lambdas = running(resources)
    with lambdas.held():
        sqs.send_message(QueueUrl=lambdas.deployment.queues["Queue"].url, MessageBody="{}")
        # Longer than a poll that was under way.
        assert not eventually(lambda: lambdas.invocations("Echo") > 0, seconds=1.5)
    assert eventually(lambda: lambdas.invocations("Echo") == 1)


def test_a_function_warmed_ahead_keeps_nobody_waiting(running: Running) -> None:
    lambdas = running({"Echo": function(ECHO)})
    lambdas.warm("Echo", 2)
    outcome = lambdas.invoke("Echo", {})
    assert not outcome.failed
    assert outcome.init_ms is None


def test_a_function_is_killed_at_its_timeout_and_the_next_call_works(running: Running) -> None:
    lambdas = running({"Sleep": function(SLEEP, Timeout=1)})
    late = lambdas.invoke("Sleep", {"seconds": 60})
    assert late.error_type == "Sandbox.Timedout"
    assert "Task timed out after 1.00 seconds" in late.payload["errorMessage"]
    # On a busy machine even a call that sleeps for no time may take its second.
    assert eventually(lambda: lambdas.invoke("Sleep", {"seconds": 0}).payload == "awake")


def test_a_killed_function_is_an_exit_error_and_the_next_call_works(running: Running) -> None:
    lambdas = running({"Sleep": function(SLEEP, Timeout=120)})
    lambdas.kill_next("Sleep", after=0.2)
    killed = lambdas.invoke("Sleep", {"seconds": 60})
    assert killed.error_type == "Runtime.ExitError"
    assert "SIGKILL" in killed.payload["errorMessage"]
    assert lambdas.invoke("Sleep", {"seconds": 0}).payload == "awake"


def test_a_function_that_leaves_is_an_exit_error(running: Running) -> None:
    lambdas = running({"Exit": function("import os\ndef handler(event, context):\n    os._exit(3)\n")})
    outcome = lambdas.invoke("Exit", {})
    assert outcome.error_type == "Runtime.ExitError"
    assert "exit status 3" in outcome.payload["errorMessage"]


def test_a_function_that_cannot_be_imported_says_why(running: Running) -> None:
    lambdas = running({"Broken": function("import nowhere_to_be_found\n")})
    outcome = lambdas.invoke("Broken", {})
    assert outcome.failed
    assert "nowhere_to_be_found" in outcome.payload["errorMessage"]
    with pytest.raises(RuntimeError, match="nowhere_to_be_found"):
        lambdas.warm("Broken")


def test_the_process_sees_lambdas_variables_its_own_as_deployed_its_roles_keys_and_nothing_else(
    running: Running, endpoint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONTRIBUTORS_SECRET", "x")
    environment = {"QUEUE": {"Fn::GetAtt": ["Queue", "QueueName"]}, "AWS_REGION": "never"}
    resources = {
        "Queue": queue(QueueName="deployed-name"),
        "Show": function(VARIABLES, environment=environment, MemorySize=512),
    }
    lambdas = running(resources)
    seen = lambdas.invoke("Show", {}).payload
    assert seen["QUEUE"] == "deployed-name"
    assert seen["AWS_REGION"] == REGION
    assert seen["AWS_LAMBDA_FUNCTION_MEMORY_SIZE"] == "512"
    assert seen["AWS_ENDPOINT_URL"] == endpoint
    assert lambdas.find("Show").role_arn.endswith("/" + seen["AWS_SESSION_TOKEN"])
    assert "CONTRIBUTORS_SECRET" not in seen
    assert seen["HOME"] != os.environ.get("HOME")


def test_logs_hold_what_was_printed_between_lambdas_own_lines(running: Running) -> None:
    code = 'import json\ndef handler(event, context):\n    print(json.dumps({"level": "INFO", "pods": 3}))\n'
    lambdas = running({"Print": function(code)})
    outcome = lambdas.invoke("Print", {})
    lines = lambdas.logs("Print")
    assert lines[0] == f"START RequestId: {outcome.request_id} Version: $LATEST"
    assert lines[2] == f"END RequestId: {outcome.request_id}"
    report = dict(part.split(": ", 1) for part in lines[3].split("\t"))
    assert list(report) == [
        "REPORT RequestId", "Duration", "Billed Duration", "Memory Size", "Max Memory Used", "Init Duration",
    ]  # fmt: skip
    assert int(report["Max Memory Used"].removesuffix(" MB")) > 5
    assert lambdas.log_records("Print") == [{"level": "INFO", "pods": 3}]


def test_logs_are_json_where_the_template_says_so(running: Running) -> None:
    code = 'import logging\ndef handler(event, context):\n    logging.getLogger().warning("%s pods", 3)\n'
    lambdas = running({"Print": function(code, LoggingConfig={"LogFormat": "JSON"})})
    lambdas.invoke("Print", {})
    assert [record["message"] for record in lambdas.log_records("Print")] == ["3 pods"]


def test_a_scheduled_function_is_invoked_as_eventbridge_does(running: Running) -> None:
    code = 'import json\ndef handler(event, context):\n    print(json.dumps({"got": event}))\n'
    resources = {
        "Tick": function(code),
        "Minute": rule({"Arn": arn_of("Tick")}, ScheduleExpression="rate(1 minute)"),
    }
    lambdas = running(resources, speed=600)
    assert eventually(lambda: len(lambdas.log_records("Tick")) >= 2)
    first = lambdas.log_records("Tick")[0]["got"]
    assert first["source"] == "aws.events"
    assert first["detail-type"] == "Scheduled Event"
    assert first["region"] == REGION


def test_a_schedule_can_be_fired_at_once_with_its_constant_input(running: Running) -> None:
    code = 'import json\ndef handler(event, context):\n    print(json.dumps({"got": event}))\n'
    target = {"Arn": arn_of("Refresh"), "Input": '{"what": "prices"}'}
    lambdas = running({"Refresh": function(code), "Daily": rule(target, ScheduleExpression="rate(1 day)")})
    lambdas.fire("Daily")
    assert eventually(lambda: lambdas.log_records("Refresh") == [{"got": {"what": "prices"}}])


def test_an_asynchronous_event_is_tried_three_times(running: Running) -> None:
    lambdas = running({"Fail": function(FAIL)}, speed=6000)
    lambdas.invoke_async("Fail", {"what": "luck"})
    assert eventually(lambda: sum(line.startswith("END") for line in lambdas.logs("Fail")) == 3)


def test_a_name_that_is_no_functions_or_two_functions_is_an_error(running: Running) -> None:
    lambdas = running({"NotifyFunction": function(ECHO), "NotifyOther": function(ECHO)})
    with pytest.raises(LookupError, match="names 2 functions"):
        lambdas.invoke("notify", {})
    with pytest.raises(LookupError, match="names 0 functions"):
        lambdas.logs("provision")


def test_a_stack_that_is_not_deployed_is_a_clear_error(endpoint: str, tmp_path: Path) -> None:
    stack = synthesize(tmp_path / "cdk.out", "Absent", {"Echo": function(ECHO)})
    with pytest.raises(NotDeployedError, match="Absent"):
        Lambdas.from_assembly(
            stack.cdk_out, "Absent", endpoint, credentials, tmp_path, region=REGION, runtime=current_runtime()
        )


def test_stopping_ends_a_running_function(running: Running) -> None:
    lambdas = running({"Sleep": function(SLEEP, Timeout=900)})
    with ThreadPoolExecutor() as threads:
        waiting = threads.submit(lambdas.invoke, "Sleep", {"seconds": 600})
        assert eventually(lambda: any("asleep" in line for line in lambdas.logs("Sleep")))
        lambdas.stop()
        assert waiting.result().error_type == "Runtime.ExitError"
