"""One access key for each role, so that a request says which role made it."""

import base64
import hashlib

from moto.sts.models import sts_backends

from sandbox.aws.defaults import ACCOUNT

SECRET_KEY = "sandbox-secret"  # noqa: S105  guards nothing: the sandbox listens on this machine only
ADMINISTRATOR_KEY = "AKIASANDBOXADMIN0000"
SESSION_NAME = "sandbox"


class Credentials:
    """Knows the access keys it gave out and those moto's AssumeRole gives out."""

    def __init__(self) -> None:
        self._role_of_key: dict[str, str] = {}

    def for_role(self, role_arn: str) -> dict[str, str]:
        """Environment variables that make an SDK act as the role; the same for the same role."""
        access_key = _access_key(role_arn)
        self._role_of_key[access_key] = role_arn
        return _environment(access_key)

    @staticmethod
    def administrator() -> dict[str, str]:
        """Environment variables of somebody who may do anything."""
        return _environment(ADMINISTRATOR_KEY)

    def role(self, access_key: str) -> str | None:
        """The ARN of the role behind a key, None for the administrator and strangers."""
        return self._role_of_key.get(access_key) or _assumed(access_key)

    @staticmethod
    def secret(access_key: str) -> str | None:
        """The secret that signs for a key, to verify a signature."""
        assumed = sts_backends[ACCOUNT]["aws"].get_assumed_role_from_access_key(access_key)
        return str(assumed.secret_access_key) if assumed else SECRET_KEY


def _access_key(role_arn: str) -> str:
    digest = base64.b32encode(hashlib.sha256(role_arn.encode()).digest()).decode()
    return f"ASIA{digest[:16]}"


def _environment(access_key: str) -> dict[str, str]:
    return {"AWS_ACCESS_KEY_ID": access_key, "AWS_SECRET_ACCESS_KEY": SECRET_KEY, "AWS_SESSION_TOKEN": "sandbox"}


def _assumed(access_key: str) -> str | None:
    assumed = sts_backends[ACCOUNT]["aws"].get_assumed_role_from_access_key(access_key)
    return str(assumed.role_arn) if assumed else None
