"""What was decided about one pod, node or pool is found among the stored decisions."""

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from nodewright.application.ports import DecisionRecord
from nodewright.application.remembering import Memory, about_node, about_pod, about_pool

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
PROVISIONED = DecisionRecord(
    "1",
    NOW,
    "provision",
    "",
    {
        "launches": [
            {
                "pool": "default",
                "capacityType": "spot",
                "price": "0.04",
                "instanceTypes": ["m7g.large", "m6g.large"],
                "zones": ["a", "b"],
                "nodes": 2,
                "pods": ["default/p", "… and 3 more"],
            }
        ],
        "nominations": [{"node": "n1", "pods": ["default/q"]}],
        "unschedulable": [
            {
                "reason": "LimitReached",
                "message": "no room on 1 node; pool default: its limits are reached; pool other: taint a",
                "pods": ["default/r"],
            }
        ],
        "warnings": ["NodePool/default spec.weight: too heavy", "NodePool/default-2 spec: no"],
    },
)
DISRUPTED = DecisionRecord("2", NOW, "disrupt", "", {"blocked": {"n1": "a pod forbids it"}})
WITHDRAWN = DecisionRecord("3", NOW, "retire", "", {"node": "n1", "reason": "drift"})
OMITTED = DecisionRecord("4", NOW, "provision", "", {"omitted": "500000 bytes", "launches": "many"})
ALL = (PROVISIONED, DISRUPTED, WITHDRAWN, OMITTED)


@pytest.mark.parametrize(
    ("about", "name", "told"),
    [
        (
            about_pod,
            "default/p",
            ["a new node for it: m7g.large (or 1 more) of pool default, spot, 0.04 USD/h in a, b"],
        ),
        (about_pod, "q", ["goes to node n1"]),
        (
            about_pod,
            "r",
            ["waits: LimitReached: no room on 1 node; pool default: its limits are reached; pool other: taint a"],
        ),
        (about_pod, "other/q", []),
        (
            about_node,
            "n1",
            ["gets default/q", "is due and stays: a pod forbids it", "is not retired after all: drift"],
        ),
        (
            about_pool,
            "default",
            [
                "bought 2 × m7g.large (or 1 more) of pool default, spot, 0.04 USD/h in a, b",
                "nothing for default/r: its limits are reached",
                "NodePool/default spec.weight: too heavy",
            ],
        ),
        (about_pool, "other", ["nothing for default/r: taint a"]),
    ],
)
def test_only_what_is_about_it_is_told(
    about: Callable[[tuple[DecisionRecord, ...], str], tuple[Memory, ...]], name: str, told: list[str]
) -> None:
    assert [memory.told for memory in about(ALL, name)] == told


def test_each_memory_has_its_time_and_kind() -> None:
    (memory,) = about_pod(ALL, "q")
    assert (memory.time, memory.kind) == (NOW, "provision")
