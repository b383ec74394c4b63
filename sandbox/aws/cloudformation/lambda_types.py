"""Types of Lambda: aliases and function URLs, which moto skips; layers and versions, to which it can't refer."""

from collections.abc import Mapping
from dataclasses import replace

from sandbox.aws.cloudformation.kinds import ApiKind, Clients, Kind, Made, Properties


def lambda_types() -> Mapping[str, Kind]:
    """Resource type → what is done for it."""
    layer = ApiKind(
        service="lambda",
        create="PublishLayerVersion",
        reference="LayerVersionArn",
        keys={},
        name_property="LayerName",
    )
    version = ApiKind(
        service="lambda",
        create="PublishVersion",
        reference="FunctionArn",
        keys={},
        attributes={"Version": "{Version}", "FunctionArn": "{reference}"},
    )
    alias = ApiKind(
        service="lambda",
        create="CreateAlias",
        update="UpdateAlias",
        delete="DeleteAlias",
        reference="AliasArn",
        keys={"FunctionName": "FunctionName", "Name": "Name"},
        attributes={"AliasArn": "{reference}"},
    )
    url = ApiKind(
        service="lambda",
        create="CreateFunctionUrlConfig",
        update="UpdateFunctionUrlConfig",
        delete="DeleteFunctionUrlConfig",
        reference="FunctionArn",
        keys={"FunctionName": "TargetFunctionArn"},
        prepare=_on_target,
        attributes={"FunctionArn": "{reference}", "FunctionUrl": "{FunctionUrl}"},
    )
    # A version outlives the template that published it, as with AWS's DeletionPolicy for code that is in use.
    return {
        "AWS::Lambda::LayerVersion": replace(layer.kind(), delete=_delete_layer_version),
        "AWS::Lambda::Version": replace(version.kind(), update=lambda _, made, __: made),
        "AWS::Lambda::Alias": alias.kind(),
        "AWS::Lambda::Url": url.kind(),
    }


def _delete_layer_version(clients: Clients, made: Made, _: Properties) -> None:
    name, version = made.reference.split(":")[-2:]
    clients("lambda").delete_layer_version(LayerName=name, VersionNumber=int(version))


def _on_target(properties: Properties) -> Properties:
    return {**properties, "FunctionName": properties["TargetFunctionArn"]}
