"""The laws of the InstanceProfiles port: in memory and on moto's IAM."""

import pytest

from nodewright.adapters import aws_clients
from nodewright.adapters.memory import InMemoryInstanceProfiles
from nodewright.adapters.profiles import IamInstanceProfiles
from nodewright.application.errors import RefusedError
from nodewright.application.ports import InstanceProfiles
from tests.adapters.builders import STACK


@pytest.fixture(params=["memory", "iam"])
def profiles(request: pytest.FixtureRequest) -> InstanceProfiles:
    if request.param == "memory":
        return InMemoryInstanceProfiles(roles={"nodes", "more"})
    region = request.getfixturevalue("aws")
    iam = aws_clients.iam(region)
    for role in ("nodes", "more"):
        iam.create_role(RoleName=role, AssumeRolePolicyDocument="{}")
    return IamInstanceProfiles(iam, STACK, region)


def test_a_profile_is_made_once(profiles: InstanceProfiles) -> None:
    assert profiles.ensure("prod", "default", "nodes") == profiles.ensure("prod", "default", "nodes")


def test_another_cluster_class_or_role_is_another_profile(profiles: InstanceProfiles) -> None:
    made = [
        profiles.ensure("prod", "default", "nodes"),
        profiles.ensure("test", "default", "nodes"),
        profiles.ensure("prod", "gpu", "nodes"),
        profiles.ensure("prod", "default", "more"),
    ]
    assert len(set(made)) == 4


def test_a_path_before_the_role_is_not_part_of_its_name(profiles: InstanceProfiles) -> None:
    assert profiles.ensure("prod", "default", "team/a/nodes") == profiles.ensure("prod", "default", "nodes")


def test_a_role_that_is_not_there_is_refused_with_the_fix(profiles: InstanceProfiles) -> None:
    with pytest.raises(RefusedError, match=r"no role missing: make it, or change spec\.role"):
        profiles.ensure("prod", "default", "missing")
