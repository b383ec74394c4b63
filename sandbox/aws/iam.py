"""What a role's policies allow, by action. Resources and conditions are not weighed: that is a template's test."""

import json
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from typing import Any

from moto.iam.models import iam_backends

from sandbox.aws.actions import actions
from sandbox.aws.defaults import ACCOUNT
from sandbox.aws.protocol import AwsError, Call

Statement = dict[str, Any]


class Iam:
    """Answers from the policies in moto's IAM, inline and attached."""

    def allowed(self, role_arn: str, action: str) -> bool:
        """Whether some statement allows the action and none denies it outright."""
        statements = list(_statements(role_arn))
        if any(_unconditional_deny(one) and _names(one, action) for one in statements):
            return False
        return any(one["Effect"] == "Allow" and _names(one, action) for one in statements)

    def granted(self, role_arn: str) -> frozenset[str]:
        """The action patterns the role's statements allow, as written."""
        allowing = (one for one in _statements(role_arn) if one["Effect"] == "Allow")
        return frozenset(pattern for one in allowing for pattern in _listed(one.get("Action")))

    def unused(self, role_arn: str, used: Iterable[str]) -> frozenset[str]:
        """Patterns that allow nothing of what was used: what the role has for nothing."""
        needed = tuple(used)
        return frozenset(p for p in self.granted(role_arn) if not any(_matches(p, action) for action in needed))

    def demand(self, role_arn: str, call: Call) -> None:
        """Refuse a call that the role's policies don't allow."""
        for action in sorted(actions(call)):
            if not self.allowed(role_arn, action):
                code = "UnauthorizedOperation" if call.service == "ec2" else "AccessDeniedException"
                raise AwsError(code, f"{role_arn} is not authorized to perform: {action}", 403)


def _statements(role_arn: str) -> Iterator[Statement]:
    role = iam_backends[ACCOUNT]["aws"].get_role_by_arn(role_arn)
    for inline in role.policies.values():
        yield from _of_document(inline)
    for managed in role.managed_policies.values():
        current = next(version for version in managed.versions if version.is_default)
        yield from _of_document(current.document)


def _of_document(document: Any) -> Iterator[Statement]:
    parsed = json.loads(document) if isinstance(document, str) else document
    statements = parsed["Statement"]
    yield from statements if isinstance(statements, list) else [statements]


def _unconditional_deny(statement: Statement) -> bool:
    return statement["Effect"] == "Deny" and not statement.get("Condition")


def _names(statement: Statement, action: str) -> bool:
    if "NotAction" in statement:
        return not any(_matches(pattern, action) for pattern in _listed(statement["NotAction"]))
    return any(_matches(pattern, action) for pattern in _listed(statement.get("Action")))


def _listed(value: Any) -> list[str]:
    if value is None:
        return []
    return [value] if isinstance(value, str) else list(value)


def _matches(pattern: str, action: str) -> bool:
    return fnmatchcase(action.lower(), pattern.lower())
