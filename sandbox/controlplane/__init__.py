"""The real Kubernetes control plane on one machine; KWOK plays the kubelets."""

from sandbox.controlplane.client import Client
from sandbox.controlplane.controlplane import ControlPlane

__all__ = ["Client", "ControlPlane"]
