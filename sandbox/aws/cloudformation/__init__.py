"""CloudFormation as far as a stack of ours needs it: moto's, the types it skips, updates that keep what must stay."""

from sandbox.aws.cloudformation.engine import CloudFormation

__all__ = ["CloudFormation"]
