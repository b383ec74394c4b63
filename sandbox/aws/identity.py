"""STS GetCallerIdentity for the sandbox's own keys, which moto has never heard of."""

from sandbox.aws.credentials import SESSION_NAME, Credentials
from sandbox.aws.defaults import ACCOUNT
from sandbox.aws.gateway import Operations, PassOn
from sandbox.aws.protocol import Call


class Identity:
    """Tells a caller which role it is."""

    def __init__(self, credentials: Credentials) -> None:
        self._credentials = credentials

    def operations(self) -> Operations:
        """What is answered here instead of by moto."""
        return {("sts", "GetCallerIdentity"): self._get_caller_identity}

    def _get_caller_identity(self, call: Call) -> object:
        role = self._credentials.role(call.access_key)
        if role is None:
            raise PassOn
        name = role.rpartition("/")[2]
        arn = f"arn:aws:sts::{ACCOUNT}:assumed-role/{name}/{SESSION_NAME}"
        return {"UserId": f"AROASANDBOX:{SESSION_NAME}", "Account": ACCOUNT, "Arn": arn}
