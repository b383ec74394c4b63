import base64
from urllib.parse import parse_qs, urlsplit

import boto3
import pytest

from nodewright.adapters.eks_token import LIFETIME_SECONDS, EksTokens
from nodewright.application.errors import RefusedError


class Wall:
    """A clock that stands until it is set."""

    seconds = 1000.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture(autouse=True)
def own_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ENDPOINT_URL", "AWS_PROFILE", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/nowhere")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nowhere")


def session() -> boto3.Session:
    return boto3.Session(aws_access_key_id="AKIATEST", aws_secret_access_key="secret", aws_session_token="session")


def url(token: str) -> str:
    prefix, _, encoded = token.partition("k8s-aws-v1.")
    assert prefix == ""
    assert "=" not in encoded
    return base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)).decode()


def test_a_token_is_a_presigned_question_who_we_are_bound_to_the_cluster() -> None:
    parts = urlsplit(url(EksTokens(session(), "ap-northeast-2")("mine")))
    query = parse_qs(parts.query)
    assert (parts.scheme, parts.netloc) == ("https", "sts.ap-northeast-2.amazonaws.com")
    assert query["Action"] == ["GetCallerIdentity"]
    assert query["X-Amz-Expires"] == ["60"]
    assert query["X-Amz-SignedHeaders"] == ["host;x-k8s-aws-id"]
    assert query["X-Amz-Credential"][0].startswith("AKIATEST/")
    assert query["X-Amz-Credential"][0].endswith("/ap-northeast-2/sts/aws4_request")
    assert query["X-Amz-Security-Token"] == ["session"]


def test_clusters_get_tokens_of_their_own() -> None:
    tokens = EksTokens(session(), "eu-west-1")
    signature = [parse_qs(urlsplit(url(tokens(name))).query)["X-Amz-Signature"] for name in ("a", "b")]
    assert signature[0] != signature[1]


def test_another_partition_has_its_own_host() -> None:
    assert urlsplit(url(EksTokens(session(), "cn-north-1")("mine"))).netloc == "sts.cn-north-1.amazonaws.com.cn"


def test_an_endpoint_of_the_environment_is_honoured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:4566/")
    assert url(EksTokens(session(), "eu-west-1")("mine")).startswith("http://127.0.0.1:4566/?Action=GetCallerIdentity&")


@pytest.fixture
def signed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The clusters that something was signed for; each signature is another."""
    clusters: list[str] = []

    def presign(_: EksTokens, cluster: str) -> str:
        clusters.append(cluster)
        return f"https://{len(clusters)}"

    monkeypatch.setattr(EksTokens, "_presign", presign)
    return clusters


def test_a_token_is_kept_ten_minutes_at_most(signed: list[str]) -> None:
    wall = Wall()
    tokens = EksTokens(session(), "eu-west-1", wall)
    first = tokens("mine")
    wall.seconds += LIFETIME_SECONDS - 1
    assert tokens("mine") == first
    wall.seconds += 1
    assert tokens("mine") != first
    assert signed == ["mine", "mine"]


def test_a_clock_set_back_does_not_keep_an_old_token(signed: list[str]) -> None:
    wall = Wall()
    tokens = EksTokens(session(), "eu-west-1", wall)
    tokens("mine")
    wall.seconds -= 60
    tokens("mine")
    assert len(signed) == 2


def test_without_credentials_it_says_what_to_do() -> None:
    with pytest.raises(RefusedError, match=r"mine: no AWS credentials .* profile"):
        EksTokens(boto3.Session(), "eu-west-1")("mine")
