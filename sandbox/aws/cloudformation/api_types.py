"""Skipped types whose properties are an operation's parameters: HTTP APIs, alarms, schedules, subscriptions."""

from collections.abc import Mapping
from dataclasses import replace

from sandbox.aws.cloudformation.kinds import REFERENCE, ApiKind, Clients, Kind, Made, Properties
from sandbox.aws.defaults import ACCOUNT


def api_types(region: str) -> Mapping[str, Kind]:
    """Resource type → what is done for it."""
    return {**_http_api_types(), **_alarm_type(region), **_other_types(region)}


def _http_api_types() -> Mapping[str, Kind]:
    api = ApiKind(
        service="apigatewayv2",
        create="CreateApi",
        update="UpdateApi",
        delete="DeleteApi",
        reference="ApiId",
        keys={"ApiId": REFERENCE},
        attributes={"ApiId": "{reference}", "ApiEndpoint": "{ApiEndpoint}"},
    )
    stage = replace(
        api,
        create="CreateStage",
        update="",
        delete="DeleteStage",
        reference="StageName",
        keys={"ApiId": "ApiId", "StageName": REFERENCE},
        attributes={},
    )
    integration = replace(
        stage,
        create="CreateIntegration",
        update="UpdateIntegration",
        delete="DeleteIntegration",
        reference="IntegrationId",
        keys={"ApiId": "ApiId", "IntegrationId": REFERENCE},
    )
    route = replace(
        stage,
        create="CreateRoute",
        update="UpdateRoute",
        delete="DeleteRoute",
        reference="RouteId",
        keys={"ApiId": "ApiId", "RouteId": REFERENCE},
        attributes={"RouteId": "{reference}"},
    )
    kinds = {"Api": api, "Stage": stage, "Integration": integration, "Route": route}
    return {f"AWS::ApiGatewayV2::{name}": kind.kind() for name, kind in kinds.items()}


def _alarm_type(region: str) -> Mapping[str, Kind]:
    metric = ApiKind(
        service="cloudwatch",
        create="PutMetricAlarm",
        update="PutMetricAlarm",
        reference="AlarmName",
        keys={"AlarmName": REFERENCE},
        name_property="AlarmName",
        attributes={"Arn": f"arn:aws:cloudwatch:{region}:{ACCOUNT}:alarm:{{reference}}"},
    )
    return {"AWS::CloudWatch::Alarm": replace(metric.kind(), delete=_delete_alarm)}


def _other_types(region: str) -> Mapping[str, Kind]:
    schedule = ApiKind(
        service="scheduler",
        create="CreateSchedule",
        update="UpdateSchedule",
        delete="DeleteSchedule",
        reference="Name",
        keys={"Name": REFERENCE},
        name_property="Name",
        attributes={"Arn": f"arn:aws:scheduler:{region}:{ACCOUNT}:schedule/default/{{reference}}"},
    )
    subscription = ApiKind(
        service="sns",
        create="Subscribe",
        delete="Unsubscribe",
        reference="SubscriptionArn",
        keys={"SubscriptionArn": REFERENCE},
        attributes={"Arn": "{reference}"},
    )
    return {"AWS::Scheduler::Schedule": schedule.kind(), "AWS::SNS::Subscription": subscription.kind()}


def _delete_alarm(clients: Clients, made: Made, _: Properties) -> None:
    clients("cloudwatch").delete_alarms(AlarmNames=[made.reference])
