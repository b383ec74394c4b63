"""The webhook's door: one route, throttled, its log without the path."""

import json

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_apigatewayv2 as gateway
from aws_cdk import aws_logs as logs
from aws_cdk.aws_apigatewayv2_integrations import HttpLambdaIntegration
from constructs import Construct

from infra.functions import VerbFunction
from infra.nag import acknowledge

ROUTE = "/v1/clusters/{cluster}/{token}"

#: The path holds the token, so no field that shows it: `routeKey` shows the placeholders only.
_LOGGED = (
    "requestId",
    "requestTime",
    "routeKey",
    "status",
    "responseLatency",
    "integrationLatency",
    "integrationStatus",
    "responseLength",
    "identity.sourceIp",
    "error.message",
)


class WebhookApi(Construct):
    """HTTP API with `POST /v1/clusters/{cluster}/{token}`; a 429 is harmless, since a hint is only a hint."""

    def __init__(self, scope: Construct, construct_id: str, *, name: str, notify: VerbFunction) -> None:
        super().__init__(scope, construct_id)
        self.api = gateway.HttpApi(
            self, "Api", api_name=name, create_default_stage=False, description="Kubernetes webhooks of Nodewright"
        )
        timeout = Duration.seconds(notify.verb.timeout_seconds)
        integration = HttpLambdaIntegration("Notify", notify.function, timeout=timeout)
        routes = self.api.add_routes(path=ROUTE, methods=[gateway.HttpMethod.POST], integration=integration)
        for route in routes:
            acknowledge(route, "AwsSolutions-APIG4", "API servers can't sign: notify checks the token in the path")
        self._stage(name)

    def _stage(self, name: str) -> None:
        log = logs.LogGroup(
            self,
            "Log",
            log_group_name=f"/aws/apigateway/{name}",
            retention=logs.RetentionDays.TWO_WEEKS,
            removal_policy=RemovalPolicy.DESTROY,
        )
        gateway.CfnStage(
            self,
            "Stage",
            api_id=self.api.api_id,
            stage_name="$default",
            auto_deploy=True,
            default_route_settings=gateway.CfnStage.RouteSettingsProperty(
                throttling_rate_limit=1000, throttling_burst_limit=2000
            ),
            access_log_settings=gateway.CfnStage.AccessLogSettingsProperty(
                destination_arn=log.log_group_arn,
                format=json.dumps({field: f"$context.{field}" for field in _LOGGED}),
            ),
        )
