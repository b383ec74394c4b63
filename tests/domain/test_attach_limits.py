"""How many volumes a node can have attached."""

from dataclasses import replace

from nodewright.domain.attach_limits import AttachLimits, attach_limits
from nodewright.domain.pods import EBS_DRIVER
from tests.builders import claim, instance_type, options


def test_only_types_of_claims_are_looked_at_and_only_known_numbers_kept() -> None:
    types = [replace(instance_type("x.s"), volumes=25), replace(instance_type("x.m"), volumes=39), instance_type("x.l")]
    claims = [claim(instance_type="x.s"), claim(instance_type="x.l")]
    found = attach_limits({"n": {}}, claims, [options(types=types)])
    assert found == AttachLimits({"n": {}}, {("default", "x.s"): 25})


def test_what_a_node_tells_wins_over_its_type() -> None:
    limits = AttachLimits({"n": {EBS_DRIVER: 20}}, {("default", "x.s"): 25})
    assert limits.of("n", claim(), {}) == {EBS_DRIVER: 20}
    assert limits.of("unknown", claim(), {}) == {EBS_DRIVER: 25}
    assert limits.of("unknown", None, {}) == {}
