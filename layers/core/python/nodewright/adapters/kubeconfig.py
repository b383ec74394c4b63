"""Access to a cluster as kubectl has it."""

from pathlib import Path

import yaml
from kubernetes import config
from kubernetes.client.configuration import Configuration

from nodewright.adapters.kubernetes_api import KubernetesApi
from nodewright.application.errors import RefusedError


def read_kubeconfig(path: Path) -> Configuration:
    """Its current context. RefusedError when it can't be read."""
    configuration = Configuration(retries=False)
    try:
        config.load_kube_config(str(path), client_configuration=configuration)  # type: ignore[no-untyped-call]
    except (config.ConfigException, yaml.YAMLError, OSError) as error:
        raise RefusedError(f"kubeconfig {path}: {error}") from error
    return configuration


def kubeconfig_api(cluster: str, path: Path) -> KubernetesApi:
    """The API server of its current context, which is taken to be this cluster's."""
    configuration = read_kubeconfig(path)
    return KubernetesApi(cluster, configuration, lambda: bearer(configuration))


def bearer(configuration: Configuration) -> str:
    """The Authorization header; empty where a certificate says who calls."""
    return configuration.get_api_key_with_prefix("BearerToken", alias="authorization") or ""
