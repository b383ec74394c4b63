"""Labels and taints from pool and pods to the node."""

from nodewright.domain.requirements import Requirement, Requirements
from nodewright.domain.taints import Toleration
from sandbox.nodes.user_data import read
from tests.application.provisioning import CPU, world
from tests.application.world import ZONES
from tests.builders import pod, pool, taint


def test_pods_that_read_a_type_label_get_it_from_user_data_and_other_values_another_template() -> None:
    wish = Requirements([Requirement.of(CPU, "In", ("2", "4"))])
    here = world(pod(cpu="1500m", terms=[wish]))
    here.cluster.add(pool("default", ("karpenter.k8s.aws/instance-family", "In", "m5")))
    here.fleet.room = {("m5.large", zone, "spot"): 0 for zone in ZONES}
    here.provision()
    for template in here.fleet.calls[0].templates:
        sizes = {override.instance_type for override in template.overrides}
        (size,) = sizes
        labels = read(here.fleet.templates[template.template_name].user_data, "al2023").labels
        assert labels[CPU] == {"m5.large": "2", "m5.xlarge": "4"}[size]


def test_a_label_that_kubelet_may_not_set_holds_pods_off_until_it_is_there() -> None:
    here = world(pod(selector={"example.kubernetes.io/disk": "fast"}))
    here.cluster.add(pool(labels={"example.kubernetes.io/disk": "fast"}))
    here.provision()
    (born,) = here.join()
    assert taint("karpenter.sh/unregistered", effect="NoExecute") in born.taints
    assert "example.kubernetes.io/disk" not in born.labels
    here.reconcile()
    (registered,) = here.cluster.nodes.values()
    assert registered.taints == ()
    assert registered.labels["example.kubernetes.io/disk"] == "fast"


def test_a_node_is_born_with_the_pools_labels_and_taints() -> None:
    dedicated, warming = taint("dedicated", "web"), taint("warming", effect="NoExecute")
    here = world(pod(tolerates=(Toleration("dedicated", "Exists"),)))
    here.cluster.add(pool(labels={"team": "web"}, taints=(dedicated,), startup_taints=(warming,)))
    here.provision()
    (born,) = here.join()
    assert born.taints == (dedicated, warming)
    assert born.labels["team"] == "web"
    assert born.labels["karpenter.sh/nodepool"] == "default"
    assert born.labels["karpenter.sh/capacity-type"] == "spot"


def test_a_label_its_pods_chose_is_on_the_node() -> None:
    here = world(pod("a", cpu="1500m", selector={"team": "a"}), pod("b", cpu="1500m", selector={"team": "b"}))
    here.cluster.add(pool("default", ("team", "In", "a", "b")))
    here.provision()
    born = {node.labels["team"]: node for node in here.join()}
    for claim in here.claims:
        (planned,) = claim.nominated_pods
        assert born[planned.name].instance_id == claim.instance_id
