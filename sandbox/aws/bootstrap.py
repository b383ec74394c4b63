"""What `cdk bootstrap` leaves in an account, without the 10 seconds it takes: `cdk deploy` asks for nothing more."""

import json

from sandbox.aws.server import SandboxAws

# CDK's default qualifier, and the version of its bootstrap stack that the pinned CLI knows.
QUALIFIER = "hnb659fds"
VERSION = "31"
ROLES = ("deploy-role", "file-publishing-role", "image-publishing-role", "lookup-role", "cfn-exec-role")


def bootstrap(aws: SandboxAws) -> str:
    """Make the bucket for assets (its name is returned), the roles and the parameter with the version."""
    suffix = f"{aws.account}-{aws.region}"
    bucket = f"cdk-{QUALIFIER}-assets-{suffix}"
    aws.client("s3").create_bucket(Bucket=bucket, CreateBucketConfiguration={"LocationConstraint": aws.region})
    aws.client("ssm").put_parameter(Name=f"/cdk-bootstrap/{QUALIFIER}/version", Value=VERSION, Type="String")
    for role in ROLES:
        _make_role(aws, f"cdk-{QUALIFIER}-{role}-{suffix}")
    return bucket


def _make_role(aws: SandboxAws, name: str) -> None:
    """A role the account may assume and that may do anything: it deploys."""
    principal = {"AWS": f"arn:aws:iam::{aws.account}:root"}
    trust = {"Statement": [{"Effect": "Allow", "Principal": principal, "Action": "sts:AssumeRole"}]}
    anything = {"Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"}]}
    iam = aws.client("iam")
    iam.create_role(RoleName=name, AssumeRolePolicyDocument=json.dumps({"Version": "2012-10-17", **trust}))
    document = json.dumps({"Version": "2012-10-17", **anything})
    iam.put_role_policy(RoleName=name, PolicyName="deploy", PolicyDocument=document)
