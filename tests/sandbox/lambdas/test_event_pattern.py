import pytest

from sandbox.lambdas.event_pattern import UnknownOperatorError, matches
from sandbox.lambdas.outcome import Json

EVENT = {
    "source": "aws.ec2",
    "detail-type": "EC2 Instance State-change Notification",
    "resources": ["arn:aws:ec2:eu-west-1:1:instance/i-1", "arn:aws:ec2:eu-west-1:1:instance/i-2"],
    "detail": {
        "state": "shutting-down",
        "count": 5,
        "ratio": 2.5,
        "spot": True,
        "ip": "10.0.0.7",
        "nothing": None,
        "empty": "",
        "items": [{"kind": "pod"}, {"kind": "node"}],
    },
}


@pytest.mark.parametrize(
    "pattern",
    [
        {"source": ["aws.ec2"]},
        {"source": ["aws.health", "aws.ec2"], "detail": {"state": ["shutting-down"]}},
        {"source": [{"prefix": "aws."}]},
        {"source": [{"prefix": {"equals-ignore-case": "AWS."}}]},
        {"source": [{"suffix": ".ec2"}]},
        {"resources": [{"suffix": "/i-2"}]},
        {"detail": {"state": [{"anything-but": "running"}]}},
        {"detail": {"state": [{"anything-but": ["running", "pending"]}]}},
        {"detail": {"state": [{"anything-but": {"prefix": "run"}}]}},
        {"detail": {"count": [{"anything-but": 4}]}},
        {"detail": {"count": [{"numeric": [">", 0, "<=", 5]}]}},
        {"detail": {"ratio": [{"numeric": ["=", 2.5]}]}},
        {"detail": {"count": [5]}},
        {"detail": {"count": [5.0]}},
        {"detail": {"spot": [True]}},
        {"detail": {"nothing": [None]}},
        {"detail": {"empty": [""]}},
        {"detail": {"state": [{"exists": True}]}},
        {"detail": {"absent": [{"exists": False}]}},
        {"detail": {"below": {"absent": [{"exists": False}]}}},
        {"detail": {"state": [{"wildcard": "shut*down"}]}},
        {"detail": {"state": [{"equals-ignore-case": "SHUTTING-DOWN"}]}},
        {"detail": {"ip": [{"cidr": "10.0.0.0/24"}]}},
        {"detail": {"items": {"kind": ["node"]}}},
        {"$or": [{"source": ["aws.health"]}, {"detail": {"count": [5]}}]},
        {},
    ],
)
def test_the_pattern_takes_the_event(pattern: Json) -> None:
    assert matches(pattern, EVENT)


@pytest.mark.parametrize(
    "pattern",
    [
        {"source": ["aws.health"]},
        {"source": ["aws.ec2"], "detail": {"state": ["running"]}},
        {"source": [{"prefix": "ec2"}]},
        {"detail": {"count": [{"prefix": "5"}]}},
        {"detail": {"state": [{"anything-but": ["shutting-down", "running"]}]}},
        {"detail": {"state": [{"anything-but": {"prefix": ["shut", "run"]}}]}},
        {"detail": {"absent": [{"anything-but": "x"}]}},
        {"detail": {"count": [{"numeric": [">", 5]}]}},
        {"detail": {"state": [{"numeric": [">", 0]}]}},
        {"detail": {"spot": [{"numeric": ["=", 1]}]}},
        {"detail": {"spot": [1]}},
        {"detail": {"count": ["5"]}},
        {"detail": {"absent": [None]}},
        {"detail": {"state": [{"exists": False}]}},
        {"detail": {"absent": [{"exists": True}]}},
        {"detail": {"state": [{"wildcard": "shut"}]}},
        {"detail": {"ip": [{"cidr": "10.0.1.0/24"}]}},
        {"detail": {"state": [{"cidr": "10.0.0.0/24"}]}},
        {"detail": {"items": {"kind": ["queue"]}}},
        {"$or": [{"source": ["aws.health"]}, {"detail": {"count": [4]}}]},
        {"detail": {"state": {"deeper": ["x"]}}},
    ],
)
def test_the_pattern_refuses_the_event(pattern: Json) -> None:
    assert not matches(pattern, EVENT)


def test_an_unknown_comparison_is_an_error_and_not_a_mismatch() -> None:
    with pytest.raises(UnknownOperatorError, match="starts-with"):
        matches({"source": [{"starts-with": "aws"}]}, EVENT)
