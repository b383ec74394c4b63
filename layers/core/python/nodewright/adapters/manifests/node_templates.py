"""AWSNodeTemplates of v1alpha1, by themselves or written into a Provisioner (karpenter-behaviour §3.4)."""

from collections.abc import Mapping

from nodewright.adapters.manifests.block_devices import read_block_devices
from nodewright.adapters.manifests.fields import Fields, metadata_fields, report_on
from nodewright.adapters.manifests.image_terms import read_old_images
from nodewright.adapters.manifests.launch_settings import read_metadata_options, read_tags
from nodewright.adapters.manifests.nodeclasses import NodeClassReading
from nodewright.adapters.manifests.tag_selectors import read_selector
from nodewright.domain.nodeclasses import NodeClass

_HOP_LIMIT = 2
_UNROLL = (
    "launch templates are not supported; write its image, user data, security groups and disks as amiSelector,"
    " userData, securityGroupSelector and blockDeviceMappings"
)


def read_node_template(raw: Mapping[str, object]) -> NodeClassReading:
    """One AWSNodeTemplate object. It has no role; without a profile its nodes get the stack's."""
    name, report = report_on(raw, "AWSNodeTemplate", "no node of this template is launched")
    root = Fields(raw, "", report)
    root.known("apiVersion", "kind", "metadata", "status")
    terminating = "deletionTimestamp" in metadata_fields(raw)
    node_class = read_template_spec(root.child("spec"), name, report.object, terminating=terminating)
    root.finish()
    return NodeClassReading(None if report.refused else node_class, tuple(report.warnings))


def read_template_spec(spec: Fields, name: str, source: str, *, terminating: bool = False) -> NodeClass:
    """The class of this name that a template's spec describes; `source` is the object it stands in."""
    spec.known("apiVersion", "kind")
    _refuse_launch_template(spec)
    family, image_terms = read_old_images(spec)
    return NodeClass(
        name=name,
        ami_family=family,
        ami_terms=image_terms,
        subnet_terms=read_selector(spec, "subnetSelector"),
        security_group_terms=read_selector(spec, "securityGroupSelector"),
        instance_profile=spec.text("instanceProfile"),
        user_data=spec.text("userData"),
        block_devices=read_block_devices(spec, bare_gib=True),
        metadata_options=read_metadata_options(spec, _HOP_LIMIT),
        tags=read_tags(spec),
        detailed_monitoring=spec.flag("detailedMonitoring") or False,
        context=spec.text("context"),
        terminating=terminating,
        source=source,
    )


def _refuse_launch_template(spec: Fields) -> None:
    for name in ("launchTemplate", "launchTemplateName"):
        if spec.text(name):
            spec.refuse(name, _UNROLL)
