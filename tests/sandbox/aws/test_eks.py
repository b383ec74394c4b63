import base64
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError
from botocore.signers import RequestSigner

from sandbox.aws.server import SandboxAws
from tests.sandbox.aws.clock import Clock

ROLE = "arn:aws:iam::123456789012:role/nodewright-reconcile"
CA = base64.b64encode(b"-----BEGIN CERTIFICATE-----").decode()


@pytest.fixture
def published(aws: SandboxAws) -> SandboxAws:
    aws.eks.publish("blue", "https://127.0.0.1:6443", CA, "1.37", "10.96.0.0/12")
    return aws


def entry(aws: SandboxAws, **more: Any) -> dict[str, Any]:
    asked = {"clusterName": "blue", "principalArn": ROLE, **more}
    return dict(aws.client("eks").create_access_entry(**asked)["accessEntry"])


def token(aws: SandboxAws, cluster: str, role: str = ROLE, secret: str | None = None) -> str:
    """Made as `aws eks get-token` makes it."""
    keys = aws.credentials_for(role)
    session = boto3.Session(
        aws_access_key_id=keys["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=secret or keys["AWS_SECRET_ACCESS_KEY"],
        aws_session_token=keys["AWS_SESSION_TOKEN"],
        region_name=aws.region,
    )
    sts = session.client("sts", endpoint_url=aws.endpoint)
    credentials = session.get_credentials()
    assert credentials is not None
    service = sts.meta.service_model.service_id
    signer = RequestSigner(service, aws.region, "sts", "v4", credentials, session.events)
    url = signer.generate_presigned_url(
        {
            "method": "GET",
            "url": f"{aws.endpoint}/?Action=GetCallerIdentity&Version=2011-06-15",
            "body": {},
            "headers": {"x-k8s-aws-id": cluster} if cluster else {},
            "context": {},
        },
        region_name=aws.region,
        expires_in=60,
        operation_name="",
    )
    return "k8s-aws-v1." + base64.urlsafe_b64encode(url.encode()).decode().rstrip("=")


def test_a_published_cluster_is_described_with_its_real_endpoint(published: SandboxAws) -> None:
    cluster = published.client("eks").describe_cluster(name="blue")["cluster"]
    assert cluster["endpoint"] == "https://127.0.0.1:6443"
    assert cluster["certificateAuthority"]["data"] == CA
    assert cluster["version"] == "1.37"
    assert cluster["kubernetesNetworkConfig"] == {"serviceIpv4Cidr": "10.96.0.0/12", "ipFamily": "ipv4"}
    assert cluster["accessConfig"]["authenticationMode"] == "API_AND_CONFIG_MAP"
    assert cluster["status"] == "ACTIVE"


def test_a_created_cluster_waits_for_its_control_plane(aws: SandboxAws) -> None:
    eks = aws.client("eks")
    eks.create_cluster(
        name="green",
        roleArn=ROLE,
        version="1.36",
        resourcesVpcConfig={},
        accessConfig={"authenticationMode": "CONFIG_MAP"},
    )
    assert eks.describe_cluster(name="green")["cluster"]["status"] == "CREATING"
    aws.eks.publish("green", "https://127.0.0.1:1", CA, "1.36", "10.96.0.0/12")
    described = eks.describe_cluster(name="green")["cluster"]
    assert (described["status"], described["roleArn"]) == ("ACTIVE", ROLE)
    assert described["accessConfig"]["authenticationMode"] == "CONFIG_MAP"
    with pytest.raises(ClientError, match="authentication mode"):
        eks.create_access_entry(clusterName="green", principalArn=ROLE)


def test_an_unknown_cluster_is_not_found(aws: SandboxAws) -> None:
    with pytest.raises(ClientError) as caught:
        aws.client("eks").describe_cluster(name="nowhere")
    assert caught.value.response["Error"]["Code"] == "ResourceNotFoundException"


def test_access_entries_live_and_end(published: SandboxAws) -> None:
    eks = published.client("eks")
    made = entry(published, kubernetesGroups=["nodewright"], tags={"a": "b"})
    assert made["type"] == "STANDARD"
    assert made["kubernetesGroups"] == ["nodewright"]
    assert eks.list_access_entries(clusterName="blue")["accessEntries"] == [ROLE]
    with pytest.raises(ClientError, match="ResourceInUseException"):
        entry(published)
    eks.update_access_entry(clusterName="blue", principalArn=ROLE, kubernetesGroups=["others"])
    found = eks.describe_access_entry(clusterName="blue", principalArn=ROLE)["accessEntry"]
    assert found["kubernetesGroups"] == ["others"]
    eks.delete_access_entry(clusterName="blue", principalArn=ROLE)
    with pytest.raises(ClientError, match="ResourceNotFoundException"):
        eks.describe_access_entry(clusterName="blue", principalArn=ROLE)


def test_a_node_role_gets_the_nodes_name_and_group(published: SandboxAws) -> None:
    made = entry(published, type="EC2_LINUX")
    assert made["username"] == "system:node:{{EC2PrivateDNSName}}"
    assert made["kubernetesGroups"] == ["system:nodes"]


def test_a_group_of_kubernetes_itself_is_refused(published: SandboxAws) -> None:
    with pytest.raises(ClientError, match="system:"):
        entry(published, kubernetesGroups=["system:masters"])


def test_a_token_names_the_role_and_its_groups(published: SandboxAws) -> None:
    entry(published, kubernetesGroups=["nodewright"])
    username = "arn:aws:sts::123456789012:assumed-role/nodewright-reconcile/sandbox"
    assert published.tokens.verify(token(published, "blue")) == (username, ("nodewright",))
    assert published.tokens.verify(token(published, "blue"), "blue") == (username, ("nodewright",))


def test_an_entrys_own_username_is_used(published: SandboxAws) -> None:
    entry(published, username="nodewright")
    assert published.tokens.verify(token(published, "blue")) == ("nodewright", ())


def test_a_cluster_admin_is_in_the_masters(published: SandboxAws) -> None:
    entry(published)
    policy = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy"
    published.client("eks").associate_access_policy(
        clusterName="blue", principalArn=ROLE, policyArn=policy, accessScope={"type": "cluster"}
    )
    verified = published.tokens.verify(token(published, "blue"))
    assert verified is not None
    assert verified[1] == ("system:masters",)


@pytest.mark.parametrize("text", ["", "k8s-aws-v1.", "k8s-aws-v1.!!!", "k8s-aws-v1.aGVsbG8", "v1.aGVsbG8"])
def test_nonsense_is_nobody(published: SandboxAws, text: str) -> None:
    assert published.tokens.verify(text) is None


def test_a_role_without_an_entry_is_nobody(published: SandboxAws) -> None:
    assert published.tokens.verify(token(published, "blue")) is None


def test_a_token_for_another_cluster_or_for_none_is_nobody(published: SandboxAws) -> None:
    entry(published)
    assert published.tokens.verify(token(published, "green")) is None
    assert published.tokens.verify(token(published, "")) is None
    assert published.tokens.verify(token(published, "blue"), "green") is None


def test_a_token_signed_with_another_secret_is_nobody(published: SandboxAws) -> None:
    entry(published)
    assert published.tokens.verify(token(published, "blue", secret="guessed")) is None


def test_a_token_is_good_for_fifteen_minutes(published: SandboxAws, clock: Clock) -> None:
    entry(published)
    made = token(published, "blue")
    clock.advance(minutes=14)
    assert published.tokens.verify(made) is not None
    clock.advance(minutes=2)
    assert published.tokens.verify(made) is None
