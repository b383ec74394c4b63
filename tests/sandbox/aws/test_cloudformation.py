"""Stacks made, changed and removed through the API; `test_cdk_probe.py` does it with CDK itself."""

import json
from typing import Any

import pytest
from botocore.exceptions import ClientError

from sandbox.aws.server import SandboxAws

Json = dict[str, Any]
ANYBODY = {
    "Version": "2012-10-17",
    "Statement": [{"Effect": "Allow", "Principal": "*", "Action": "*", "Resource": "*"}],
}
ROLE = {"Type": "AWS::IAM::Role", "Properties": {"AssumeRolePolicyDocument": ANYBODY}}
FUNCTION = {
    "Type": "AWS::Lambda::Function",
    "Properties": {
        "Role": {"Fn::GetAtt": ["Role", "Arn"]},
        "Runtime": "python3.13",
        "Handler": "index.handler",
        "Code": {"ZipFile": "def handler(event, context): return 1"},
        "Architectures": ["arm64"],
    },
}
KEY = {
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
    "BillingMode": "PAY_PER_REQUEST",
}


class Stack:
    """One stack; each deploy tells its outputs."""

    def __init__(self, aws: SandboxAws) -> None:
        self.aws = aws
        self.cloudformation = aws.client("cloudformation")
        self._made = False

    def deploy(self, resources: Json, **outputs: Any) -> dict[str, str]:
        described = {"Resources": resources, "Outputs": {name: {"Value": value} for name, value in outputs.items()}}
        act = self.cloudformation.update_stack if self._made else self.cloudformation.create_stack
        act(StackName="s", TemplateBody=json.dumps(described))
        self._made = True
        (stack,) = self.cloudformation.describe_stacks(StackName="s")["Stacks"]
        return {one["OutputKey"]: one["OutputValue"] for one in stack.get("Outputs", [])}

    def destroy(self) -> None:
        self.cloudformation.delete_stack(StackName="s")


@pytest.fixture
def stack(aws: SandboxAws) -> Stack:
    return Stack(aws)


def ref(name: str) -> Json:
    return {"Ref": name}


def att(name: str, attribute: str) -> Json:
    return {"Fn::GetAtt": [name, attribute]}


def changed(resource: Json, **properties: Any) -> Json:
    return {**resource, "Properties": {**resource.get("Properties", {}), **properties}}


def test_an_http_api_leads_a_route_to_a_function(stack: Stack) -> None:
    target = {"Fn::Join": ["", ["integrations/", ref("Integration")]]}
    resources = {
        "Role": ROLE,
        "Function": FUNCTION,
        "Api": {"Type": "AWS::ApiGatewayV2::Api", "Properties": {"Name": "notify", "ProtocolType": "HTTP"}},
        "Integration": {
            "Type": "AWS::ApiGatewayV2::Integration",
            "Properties": {
                "ApiId": ref("Api"),
                "IntegrationType": "AWS_PROXY",
                "IntegrationUri": att("Function", "Arn"),
                "PayloadFormatVersion": "2.0",
            },
        },
        "Route": {
            "Type": "AWS::ApiGatewayV2::Route",
            "Properties": {"ApiId": ref("Api"), "RouteKey": "POST /v1/{cluster}", "Target": target},
        },
        "Stage": {
            "Type": "AWS::ApiGatewayV2::Stage",
            "Properties": {
                "ApiId": ref("Api"),
                "StageName": "$default",
                "AutoDeploy": True,
                "DefaultRouteSettings": {"ThrottlingRateLimit": 1000, "ThrottlingBurstLimit": 2000},
            },
        },
    }
    outputs = stack.deploy(resources, Id=ref("Api"), Url=att("Api", "ApiEndpoint"), Stage=ref("Stage"))
    gateway = stack.aws.client("apigatewayv2")
    (route,) = gateway.get_routes(ApiId=outputs["Id"])["Items"]
    (integration,) = gateway.get_integrations(ApiId=outputs["Id"])["Items"]
    assert outputs["Id"] in outputs["Url"]
    assert outputs["Stage"] == "$default"
    assert route["Target"] == f"integrations/{integration['IntegrationId']}"
    resources["Route"] = changed(resources["Route"], RouteKey="POST /v2/{cluster}")
    resources["Stage"] = changed(resources["Stage"], DefaultRouteSettings={"ThrottlingRateLimit": 5})
    assert stack.deploy(resources, Id=ref("Api"))["Id"] == outputs["Id"]
    assert [one["RouteKey"] for one in gateway.get_routes(ApiId=outputs["Id"])["Items"]] == ["POST /v2/{cluster}"]
    stack.destroy()
    assert gateway.get_apis()["Items"] == []


def test_a_table_keeps_its_items_settings_and_name_through_an_update(stack: Stack) -> None:
    table = {
        "Type": "AWS::DynamoDB::Table",
        "Properties": {**KEY, "TimeToLiveSpecification": {"AttributeName": "expires", "Enabled": True}},
    }
    name = stack.deploy({"Table": table}, Name=ref("Table"))["Name"]
    dynamodb = stack.aws.client("dynamodb")
    dynamodb.put_item(TableName=name, Item={"pk": {"S": "1"}})
    backups = {"PointInTimeRecoveryEnabled": True}
    assert stack.deploy(
        {"Table": changed(table, PointInTimeRecoverySpecification=backups)}, Name=ref("Table"), Arn=att("Table", "Arn")
    ) == {"Name": name, "Arn": f"arn:aws:dynamodb:ap-northeast-2:123456789012:table/{name}"}
    assert dynamodb.scan(TableName=name)["Count"] == 1
    assert dynamodb.describe_time_to_live(TableName=name)["TimeToLiveDescription"]["AttributeName"] == "expires"
    described = dynamodb.describe_continuous_backups(TableName=name)["ContinuousBackupsDescription"]
    assert described["PointInTimeRecoveryDescription"]["PointInTimeRecoveryStatus"] == "ENABLED"
    stack.destroy()
    assert dynamodb.list_tables()["TableNames"] == []


def test_a_global_table_is_a_table_with_its_replicas_settings(stack: Stack) -> None:
    replica = {"Region": "ap-northeast-2", "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": True}}
    table = {
        "Type": "AWS::DynamoDB::GlobalTable",
        "Properties": {**KEY, "Replicas": [replica], "StreamSpecification": {"StreamViewType": "NEW_IMAGE"}},
    }
    outputs = stack.deploy({"T": table}, Name=ref("T"), Arn=att("T", "Arn"), Stream=att("T", "StreamArn"))
    assert outputs["Arn"].endswith(f"table/{outputs['Name']}")
    assert outputs["Stream"].startswith(outputs["Arn"])
    backups = stack.aws.client("dynamodb").describe_continuous_backups(TableName=outputs["Name"])
    recovery = backups["ContinuousBackupsDescription"]["PointInTimeRecoveryDescription"]
    assert recovery["PointInTimeRecoveryStatus"] == "ENABLED"


def test_a_function_keeps_its_layers_and_follows_a_new_version_of_one(stack: Stack) -> None:
    s3 = stack.aws.client("s3")
    s3.create_bucket(Bucket="code", CreateBucketConfiguration={"LocationConstraint": "ap-northeast-2"})
    for key in ("1.zip", "2.zip"):
        s3.put_object(Bucket="code", Key=key, Body=_empty_zip())
    layer = {"Type": "AWS::Lambda::LayerVersion", "Properties": {"Content": {"S3Bucket": "code", "S3Key": "1.zip"}}}
    resources = {"Role": ROLE, "Function": changed(FUNCTION, Layers=[ref("Layer")]), "Layer": layer}
    outputs = stack.deploy(resources, Name=ref("Function"), Layer=ref("Layer"))
    lambda_ = stack.aws.client("lambda")
    configuration = lambda_.get_function_configuration(FunctionName=outputs["Name"])
    assert configuration["Architectures"] == ["arm64"]
    assert [one["Arn"] for one in configuration["Layers"]] == [outputs["Layer"]]
    resources["Layer"] = changed(layer, Content={"S3Bucket": "code", "S3Key": "2.zip"})
    again = stack.deploy(resources, Name=ref("Function"), Layer=ref("Layer"))
    assert again["Name"] == outputs["Name"]
    assert again["Layer"] != outputs["Layer"]
    configuration = lambda_.get_function_configuration(FunctionName=outputs["Name"])
    assert [one["Arn"] for one in configuration["Layers"]] == [again["Layer"]]


def test_versions_aliases_and_urls_lead_to_the_function(stack: Stack) -> None:
    function = {"FunctionName": ref("Function")}
    resources = {
        "Role": ROLE,
        "Function": FUNCTION,
        "Version": {"Type": "AWS::Lambda::Version", "Properties": function},
        "Alias": {
            "Type": "AWS::Lambda::Alias",
            "Properties": {**function, "Name": "live", "FunctionVersion": att("Version", "Version")},
        },
        "Url": {
            "Type": "AWS::Lambda::Url",
            "Properties": {"TargetFunctionArn": att("Function", "Arn"), "AuthType": "NONE"},
        },
    }
    outputs = stack.deploy(resources, Alias=ref("Alias"), Version=ref("Version"), Url=att("Url", "FunctionUrl"))
    assert outputs["Alias"].endswith(":live")
    assert outputs["Version"].endswith(":1")
    assert outputs["Url"].startswith("https://")
    stack.destroy()
    assert stack.aws.client("lambda").list_functions()["Functions"] == []


def test_a_queue_keeps_its_policy_and_messages_when_its_settings_change(stack: Stack) -> None:
    resources: Json = {
        "Queue": {"Type": "AWS::SQS::Queue", "Properties": {"VisibilityTimeout": 60}},
        "Policy": {
            "Type": "AWS::SQS::QueuePolicy",
            "Properties": {"Queues": [ref("Queue")], "PolicyDocument": ANYBODY},
        },
    }
    url = stack.deploy(resources, Url=ref("Queue"))["Url"]
    sqs = stack.aws.client("sqs")
    sqs.send_message(QueueUrl=url, MessageBody="stays")
    resources["Queue"] = changed(resources["Queue"], VisibilityTimeout=70, MessageRetentionPeriod=300)
    stack.deploy(resources)
    attributes = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["All"])["Attributes"]
    assert attributes["VisibilityTimeout"] == "70"
    assert attributes["MessageRetentionPeriod"] == "300"
    assert json.loads(attributes["Policy"]) == ANYBODY
    assert sqs.receive_message(QueueUrl=url)["Messages"][0]["Body"] == "stays"


def test_a_rule_keeps_its_name_when_it_changes(stack: Stack) -> None:
    rule = {"Type": "AWS::Events::Rule", "Properties": {"ScheduleExpression": "rate(1 minute)"}}
    name = stack.deploy({"Rule": rule}, Name=ref("Rule"))["Name"]
    again = stack.deploy({"Rule": changed(rule, ScheduleExpression="rate(5 minutes)")}, Name=ref("Rule"))
    assert again["Name"] == name
    (found,) = stack.aws.client("events").list_rules()["Rules"]
    assert found["ScheduleExpression"] == "rate(5 minutes)"


def test_a_role_has_the_policies_of_aws_it_names(stack: Stack) -> None:
    policy = "arn:aws:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole"
    arn = stack.deploy({"Role": changed(ROLE, ManagedPolicyArns=[policy])}, Arn=att("Role", "Arn"))["Arn"]
    assert stack.aws.iam.allowed(arn, "logs:PutLogEvents")
    assert stack.deploy({"Role": ROLE}, Arn=att("Role", "Arn"))["Arn"] == arn
    assert not stack.aws.iam.allowed(arn, "logs:PutLogEvents")
    stack.destroy()


def test_alarms_schedules_and_secrets_have_their_names_and_arns(stack: Stack) -> None:
    alarm = {
        "Type": "AWS::CloudWatch::Alarm",
        "Properties": {
            "MetricName": "Errors",
            "Namespace": "AWS/Lambda",
            "Statistic": "Sum",
            "Period": 60,
            "Threshold": 1,
            "EvaluationPeriods": 1,
            "ComparisonOperator": "GreaterThanThreshold",
        },
    }
    schedule = {
        "Type": "AWS::Scheduler::Schedule",
        "Properties": {
            "ScheduleExpression": "rate(1 hour)",
            "FlexibleTimeWindow": {"Mode": "OFF"},
            "Target": {
                "Arn": "arn:aws:lambda:ap-northeast-2:123456789012:function:f",
                "RoleArn": "arn:aws:iam::1:role/r",
            },
        },
    }
    any_alarm = {"Type": "AWS::CloudWatch::CompositeAlarm", "Properties": {"AlarmRule": "ALARM(x)"}}
    generated = {"GenerateStringKey": "token", "SecretStringTemplate": '{"user": "x"}', "PasswordLength": 20}
    secret = {"Type": "AWS::SecretsManager::Secret", "Properties": {"GenerateSecretString": generated}}
    resources = {"Alarm": alarm, "Any": any_alarm, "Schedule": schedule, "Secret": secret}
    values = {"Alarm": att("Alarm", "Arn"), "Any": att("Any", "Arn"), "Schedule": att("Schedule", "Arn")}
    outputs = stack.deploy(resources, **values, Name=ref("Alarm"), Secret=ref("Secret"))
    assert outputs["Alarm"] == f"arn:aws:cloudwatch:ap-northeast-2:123456789012:alarm:{outputs['Name']}"
    assert ":alarm:" in outputs["Any"]
    assert ":schedule/default/" in outputs["Schedule"]
    held = json.loads(_secret(stack, outputs["Secret"]))
    assert held["user"] == "x"
    assert len(held["token"]) == 20
    resources["Alarm"] = changed(alarm, Threshold=2)
    resources["Schedule"] = changed(schedule, ScheduleExpression="rate(2 hours)")
    resources["Secret"] = changed(secret, Description="changed")
    assert stack.deploy(resources, Name=ref("Alarm"))["Name"] == outputs["Name"]
    (found,) = stack.aws.client("cloudwatch").describe_alarms()["MetricAlarms"]
    assert found["Threshold"] == 2
    assert json.loads(_secret(stack, outputs["Secret"])) == held
    stack.destroy()
    assert stack.aws.client("cloudwatch").describe_alarms()["MetricAlarms"] == []
    assert stack.aws.client("scheduler").list_schedules()["Schedules"] == []


def test_what_does_nothing_here_exists_all_the_same(stack: Stack) -> None:
    metadata = {"Type": "AWS::CDK::Metadata", "Properties": {"Analytics": "v2"}}
    assert stack.deploy({"Metadata": metadata}, Name=ref("Metadata"))["Name"].startswith("s-Metadata-")


def test_an_unknown_type_fails_the_deploy_by_name_and_leaves_no_stack(stack: Stack) -> None:
    with pytest.raises(ClientError, match="AWS::Unheard::Of"):
        stack.deploy({"Thing": {"Type": "AWS::Unheard::Of"}})
    stack.deploy({"Queue": {"Type": "AWS::SQS::Queue"}})


def test_a_resource_that_cannot_be_made_says_why_and_leaves_no_stack(stack: Stack) -> None:
    table = {"Type": "AWS::DynamoDB::Table", "Properties": {**KEY, "KeySchema": []}}
    with pytest.raises(ClientError, match=r"ValidationError.*CreateTable"):
        stack.deploy({"Table": table})
    stack.deploy({"Table": {"Type": "AWS::DynamoDB::Table", "Properties": KEY}})


def test_a_parameter_left_at_its_default_may_keep_its_previous_value(aws: SandboxAws) -> None:
    parameters = {"BootstrapVersion": {"Type": "String", "Default": "31"}}
    template: Json = {"Parameters": parameters, "Resources": {"Queue": {"Type": "AWS::SQS::Queue"}}}
    cloudformation = aws.client("cloudformation")
    cloudformation.create_stack(StackName="s", TemplateBody=json.dumps(template))
    template["Resources"]["More"] = {"Type": "AWS::SQS::Queue"}
    kept = [{"ParameterKey": "BootstrapVersion", "UsePreviousValue": True}]
    cloudformation.update_stack(StackName="s", TemplateBody=json.dumps(template), Parameters=kept)
    assert len(aws.client("sqs").list_queues()["QueueUrls"]) == 2


def test_what_is_to_be_retained_outlives_the_stack(stack: Stack) -> None:
    kept = {"Type": "AWS::DynamoDB::Table", "Properties": KEY, "DeletionPolicy": "Retain"}
    stack.deploy({"Table": kept, "Queue": {"Type": "AWS::SQS::Queue"}})
    stack.destroy()
    assert len(stack.aws.client("dynamodb").list_tables()["TableNames"]) == 1
    assert "QueueUrls" not in stack.aws.client("sqs").list_queues()


def _secret(stack: Stack, arn: str) -> str:
    return str(stack.aws.client("secretsmanager").get_secret_value(SecretId=arn)["SecretString"])


def _empty_zip() -> bytes:
    return b"PK\x05\x06" + bytes(18)
