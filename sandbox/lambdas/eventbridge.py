"""EventBridge's default bus: events and schedules against the template's rules, on to their targets."""

import logging
import time
import uuid
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from botocore.exceptions import BotoCoreError, ClientError

from sandbox.lambdas.deployed import Deployment, client
from sandbox.lambdas.environment import encode
from sandbox.lambdas.event_pattern import matches
from sandbox.lambdas.outcome import Json
from sandbox.lambdas.schedules import Schedules
from sandbox.lambdas.specs import Rule, Target
from sandbox.lambdas.target_input import target_input

_log = logging.getLogger(__name__)


class EventBridge:
    """`invoke_async` takes a function's logical id and its event."""

    def __init__(
        self,
        rules: Sequence[Rule],
        deployment: Deployment,
        endpoint: str,
        speed: float,
        invoke_async: Callable[[str, Json], None],
    ) -> None:
        self._rules = {rule.logical_id: rule for rule in rules}
        self._deployment = deployment
        self._sqs = client("sqs", endpoint, deployment.region)
        self._invoke_async = invoke_async
        self._schedules = Schedules(rules, speed, self._fire)

    def start(self) -> None:
        """Let the schedules run."""
        self._schedules.start()

    def stop(self) -> None:
        """Stop the schedules."""
        self._schedules.stop()
        self._sqs.close()

    def put(self, event: Json) -> list[str]:
        """Deliver an event as AWS's services emit it; id, time, account and region are filled in. The rules it hit."""
        whole = {**self._envelope(datetime.fromtimestamp(time.time(), UTC)), **event}
        hit = [rule for rule in self._rules.values() if rule.enabled and rule.event_pattern is not None]
        hit = [rule for rule in hit if matches(rule.event_pattern or {}, whole)]
        for rule in hit:
            self._deliver(rule, whole)
        return [rule.logical_id for rule in hit]

    def fire(self, rule: str) -> None:
        """Fire a scheduled rule now, whatever its clock says."""
        self._fire(self._rules[rule], datetime.fromtimestamp(time.time(), UTC))

    def _fire(self, rule: Rule, at: datetime) -> None:
        arn = self._rule_arn(rule)
        scheduled = {"detail-type": "Scheduled Event", "source": "aws.events", "resources": [arn], "detail": {}}
        self._deliver(rule, {**self._envelope(at), **scheduled})

    def _deliver(self, rule: Rule, event: Json) -> None:
        name = self._deployment.rule_names[rule.logical_id]
        for target in rule.targets:
            given = target_input(target, event, name, self._rule_arn(rule))
            try:
                self._send(target, given)
            except (BotoCoreError, ClientError) as error:
                # EventBridge would try again for a day; here the cause is a mistake in the stack, so it is shown.
                _log.error("rule %s, target %s: not delivered: %s", rule.logical_id, target.resource, error)

    def _send(self, target: Target, given: Json) -> None:
        queue = self._deployment.queues.get(target.resource)
        if queue is None:
            self._invoke_async(target.resource, given)
            return
        group = {"MessageGroupId": target.message_group_id} if target.message_group_id else {}
        body = given if isinstance(given, str) else encode(given).decode()
        self._sqs.send_message(QueueUrl=queue.url, MessageBody=body, **group)

    def _envelope(self, at: datetime) -> Json:
        return {
            "version": "0",
            "id": str(uuid.uuid4()),
            "account": self._deployment.account,
            "time": at.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "region": self._deployment.region,
            "resources": [],
        }

    def _rule_arn(self, rule: Rule) -> str:
        name = self._deployment.rule_names[rule.logical_id]
        return f"arn:aws:events:{self._deployment.region}:{self._deployment.account}:rule/{name}"
