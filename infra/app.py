"""`python -m infra.app`: what `cdk synth` and `cdk deploy` run."""

from aws_cdk import App, Validations
from cdk_nag import AwsSolutionsChecks

from infra.options import Options
from infra.stack import NodewrightStack


def build(app: App) -> NodewrightStack:
    """The stack in this app, checked by cdk-nag whenever it is synthesized."""
    stack = NodewrightStack(app, "Nodewright", options=Options.read(app.node.try_get_context))
    Validations.of(app).add_plugins(AwsSolutionsChecks(app))
    return stack


if __name__ == "__main__":
    the_app = App()
    build(the_app)
    the_app.synth()
