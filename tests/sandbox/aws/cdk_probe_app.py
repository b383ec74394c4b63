"""A stack with one of everything the sandbox's CloudFormation must do. `PROBE_STEP=2` changes some of it."""

import os

import aws_cdk as cdk
from aws_cdk import aws_apigatewayv2 as http
from aws_cdk import aws_apigatewayv2_integrations as integrations
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_lambda_event_sources as sources
from aws_cdk import aws_logs as logs
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_scheduler as scheduler
from aws_cdk import aws_scheduler_targets as scheduler_targets
from aws_cdk import aws_secretsmanager as secretsmanager
from aws_cdk import aws_sqs as sqs
from constructs import Construct

CHANGED = os.environ.get("PROBE_STEP") == "2"
KEY = dynamodb.Attribute(name="pk", type=dynamodb.AttributeType.STRING)


class Probe(cdk.Stack):
    def __init__(self, scope: Construct, name: str) -> None:
        super().__init__(scope, name)
        self.function = self._function()
        self._queues()
        self._tables()
        self._entrances()
        self._alarms()
        self._rest()

    def _function(self) -> lambda_.Function:
        content = lambda_.Code.from_asset(os.environ["PROBE_LAYER"])
        layer = lambda_.LayerVersion(
            self, "Layer", code=content, compatible_architectures=[lambda_.Architecture.ARM_64]
        )
        function = lambda_.Function(
            self,
            "Function",
            runtime=lambda_.Runtime.PYTHON_3_13,
            architecture=lambda_.Architecture.ARM_64,
            handler="index.handler",
            code=lambda_.Code.from_inline(f"def handler(event, context):\n    return {2 if CHANGED else 1}\n"),
            layers=[layer],
            environment={"STEP": "2" if CHANGED else "1"},
            recursive_loop=lambda_.RecursiveLoop.ALLOW,
            log_group=logs.LogGroup(self, "Logs", removal_policy=cdk.RemovalPolicy.DESTROY),
        )
        alias = lambda_.Alias(self, "Alias", alias_name="live", version=function.current_version)
        url = function.add_function_url(auth_type=lambda_.FunctionUrlAuthType.NONE)
        cdk.CfnOutput(self, "FunctionName", value=function.function_name)
        cdk.CfnOutput(self, "AliasArn", value=alias.function_arn)
        cdk.CfnOutput(self, "FunctionUrl", value=url.url)
        cdk.CfnOutput(self, "LayerArn", value=layer.layer_version_arn)
        cdk.CfnOutput(self, "RoleArn", value=function.role.role_arn if function.role else "")
        return function

    def _queues(self) -> None:
        failed = sqs.Queue(self, "Failed")
        queue = sqs.Queue(
            self,
            "Queue",
            visibility_timeout=cdk.Duration.seconds(70 if CHANGED else 60),
            dead_letter_queue=sqs.DeadLetterQueue(queue=failed, max_receive_count=3),
            enforce_ssl=True,
        )
        hints = sqs.Queue(
            self,
            "Hints",
            queue_name="probe.fifo",
            fifo=True,
            deduplication_scope=sqs.DeduplicationScope.MESSAGE_GROUP,
            fifo_throughput_limit=sqs.FifoThroughputLimit.PER_MESSAGE_GROUP_ID,
        )
        self.function.add_event_source(sources.SqsEventSource(queue, batch_size=10, report_batch_item_failures=True))
        self.function.add_event_source(sources.SqsEventSource(hints, batch_size=1))
        pattern = events.EventPattern(source=["aws.ec2"])
        events.Rule(self, "Rule", event_pattern=pattern, targets=[targets.SqsQueue(queue)])
        minute = events.Schedule.rate(cdk.Duration.minutes(1))
        events.Rule(self, "Minute", schedule=minute, targets=[targets.LambdaFunction(self.function)])
        cdk.CfnOutput(self, "QueueUrl", value=queue.queue_url)
        cdk.CfnOutput(self, "HintsUrl", value=hints.queue_url)

    def _tables(self) -> None:
        table = dynamodb.Table(
            self,
            "Table",
            partition_key=KEY,
            billing_mode=dynamodb.BillingMode.PAY_PER_REQUEST,
            time_to_live_attribute="expires",
            point_in_time_recovery_specification=dynamodb.PointInTimeRecoverySpecification(
                point_in_time_recovery_enabled=True
            ),
            removal_policy=cdk.RemovalPolicy.DESTROY,
        )
        newer = dynamodb.TableV2(
            self, "Newer", partition_key=KEY, time_to_live_attribute="ttl", removal_policy=cdk.RemovalPolicy.DESTROY
        )
        table.grant_read_write_data(self.function)
        newer.grant_read_data(self.function)
        cdk.CfnOutput(self, "TableName", value=table.table_name)
        cdk.CfnOutput(self, "NewerArn", value=newer.table_arn)

    def _entrances(self) -> None:
        api = http.HttpApi(self, "Api")
        integration = integrations.HttpLambdaIntegration("Notify", self.function)
        api.add_routes(path="/v1/clusters/{cluster}/{token}", methods=[http.HttpMethod.POST], integration=integration)
        cdk.CfnOutput(self, "ApiUrl", value=api.api_endpoint)
        cdk.CfnOutput(self, "ApiId", value=api.api_id)

    def _alarms(self) -> None:
        alarm = cloudwatch.Alarm(
            self, "Alarm", metric=self.function.metric_errors(), threshold=2 if CHANGED else 1, evaluation_periods=1
        )
        rule = cloudwatch.AlarmRule.from_alarm(alarm, cloudwatch.AlarmState.ALARM)
        cloudwatch.CompositeAlarm(self, "Any", alarm_rule=rule)
        cdk.CfnOutput(self, "AlarmName", value=alarm.alarm_name)
        cdk.CfnOutput(self, "AlarmArn", value=alarm.alarm_arn)

    def _rest(self) -> None:
        secret = secretsmanager.Secret(self, "Secret")
        secret.grant_read(self.function)
        every = scheduler.ScheduleExpression.rate(cdk.Duration.hours(1))
        scheduler.Schedule(self, "Hourly", schedule=every, target=scheduler_targets.LambdaInvoke(self.function))
        s3.Bucket(self, "Bucket", enforce_ssl=True, removal_policy=cdk.RemovalPolicy.DESTROY)
        role = iam.Role(self, "NodeRole", assumed_by=iam.ServicePrincipal("ec2.amazonaws.com"))
        profile = iam.InstanceProfile(self, "Profile", role=role)
        if CHANGED:
            sqs.Queue(self, "Added")
        cdk.CfnOutput(self, "SecretArn", value=secret.secret_arn)
        cdk.CfnOutput(self, "ProfileArn", value=profile.instance_profile_arn)


app = cdk.App()
Probe(app, "probe")
app.synth()
