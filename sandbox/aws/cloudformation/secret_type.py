"""SecretsManager secrets, given or generated."""

import json
from collections.abc import Mapping
from typing import Any

from sandbox.aws.cloudformation.kinds import Clients, Kind, Made, Properties


def secret_type() -> Mapping[str, Kind]:
    """Resource type → what is done for it."""
    return {"AWS::SecretsManager::Secret": Kind(_create, _update, _delete, "Name", ("Id",))}


def _create(clients: Clients, name: str, properties: Properties) -> Made:
    client = clients("secretsmanager")
    secret = properties.get("SecretString") or _generated(client, properties.get("GenerateSecretString") or {})
    described = {key: properties[key] for key in ("Description", "KmsKeyId", "Tags") if key in properties}
    arn = client.create_secret(Name=name, SecretString=secret, **described)["ARN"]
    return Made(arn, {"Id": arn})


def _update(clients: Clients, made: Made, properties: Properties) -> Made:
    """A generated value stays: CloudFormation doesn't draw a new one on an update either."""
    if "SecretString" in properties:
        clients("secretsmanager").put_secret_value(SecretId=made.reference, SecretString=properties["SecretString"])
    return made


def _delete(clients: Clients, made: Made, _: Properties) -> None:
    clients("secretsmanager").delete_secret(SecretId=made.reference, ForceDeleteWithoutRecovery=True)


def _generated(client: Any, wanted: Properties) -> str:
    options = {key: value for key, value in wanted.items() if key not in ("SecretStringTemplate", "GenerateStringKey")}
    password: str = client.get_random_password(**options)["RandomPassword"]
    if "GenerateStringKey" not in wanted:
        return password
    return json.dumps({**json.loads(wanted["SecretStringTemplate"]), wanted["GenerateStringKey"]: password})
