from collections.abc import Mapping

import pytest

from sandbox import deploy
from tests.infra.template import Template


@pytest.fixture(scope="session")
def template() -> Template:
    """The stack as a person deploys it."""
    return _synthesized({})


@pytest.fixture(scope="session")
def chosen_template() -> Template:
    """The stack with every option chosen otherwise."""
    return _synthesized({"stackName": "Other", "nodeRoles": "AmazonEKSNodeRole,teams/Batch", "retainState": "false"})


def _synthesized(context: Mapping[str, str]) -> Template:
    return Template.read(deploy.assembly(context))
