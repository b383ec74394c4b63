"""The stack: who gets what. One per account, region and reachable network; it serves many clusters."""

from aws_cdk import Aws, CfnOutput, DefaultStackSynthesizer, Stack, Tags
from constructs import Construct

from infra.api import WebhookApi
from infra.events import HintQueue, Schedules, WorkQueue
from infra.functions import VERBS, Layers, VerbFunction, environment
from infra.interruptions import InterruptionRules
from infra.monitoring import Monitoring
from infra.nodes import Nodes
from infra.options import Options
from infra.permissions import PERMISSIONS, Estate
from infra.state import State
from infra.statements import STACK_TAG

#: EC2 takes back many instances in one moment; each event is a few short calls.
EVENTS_AT_ONCE = 10


class NodewrightStack(Stack):
    """Composes the constructs, and owns tags and outputs."""

    def __init__(self, scope: Construct, construct_id: str, *, options: Options) -> None:
        super().__init__(
            scope,
            construct_id,
            stack_name=options.stack_name,
            description="Nodewright: nodes for Kubernetes clusters, with nothing running on a node",
            # The rule would add a parameter that every later deployment must repeat.
            synthesizer=DefaultStackSynthesizer(generate_bootstrap_version_rule=False),
        )
        self.stack_tag = options.stack_name
        self.state = State(self, "State", retained=options.retain_state)
        self.nodes = Nodes(self, "Nodes", stack_id=self.stack_tag)
        self.hints = {verb: self._hint_queue(verb) for verb in ("provision", "reconcile", "disrupt")}
        self.retire = WorkQueue(self, "RetireWork", name=f"{self.stack_tag}-retire", timeout_seconds=_timeout("retire"))
        self.interrupt = WorkQueue(
            self, "InterruptWork", name=f"{self.stack_tag}-interrupt", timeout_seconds=_timeout("interrupt")
        )
        self.functions = self._functions(options)
        self._wake()
        self._outputs()
        Tags.of(self).add(STACK_TAG, self.stack_tag)

    def _hint_queue(self, verb: str) -> HintQueue:
        name = f"{self.stack_tag}-{verb}"
        return HintQueue(self, f"{verb.capitalize()}Hints", name=name, timeout_seconds=_timeout(verb))

    def _functions(self, options: Options) -> dict[str, VerbFunction]:
        shared = Layers(self, "Layers").all
        variables = environment(
            {
                "stack_id": self.stack_tag,
                "table": self.state.table.table_name,
                "provision_queue_url": self.hints["provision"].queue.queue_url,
                "reconcile_queue_url": self.hints["reconcile"].queue.queue_url,
                "disrupt_queue_url": self.hints["disrupt"].queue.queue_url,
                "retire_queue_url": self.retire.queue.queue_url,
                "node_role": self.nodes.role.role_name,
                "node_instance_profile": self.nodes.profile.instance_profile_name,
            }
        )
        estate = self._estate(options)
        functions = {}
        for verb in VERBS:
            function = VerbFunction(
                self, verb.name.capitalize(), verb=verb, stack_id=self.stack_tag, shared=shared, variables=variables
            )
            function.grant(PERMISSIONS[verb.name](estate))
            functions[verb.name] = function
        return functions

    def _estate(self, options: Options) -> Estate:
        named = [f"arn:{Aws.PARTITION}:iam::{Aws.ACCOUNT_ID}:role/{name}" for name in options.node_roles]
        return Estate(
            stack_id=self.stack_tag,
            table=self.state.table.table_arn,
            provision_queue=self.hints["provision"].queue.queue_arn,
            reconcile_queue=self.hints["reconcile"].queue.queue_arn,
            disrupt_queue=self.hints["disrupt"].queue.queue_arn,
            retire_queue=self.retire.queue.queue_arn,
            node_roles=(self.nodes.role.role_arn, *named),
        )

    def _wake(self) -> None:
        for verb, hints in self.hints.items():
            hints.wakes(self.functions[verb])
        self.retire.wakes(self.functions["retire"])
        self.interrupt.wakes(self.functions["interrupt"], at_once=EVENTS_AT_ONCE)
        InterruptionRules(self, "Interruptions", queue=self.interrupt.queue)
        Schedules(self, "Schedules", tick=self.functions["tick"], refresh=self.functions["refresh"])
        self.webhook = WebhookApi(self, "Webhook", name=self.stack_tag, notify=self.functions["notify"])
        Monitoring(
            self,
            "Monitoring",
            name=self.stack_tag,
            functions=list(self.functions.values()),
            queues=list(self.hints.values()),
            works=[self.retire, self.interrupt],
        )

    def _outputs(self) -> None:
        """Under stable names: `nodewright connect` and the sandbox read them."""
        outputs = {
            "StackId": self.stack_tag,
            "ApiUrl": self.webhook.api.api_endpoint,
            "TableName": self.state.table.table_name,
            "ProvisionQueueUrl": self.hints["provision"].queue.queue_url,
            "ReconcileQueueUrl": self.hints["reconcile"].queue.queue_url,
            "DisruptQueueUrl": self.hints["disrupt"].queue.queue_url,
            "InterruptQueueUrl": self.interrupt.queue.queue_url,
            "RetireQueueUrl": self.retire.queue.queue_url,
            "NodeRoleName": self.nodes.role.role_name,
            "NodeRoleArn": self.nodes.role.role_arn,
            "NodeInstanceProfileName": self.nodes.profile.instance_profile_name,
            "RefreshFunctionName": self.functions["refresh"].function.function_name,
            "ProvisionRoleArn": self.functions["provision"].role.role_arn,
            "ReconcileRoleArn": self.functions["reconcile"].role.role_arn,
            "DisruptRoleArn": self.functions["disrupt"].role.role_arn,
            "InterruptRoleArn": self.functions["interrupt"].role.role_arn,
            "RetireRoleArn": self.functions["retire"].role.role_arn,
        }
        for name, value in outputs.items():
            CfnOutput(self, name, value=value)


def _timeout(verb: str) -> int:
    return next(each.timeout_seconds for each in VERBS if each.name == verb)
