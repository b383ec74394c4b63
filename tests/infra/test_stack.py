import json
from pathlib import Path

import pytest

from nodewright.application.refresh import PARTS
from nodewright.domain.interruption import EVENTS, Event
from nodewright.settings import Settings
from sandbox.lambdas.event_pattern import matches
from tests.events.samples import NAMES, sample
from tests.infra.template import Json, Template, mapping, sequence, text

ROOT = Path(__file__).parents[2]
VERBS = ["disrupt", "interrupt", "notify", "provision", "reconcile", "refresh", "retire", "tick"]


def test_cdk_nag_has_nothing_to_say(template: Template) -> None:
    report = json.loads((template.folder / "validation-report.json").read_text())

    assert report["pluginReports"] == [] or all(not plugin["violations"] for plugin in report["pluginReports"])


def test_one_table_holds_all_state_and_outlives_the_stack(template: Template) -> None:
    (table,) = template.attributes("AWS::DynamoDB::Table")

    assert (table["DeletionPolicy"], table["UpdateReplacePolicy"]) == ("Retain", "Retain")
    properties = mapping(table["Properties"])
    assert properties["KeySchema"] == [
        {"AttributeName": "pk", "KeyType": "HASH"},
        {"AttributeName": "sk", "KeyType": "RANGE"},
    ]
    assert properties["BillingMode"] == "PAY_PER_REQUEST"
    assert properties["TimeToLiveSpecification"] == {"AttributeName": "expires", "Enabled": True}
    assert properties["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}


def test_a_sandbox_may_drop_the_table(chosen_template: Template) -> None:
    (table,) = chosen_template.attributes("AWS::DynamoDB::Table")

    assert table["DeletionPolicy"] == "Delete"


def test_there_is_a_function_for_every_folder_and_no_other(template: Template) -> None:
    folders = sorted(path.parent.name for path in (ROOT / "functions").glob("*/__init__.py"))

    names = sorted(text(each["FunctionName"]) for each in template.of("AWS::Lambda::Function").values())
    assert names == [f"Nodewright-{folder}" for folder in folders]


@pytest.mark.parametrize("verb", VERBS)
def test_every_function_runs_its_handler_on_arm_with_both_layers(template: Template, verb: str) -> None:
    function = template.function(verb)

    assert function["Architectures"] == ["arm64"]
    assert function["Runtime"] == "python3.13"
    assert function["Handler"] == "handler.handler"
    assert len(sequence(function["Layers"])) == 2
    assert mapping(function["LoggingConfig"])["LogFormat"] == "JSON"


@pytest.mark.parametrize(
    ("verb", "timeout", "memory"),
    [
        ("interrupt", 30, 512),
        ("notify", 3, 256),
        ("provision", 90, 3072),
        ("reconcile", 60, 1024),
        ("refresh", 120, 1024),
        ("disrupt", 300, 3072),
        ("retire", 30, 1024),
        ("tick", 10, 256),
    ],
)
def test_functions_have_the_size_of_the_design(template: Template, verb: str, timeout: int, memory: int) -> None:
    function = template.function(verb)

    assert (function["Timeout"], function["MemorySize"]) == (timeout, memory)


@pytest.mark.parametrize("verb", VERBS)
def test_only_provision_and_retire_may_send_to_themselves_again_and_again(template: Template, verb: str) -> None:
    allowed = template.function(verb)["RecursiveLoop"] == "Allow"

    assert allowed is (verb in {"provision", "retire"})


@pytest.mark.parametrize("verb", VERBS)
def test_the_environment_of_every_function_is_one_that_settings_accept(template: Template, verb: str) -> None:
    function = template.function(verb)
    variables = {name: text(each) for name, each in mapping(mapping(function["Environment"])["Variables"]).items()}

    settings = Settings.from_env({**variables, "AWS_REGION": "eu-west-1"})

    assert settings.function_timeout_seconds == function["Timeout"]
    assert settings.stack_id == "Nodewright"
    assert settings.table == template.outputs()["TableName"]
    assert settings.provision_queue_url == template.outputs()["ProvisionQueueUrl"]
    assert settings.reconcile_queue_url == template.outputs()["ReconcileQueueUrl"]
    assert settings.disrupt_queue_url == template.outputs()["DisruptQueueUrl"]
    assert settings.retire_queue_url == template.outputs()["RetireQueueUrl"]
    assert settings.node_role == template.outputs()["NodeRoleName"]
    assert settings.node_instance_profile == template.outputs()["NodeInstanceProfileName"]


def test_every_function_has_a_role_and_a_log_of_its_own(template: Template) -> None:
    functions = template.of("AWS::Lambda::Function").values()

    assert len({text(each["Role"]) for each in functions}) == len(VERBS)
    assert len({text(mapping(each["LoggingConfig"])["LogGroup"]) for each in functions}) == len(VERBS)


def test_no_log_is_kept_for_ever(template: Template) -> None:
    assert {each["RetentionInDays"] for each in template.of("AWS::Logs::LogGroup").values()} == {14}


@pytest.mark.parametrize("verb", ["disrupt", "provision", "reconcile"])
def test_hint_queues_coalesce_per_cluster_and_forget_soon(template: Template, verb: str) -> None:
    (queue,) = [
        each for each in template.of("AWS::SQS::Queue").values() if each["QueueName"] == f"Nodewright-{verb}.fifo"
    ]

    assert queue["DeduplicationScope"] == "messageGroup"
    assert queue["FifoThroughputLimit"] == "perMessageGroupId"
    assert queue["ContentBasedDeduplication"] is False
    assert queue["MessageRetentionPeriod"] == 300
    assert queue["VisibilityTimeout"] == int(str(template.function(verb)["Timeout"])) + 10
    assert queue["SqsManagedSseEnabled"] is True
    assert "RedrivePolicy" not in queue


@pytest.mark.parametrize("verb", ["interrupt", "retire"])
def test_work_that_failed_comes_again_and_ends_where_somebody_looks(template: Template, verb: str) -> None:
    queues = {text(each["QueueName"]): each for each in template.of("AWS::SQS::Queue").values()}
    queue, dead = queues[f"Nodewright-{verb}"], queues[f"Nodewright-{verb}-dead"]

    assert "FifoQueue" not in queue
    assert queue["VisibilityTimeout"] == int(str(template.function(verb)["Timeout"])) + 10
    assert queue["MessageRetentionPeriod"] == 4 * 24 * 3600
    assert mapping(queue["RedrivePolicy"])["maxReceiveCount"] == 5
    assert f"{verb.capitalize()}WorkDead" in text(mapping(queue["RedrivePolicy"])["deadLetterTargetArn"])
    assert dead["MessageRetentionPeriod"] == 14 * 24 * 3600
    assert "RedrivePolicy" not in dead
    assert queue["SqsManagedSseEnabled"] is dead["SqsManagedSseEnabled"] is True


def test_queues_wake_their_functions_one_message_at_a_time_but_events_come_in_tens(template: Template) -> None:
    mappings = template.of("AWS::Lambda::EventSourceMapping").values()

    assert len(mappings) == 5
    for each in mappings:
        assert each["BatchSize"] == (10 if "Interrupt" in text(each["EventSourceArn"]) else 1)
        assert each["FunctionResponseTypes"] == ["ReportBatchItemFailures"]


def test_the_webhook_is_the_only_door_and_is_throttled(template: Template) -> None:
    (route,) = template.of("AWS::ApiGatewayV2::Route").values()
    (stage,) = template.of("AWS::ApiGatewayV2::Stage").values()

    assert route["RouteKey"] == "POST /v1/clusters/{cluster}/{token}"
    assert stage["DefaultRouteSettings"] == {"ThrottlingRateLimit": 1000, "ThrottlingBurstLimit": 2000}


def test_the_access_log_never_shows_the_token(template: Template) -> None:
    (stage,) = template.of("AWS::ApiGatewayV2::Stage").values()
    logged = json.loads(text(mapping(stage["AccessLogSettings"])["Format"])).values()

    assert "$context.routeKey" in logged
    # What API Gateway offers that would hold the path as called.
    assert not {"$context.path", "$context.requestPath", "$context.pathParameters"} & set(logged)
    assert not [each for each in logged if "path" in each.lower()]


def test_a_tick_comes_each_minute_and_is_never_repeated(template: Template) -> None:
    (tick,) = [
        each for each in template.of("AWS::Events::Rule").values() if each.get("ScheduleExpression") == "rate(1 minute)"
    ]

    (target,) = sequence(tick["Targets"])
    assert mapping(target)["Arn"] == _arn(template, "tick")
    assert mapping(target)["RetryPolicy"] == {"MaximumEventAgeInSeconds": 60, "MaximumRetryAttempts": 0}


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: event.name)
def test_a_rule_lets_each_kind_of_event_through_to_interrupt(template: Template, event: Event) -> None:
    """As EventBridge matches: the sample of the kind, and no other's."""
    (rule,) = [each for name, each in template.of("AWS::Events::Rule").items() if event.name in name]

    passed = [name for name in NAMES if matches(mapping(rule["EventPattern"]), sample(name))]
    assert passed == [event.name]
    (target,) = sequence(rule["Targets"])
    assert "InterruptWorkQueue" in text(mapping(target)["Arn"])


def test_no_rule_listens_to_anything_else(template: Template) -> None:
    listening = [each for each in template.of("AWS::Events::Rule").values() if "EventPattern" in each]

    assert len(listening) == len(EVENTS)


def test_only_those_rules_may_put_events_on_interrupts_queue(template: Template) -> None:
    letting: list[dict[str, Json]] = []
    for policy in template.of("AWS::SQS::QueuePolicy").values():
        statements = [mapping(each) for each in sequence(mapping(policy["PolicyDocument"])["Statement"])]
        letting += [each for each in statements if each["Effect"] == "Allow"]

    assert len(letting) == len(EVENTS)
    for statement in letting:
        assert statement["Principal"] == {"Service": "events.amazonaws.com"}
        assert statement["Action"] == "sqs:SendMessage" or "sqs:SendMessage" in sequence(statement["Action"])
        assert "Interruptions" in str(statement["Condition"])


def test_everything_is_refreshed_by_some_schedule(template: Template) -> None:
    asked: list[str] = []
    for rule in template.of("AWS::Events::Rule").values():
        for target in sequence(rule["Targets"]):
            if mapping(target)["Arn"] == _arn(template, "refresh"):
                asked += json.loads(text(mapping(target)["Input"]))["refresh"]

    assert sorted(asked) == sorted(PARTS)


def test_whatever_can_carry_the_tag_of_the_stack_carries_it(chosen_template: Template) -> None:
    tag = {"Key": "nodewright.dev/stack", "Value": "Other"}
    kinds = ("IAM::Role", "DynamoDB::Table", "SQS::Queue", "Lambda::Function", "Events::Rule", "Logs::LogGroup")
    for kind in kinds:
        for name, properties in chosen_template.of(f"AWS::{kind}").items():
            assert tag in sequence(properties["Tags"]), name


def test_nodes_get_the_four_managed_policies_and_no_other(template: Template) -> None:
    role = template.of("AWS::IAM::Role")[template.outputs()["NodeRoleName"].removeprefix("the-")]

    assert sorted(text(each).rpartition("/")[2] for each in sequence(role["ManagedPolicyArns"])) == [
        "AmazonEC2ContainerRegistryPullOnly",
        "AmazonEKSWorkerNodePolicy",
        "AmazonEKS_CNI_Policy",
        "AmazonSSMManagedInstanceCore",
    ]
    (profile,) = template.of("AWS::IAM::InstanceProfile").values()
    assert profile["Roles"] == [template.outputs()["NodeRoleName"]]
    assert profile["Path"] == "/nodewright/Nodewright/"


def test_outputs_keep_the_names_that_others_read(template: Template) -> None:
    assert set(template.outputs()) >= {
        "ApiUrl",
        "NodeInstanceProfileName",
        "NodeRoleArn",
        "NodeRoleName",
        "ProvisionQueueUrl",
        "ProvisionRoleArn",
        "ReconcileQueueUrl",
        "ReconcileRoleArn",
        "RefreshFunctionName",
        "InterruptQueueUrl",
        "InterruptRoleArn",
        "DisruptQueueUrl",
        "DisruptRoleArn",
        "RetireQueueUrl",
        "RetireRoleArn",
        "StackId",
        "TableName",
    }


def _arn(template: Template, verb: str) -> str:
    (arn,) = [
        f"arn:aws:lambda:eu-west-1:123456789012:function:the-{name}"
        for name, each in template.of("AWS::Lambda::Function").items()
        if each["FunctionName"] == f"Nodewright-{verb}"
    ]
    return arn
