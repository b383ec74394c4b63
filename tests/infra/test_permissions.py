"""Every IAM statement against AWS's own service authorization reference, which cfn-lint carries."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources

import pytest

from tests.infra.template import Json, Template, mapping, sequence, text

REFERENCE = json.loads((resources.files("cfnlint.data.AdditionalSpecs") / "Policies.json").read_text())
VERBS = ["disrupt", "interrupt", "notify", "provision", "reconcile", "refresh", "retire", "tick"]
OUR_TAG = "nodewright.dev/stack"


@dataclass(frozen=True)
class Statement:
    role: str
    effect: str
    actions: tuple[str, ...]
    resources: tuple[str, ...]
    conditions: dict[str, Json]

    @property
    def tested(self) -> dict[str, Json]:
        return {key: value for keys in self.conditions.values() for key, value in mapping(keys).items()}


def statements(template: Template) -> Iterator[Statement]:
    for policy in template.of("AWS::IAM::Policy").values():
        (role,) = sequence(policy["Roles"])
        for raw in sequence(mapping(policy["PolicyDocument"])["Statement"]):
            yield _statement(mapping(raw), text(role))


def of_verb(template: Template, verb: str) -> list[Statement]:
    role = text(template.function(verb)["Role"]).rpartition("/")[2]
    return [each for each in statements(template) if each.role == role]


@pytest.fixture(params=["template", "chosen_template"])
def every(request: pytest.FixtureRequest) -> list[Statement]:
    found = list(statements(request.getfixturevalue(request.param)))
    assert len(found) > 20
    return found


def test_roles_have_no_policies_but_those_walked_here(template: Template) -> None:
    """Otherwise a statement could hide from this file; the node role's managed policies are test_stack's."""
    for role in template.of("AWS::IAM::Role").values():
        assert "Policies" not in role
        trusted = mapping(sequence(mapping(role["AssumeRolePolicyDocument"])["Statement"])[0])
        assert set(mapping(trusted["Principal"])) == {"Service"}
    lambdas = [each for each in template.of("AWS::IAM::Role").values() if "ManagedPolicyArns" in each]
    assert len(lambdas) == 1
    assert not template.of("AWS::IAM::ManagedPolicy")


def test_every_action_is_spelled_out_and_known_to_aws(every: list[Statement]) -> None:
    for statement in every:
        for action in statement.actions:
            assert "*" not in action
            assert _resource_kinds(action) is not None, action


def test_all_resources_are_meant_only_where_aws_knows_no_narrower(every: list[Statement]) -> None:
    for statement in every:
        if "*" in statement.resources:
            assert statement.resources == ("*",)
            assert [each for each in statement.actions if _resource_kinds(each)] == []


def test_every_resource_is_of_a_kind_that_its_actions_work_on(every: list[Statement]) -> None:
    for statement in every:
        if statement.resources == ("*",):
            continue
        for resource in statement.resources:
            assert [each for each in statement.actions if _fits(each, resource)], resource
        for action in statement.actions:
            assert [each for each in statement.resources if _fits(action, each)], (action, statement.resources)


def test_tag_conditions_are_ones_that_aws_evaluates_on_those_resources(every: list[Statement]) -> None:
    """IAM refuses a misspelled key as little as one that its service never sets: both just never match."""
    for statement in every:
        for key in statement.tested:
            if key.startswith(("aws:ResourceTag/", "aws:RequestTag/")) and "ec2:" in statement.actions[0]:
                asked = f"{key.partition('/')[0]}/${{TagKey}}"
                for resource in statement.resources:
                    assert asked in _condition_keys(statement.actions[0], resource)


def test_whatever_ends_changes_or_tags_something_is_held_to_our_tag(every: list[Statement]) -> None:
    held = ("ec2:Terminate", "ec2:Delete", "ec2:CreateTags", "ec2:CreateLaunchTemplate", "iam:Create", "iam:Add")
    for statement in every:
        if any(action.startswith(held) for action in statement.actions):
            assert {f"aws:ResourceTag/{OUR_TAG}", f"aws:RequestTag/{OUR_TAG}"} & set(statement.tested)


@pytest.mark.parametrize("verb", ["disrupt", "provision", "reconcile"])
def test_launches_make_only_what_is_tagged_ours_from_templates_that_are(template: Template, verb: str) -> None:
    """Reconcile launches too: it finishes what a provision run that died left half done."""
    launching = [each for each in of_verb(template, verb) if "ec2:RunInstances" in each.actions]
    by_kind = {_kind(resource): each for each in launching for resource in each.resources}

    for kind in ("fleet", "instance", "volume", "network-interface", "spot-instances-request"):
        assert by_kind[kind].conditions == {"StringEquals": {f"aws:RequestTag/{OUR_TAG}": "Nodewright"}}
    assert by_kind["launch-template"].conditions == {"StringEquals": {f"aws:ResourceTag/{OUR_TAG}": "Nodewright"}}
    assert {kind for kind, each in by_kind.items() if not each.conditions} == {
        "image",
        "snapshot",
        "subnet",
        "security-group",
    }


@pytest.mark.parametrize("verb", ["interrupt", "notify", "refresh", "tick"])
def test_the_others_change_nothing_in_ec2_or_iam(template: Template, verb: str) -> None:
    changing = [
        action
        for statement in of_verb(template, verb)
        for action in statement.actions
        if action.startswith(("ec2:", "iam:")) and not action.startswith("ec2:Describe")
    ]
    assert changing == []


def test_only_roles_that_were_named_may_be_passed_and_to_ec2_alone(
    template: Template, chosen_template: Template
) -> None:
    named = {f"arn:aws:iam::123456789012:role/{name}" for name in ("AmazonEKSNodeRole", "teams/Batch")}

    assert {each.resources for each in _passing(template)} == {(template.outputs()["NodeRoleArn"],)}
    for statement in _passing(chosen_template):
        assert set(statement.resources) == {chosen_template.outputs()["NodeRoleArn"], *named}
        assert statement.conditions == {"StringEquals": {"iam:PassedToService": "ec2.amazonaws.com"}}


def test_instance_profiles_are_made_under_a_path_of_the_stack_alone(chosen_template: Template) -> None:
    profiles = {each for statement in statements(chosen_template) for each in statement.resources if "profile" in each}

    assert profiles == {"arn:aws:iam::123456789012:instance-profile/nodewright/Other/*"}


def test_notify_reads_cluster_items_and_sends_hints_and_nothing_else(template: Template) -> None:
    assert _beside_logs(template, "notify") == {"dynamodb:GetItem", "sqs:SendMessage"}
    assert _partitions(template, "notify") == ["CLUSTERS"]


def test_tick_lists_clusters_and_hints_at_reconcile_only(template: Template) -> None:
    assert _beside_logs(template, "tick") == {"dynamodb:Query", "sqs:SendMessage"}
    assert _partitions(template, "tick") == ["CLUSTERS"]
    (sending,) = [each for each in of_verb(template, "tick") if each.actions == ("sqs:SendMessage",)]
    assert len(sending.resources) == 1
    assert "Reconcile" in sending.resources[0]


def test_interrupt_marks_and_wakes_but_ends_nothing(template: Template) -> None:
    allowed = _beside_logs(template, "interrupt")
    assert "ec2:DescribeInstances" in allowed
    assert not [each for each in allowed if "Delete" in each and each.startswith("dynamodb:")]
    (sending,) = [each for each in of_verb(template, "interrupt") if "sqs:SendMessage" in each.actions]
    assert len(sending.resources) == 3


def test_disrupt_buys_and_wakes_retire_but_ends_nothing(template: Template) -> None:
    allowed = _beside_logs(template, "disrupt")
    assert "ec2:CreateFleet" in allowed
    assert "ec2:TerminateInstances" not in allowed
    (sending,) = [each for each in of_verb(template, "disrupt") if "sqs:SendMessage" in each.actions]
    (queue,) = sending.resources
    assert "RetireWorkQueue" in queue


def test_retire_ends_instances_and_makes_none(template: Template) -> None:
    assert {each for each in _beside_logs(template, "retire") if each.startswith(("ec2:", "iam:", "sqs:Send"))} == {
        "ec2:DescribeInstances",
        "ec2:TerminateInstances",
        "sqs:SendMessage",
    }
    (sending,) = [each for each in of_verb(template, "retire") if "sqs:SendMessage" in each.actions]
    assert [each for each in sending.resources if "RetireWorkQueue" not in each and "DisruptHints" not in each] == []


def test_refresh_writes_clusters_and_the_catalogue_of_its_region_but_no_claims(template: Template) -> None:
    assert _partitions(template, "refresh") == ["CLUSTERS", "REGION#eu-west-1"]


def test_instances_get_only_the_two_tags_that_launches_cannot_know(template: Template) -> None:
    tagging = [each for each in of_verb(template, "reconcile") if "ec2:CreateTags" in each.actions]
    (later,) = [each for each in tagging if "ec2:CreateAction" not in each.tested]

    assert later.tested["aws:TagKeys"] == ["Name", "karpenter.sh/nodeclaim"]
    assert later.tested[f"aws:ResourceTag/{OUR_TAG}"] == "Nodewright"


@pytest.mark.parametrize("verb", VERBS)
def test_a_function_writes_its_own_log_and_no_other(template: Template, verb: str) -> None:
    (writing,) = [each for each in of_verb(template, verb) if "logs:PutLogEvents" in each.actions]

    log = text(mapping(template.function(verb)["LoggingConfig"])["LogGroup"])
    assert writing.resources == (f"arn:aws:logs:eu-west-1:123456789012:log-group:{log}:*",)


@pytest.mark.parametrize("verb", ["disrupt", "interrupt", "provision", "reconcile", "retire"])
def test_a_function_empties_only_its_own_queue(template: Template, verb: str) -> None:
    (receiving,) = [each for each in of_verb(template, verb) if "sqs:ReceiveMessage" in each.actions]

    assert len(receiving.resources) == 1
    assert f"the-{verb.capitalize()}" in receiving.resources[0]


def test_queues_refuse_whatever_is_not_encrypted_on_the_way(template: Template) -> None:
    policies = template.of("AWS::SQS::QueuePolicy").values()

    assert len(policies) == 7
    for policy in policies:
        said = [mapping(each) for each in sequence(mapping(policy["PolicyDocument"])["Statement"])]
        (statement,) = [each for each in said if each["Effect"] == "Deny"]
        assert statement["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}


def _statement(raw: dict[str, Json], role: str) -> Statement:
    assert set(raw) <= {"Action", "Resource", "Effect", "Condition", "Sid"}, "NotAction and NotResource allow too much"
    assert raw["Effect"] == "Allow"
    return Statement(
        role=role,
        effect=text(raw["Effect"]),
        actions=tuple(text(each) for each in sequence(raw["Action"])),
        resources=tuple(text(each) for each in sequence(raw["Resource"])),
        conditions=mapping(raw.get("Condition", {})),
    )


def _resource_kinds(action: str) -> list[str] | None:
    """The kinds of resource an action supports, none for an action without; None for what AWS doesn't know."""
    service, _, name = action.partition(":")
    found = REFERENCE[service]["Actions"].get(name.lower())
    return None if found is None else found.get("Resources", [])


def _fits(action: str, resource: str) -> bool:
    service = action.partition(":")[0]
    kinds = _resource_kinds(action) or []
    formats = [each for kind in kinds for each in REFERENCE[service]["Resources"][kind]["ARNFormats"]]
    return any(re.fullmatch(_pattern(each), resource) for each in formats)


def _condition_keys(action: str, resource: str) -> list[str]:
    service = action.partition(":")[0]
    return [
        key
        for kind in REFERENCE[service]["Resources"].values()
        if any(re.fullmatch(_pattern(each), resource) for each in kind["ARNFormats"])
        for key in kind.get("ConditionKeys", [])
    ]


def _pattern(arn_format: str) -> str:
    """An account may be left out: AWS's own public parameters have none."""
    return re.sub(r"\$\{\w+\}", "[^:]*", arn_format)


def _kind(resource: str) -> str:
    return resource.rpartition(":")[2].partition("/")[0]


def _passing(template: Template) -> list[Statement]:
    return [each for each in statements(template) if "iam:PassRole" in each.actions]


def _beside_logs(template: Template, verb: str) -> set[str]:
    actions = {action for statement in of_verb(template, verb) for action in statement.actions}
    return actions - {"logs:CreateLogStream", "logs:PutLogEvents"}


def _partitions(template: Template, verb: str) -> Json:
    (found,) = [each for each in of_verb(template, verb) if each.actions[0].startswith("dynamodb:")]
    return mapping(found.conditions["ForAllValues:StringLike"])["dynamodb:LeadingKeys"]
