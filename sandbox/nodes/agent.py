"""The instances' kubelets and the cloud's node controller in one: an instance boots, reads its user data, joins.

A thread looks at EC2 a few times a second. An instance that runs for the boot delay becomes a Node if its
user data is right and its role may join; one that ends loses its Node, as EKS's cloud controller does it.
"""

import base64
import contextlib
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sandbox.controlplane.client import Client, ConflictError
from sandbox.nodes import machine
from sandbox.nodes.user_data import Joining, UnreadableUserDataError, read

# boto3 clients of the sandbox; their answers are what AWS documents.
AwsClient = Any
Instance = Mapping[str, Any]

_ENDED = {"shutting-down", "terminated", "stopping", "stopped"}


@dataclass(frozen=True, slots=True)
class ClusterToJoin:
    """What a node must have been told to reach this control plane."""

    name: str
    endpoint: str
    certificate_authority: str


@dataclass(slots=True)
class NodeAgent:
    """Runs between start and stop. `refused` says why instances didn't join."""

    clients: Callable[[str], AwsClient]
    kubernetes: Client
    cluster: ClusterToJoin
    boot_seconds: Callable[[str], float]
    """Instance id → how long it boots."""
    region: str
    joined: Callable[[str, str], None] = lambda _node, _instance: None
    refused: dict[str, str] = field(default_factory=dict)
    _seen: dict[str, float] = field(default_factory=dict)
    _nodes: dict[str, str] = field(default_factory=dict)
    _stop: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None
    _looking: threading.Lock = field(default_factory=threading.Lock)
    _types: dict[str, machine.Described] = field(default_factory=dict)

    def start(self) -> None:
        """Begin to look."""
        self._thread = threading.Thread(target=self._run, name="node-agent", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End; Nodes stay."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(timeout=10)

    def forget(self) -> None:
        """After a reset of AWS and the cluster: nothing was ever seen."""
        with self._looking:
            self._seen.clear()
            self._nodes.clear()
            self.refused.clear()

    def _run(self) -> None:
        while not self._stop.wait(0.2):
            # Whatever fails now (a reset under way, an injected throttle) is tried again at the next look.
            with contextlib.suppress(Exception):
                self.look()

    def look(self) -> None:
        """One look at EC2."""
        with self._looking:
            self._look()

    def _look(self) -> None:
        now = time.monotonic()
        for instance in self._instances():
            state, name = instance["State"]["Name"], instance["InstanceId"]
            if state in _ENDED:
                self._end(name)
            elif state == "running" and name not in self._nodes and name not in self.refused:
                started = self._seen.setdefault(name, now)
                if now - started >= self.boot_seconds(name):
                    self._boot(instance)

    def _instances(self) -> list[Instance]:
        pages = self.clients("ec2").get_paginator("describe_instances").paginate()
        return [i for page in pages for r in page["Reservations"] for i in r["Instances"]]

    def _end(self, instance_id: str) -> None:
        node = self._nodes.pop(instance_id, None)
        if node is not None:
            self.kubernetes.delete("v1", "Node", node)

    def _boot(self, instance: Instance) -> None:
        try:
            joining = self._joining(instance)
        except UnreadableUserDataError as error:
            self.refused[instance["InstanceId"]] = str(error)
            return
        node = self._node(instance, self._described(instance["InstanceType"]), joining)
        with contextlib.suppress(ConflictError):  # a second boot of the same instance finds its Node there
            self.kubernetes.create(node)
        self._nodes[instance["InstanceId"]] = node["metadata"]["name"]
        self.joined(node["metadata"]["name"], instance["InstanceId"])

    def _joining(self, instance: Instance) -> Joining:
        image = self.clients("ec2").describe_images(ImageIds=[instance["ImageId"]])["Images"][0]
        if machine.arch(self._described(instance["InstanceType"])) != _image_arch(image):
            raise UnreadableUserDataError(f"{instance['InstanceType']} can't run {image['Name']}: other architecture")
        joining = read(self._user_data(instance), image["Name"])
        told = ClusterToJoin(joining.cluster, joining.endpoint, joining.certificate_authority)
        if told != self.cluster:
            raise UnreadableUserDataError(f"user data points to {told.name} at {told.endpoint}, or trusts another CA")
        self._must_be_allowed(instance)
        return joining

    def _user_data(self, instance: Instance) -> str:
        answer = self.clients("ec2").describe_instance_attribute(
            InstanceId=instance["InstanceId"], Attribute="userData"
        )
        encoded = answer.get("UserData", {}).get("Value", "")
        return base64.b64decode(encoded).decode()

    def _must_be_allowed(self, instance: Instance) -> None:
        """EKS lets a node in whose role has an access entry for nodes."""
        profile = instance.get("IamInstanceProfile", {}).get("Arn", "").rpartition("/")[2]
        if not profile:
            raise UnreadableUserDataError("the instance has no instance profile")
        roles = self.clients("iam").get_instance_profile(InstanceProfileName=profile)["InstanceProfile"]["Roles"]
        entries = self.clients("eks").list_access_entries(clusterName=self.cluster.name)["accessEntries"]
        if not any(role["Arn"] in entries for role in roles):
            raise UnreadableUserDataError(f"no access entry for the role of instance profile {profile}")

    def _described(self, instance_type: str) -> machine.Described:
        if instance_type not in self._types:
            answer = self.clients("ec2").describe_instance_types(InstanceTypes=[instance_type])
            self._types[instance_type] = answer["InstanceTypes"][0]
        return self._types[instance_type]

    def _zone_id(self, instance: Instance) -> str:
        answer = self.clients("ec2").describe_subnets(SubnetIds=[instance["SubnetId"]])
        return str(answer["Subnets"][0]["AvailabilityZoneId"])

    def _node(self, instance: Instance, described: machine.Described, joining: Joining) -> dict[str, Any]:
        zone, name = instance["Placement"]["AvailabilityZone"], instance["PrivateDnsName"]
        cloud = {
            "kubernetes.io/hostname": name,
            "kubernetes.io/os": "linux",
            "kubernetes.io/arch": machine.arch(described),
            "node.kubernetes.io/instance-type": instance["InstanceType"],
            "topology.kubernetes.io/zone": zone,
            "topology.kubernetes.io/region": self.region,
            "topology.k8s.aws/zone-id": self._zone_id(instance),
        }
        return {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {
                "name": name,
                "labels": {**joining.labels, **cloud},
                "annotations": {"kwok.x-k8s.io/node": "fake"},
            },
            "spec": {
                "providerID": f"aws:///{zone}/{instance['InstanceId']}",
                "taints": [dict(taint) for taint in joining.taints],
            },
            # In the same call, as kubelet does it: KWOK fills in what it finds missing, a thousand cores.
            "status": {
                "capacity": machine.capacity(described, joining),
                "allocatable": machine.allocatable(described, joining),
            },
        }


def _image_arch(image: Mapping[str, Any]) -> str:
    return {"x86_64": "amd64"}.get(image["Architecture"], str(image["Architecture"]))
