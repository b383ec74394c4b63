"""What DaemonSets really take."""

from dataclasses import replace

from nodewright.domain.daemon_sets import with_live_requests
from nodewright.domain.pods import DaemonSet, Pod
from nodewright.domain.quantities import Resources
from tests.builders import daemon_pod, daemon_set, pod, resources


def requests(daemon: DaemonSet, *live: Pod) -> Resources:
    (found,) = with_live_requests([daemon], live)
    return found.requests


def test_without_live_pods_the_template_counts() -> None:
    agent = daemon_set("agent", cpu="300m")
    assert requests(agent, pod("agent"), daemon_pod("x", "n", "other", cpu="1")) == agent.requests
    assert requests(agent, daemon_pod("x", "n", "agent", namespace="elsewhere", cpu="1")) == agent.requests


def test_live_pods_say_what_one_really_takes_even_if_it_is_less() -> None:
    live = daemon_pod("x", "n", "agent", cpu="100m", memory="1Gi")
    assert requests(daemon_set("agent", cpu="300m"), live) == resources(cpu="100m", memory="1Gi", pods=1)


def test_where_live_pods_differ_the_largest_of_each_counts() -> None:
    live = [daemon_pod(n, n, "agent", cpu=cpu, memory=m) for n, cpu, m in (("a", "1", "1Gi"), ("b", "2", "512Mi"))]
    assert requests(daemon_set("agent"), *live) == resources(cpu="2", memory="1Gi", pods=1)


def test_pods_of_an_older_template_or_finished_ones_say_nothing() -> None:
    agent = replace(daemon_set("agent"), generation="2")
    old = daemon_pod("x", "n", "agent", cpu="5", labels={"pod-template-generation": "1"})
    assert requests(agent, old) == agent.requests
    assert requests(agent, replace(old, labels={"pod-template-generation": "2"})).get("cpu") == 5000
    assert requests(daemon_set("agent"), replace(old, labels={}, phase="Failed")) == agent.requests
