from typing import Any

from nodewright.adapters.manifests.webhooks import webhook_configuration

URL = "https://api.example/v1/clusters/mine/token"


def configuration(ca_bundle: str | None = None) -> Any:
    return webhook_configuration("mine", URL, ca_bundle)


def webhook(name: str) -> Any:
    return {w["name"]: w for w in configuration()["webhooks"]}[f"{name}.nodewright.dev"]


def test_no_webhook_may_hold_the_cluster_up() -> None:
    for found in configuration()["webhooks"]:
        assert found["failurePolicy"] == "Ignore"
        assert found["timeoutSeconds"] == 1
        assert found["sideEffects"] == "NoneOnDryRun"
        assert found["matchPolicy"] == "Exact"
        assert found["admissionReviewVersions"] == ["v1"]
        assert "namespaceSelector" not in found


def test_all_call_the_url_with_the_bundle_where_there_is_one() -> None:
    assert {w["clientConfig"]["url"] for w in configuration()["webhooks"]} == {URL}
    assert all("caBundle" not in w["clientConfig"] for w in configuration()["webhooks"])
    assert {w["clientConfig"]["caBundle"] for w in configuration("Zm9v")["webhooks"]} == {"Zm9v"}


def test_events_of_either_api_wake_us_but_not_our_own() -> None:
    new, old = webhook("events"), webhook("core-events")
    assert (new["rules"][0]["apiGroups"], new["rules"][0]["operations"]) == (["events.k8s.io"], ["CREATE"])
    assert old["rules"][0]["apiGroups"] == [""]
    for found in (new, old):
        assert "FailedScheduling" in found["matchConditions"][0]["expression"]
        assert "startsWith('nodewright')" in found["matchConditions"][0]["expression"]


def test_only_nodes_of_a_pool_wake_us() -> None:
    for name in ("nodes", "ready-nodes"):
        expressions = webhook(name)["objectSelector"]["matchExpressions"]
        assert expressions == [{"key": "karpenter.sh/nodepool", "operator": "Exists"}]
    assert webhook("ready-nodes")["rules"][0]["resources"] == ["nodes/status"]


def test_configuration_wakes_us_in_any_version() -> None:
    rules = webhook("configuration")["rules"]
    assert {r for rule in rules for r in rule["resources"]} == {
        "nodepools",
        "provisioners",
        "nodeclaims",
        "nodeoverlays",
        "ec2nodeclasses",
        "awsnodetemplates",
        "capacitybuffers",
    }
    assert all(rule["apiVersions"] == ["*"] for rule in rules)
