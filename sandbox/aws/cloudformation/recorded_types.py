"""Types that have no effect on anything that runs here: they exist, and have a name."""

from collections.abc import Mapping

from sandbox.aws.cloudformation.kinds import Clients, Kind, Made, Properties
from sandbox.aws.defaults import ACCOUNT

TYPES = (
    "AWS::CDK::Metadata",
    "AWS::Lambda::EventInvokeConfig",
    "AWS::Logs::LogStream",
    "AWS::Logs::MetricFilter",
    "AWS::Logs::QueryDefinition",
    "AWS::Logs::SubscriptionFilter",
    "AWS::SNS::TopicPolicy",
)


def recorded_types(region: str) -> Mapping[str, Kind]:
    """Resource type → a kind that keeps its name and does nothing else."""

    def create_composite_alarm(_: Clients, name: str, __: Properties) -> Made:
        return Made(name, {"Arn": f"arn:aws:cloudwatch:{region}:{ACCOUNT}:alarm:{name}"})

    # moto has no PutCompositeAlarm.
    composite_alarm = Kind(create_composite_alarm, _update, name_property="AlarmName", attributes=("Arn",))
    return {**dict.fromkeys(TYPES, Kind(_create, _update)), "AWS::CloudWatch::CompositeAlarm": composite_alarm}


def _create(_: Clients, name: str, __: Properties) -> Made:
    return Made(name)


def _update(_: Clients, made: Made, __: Properties) -> Made:
    return made
