import json

from nodewright.adapters.manifests.namespaces import read_namespaces


def test_namespaces_are_read_with_their_labels() -> None:
    items = [{"metadata": {"name": "shop", "labels": {"team": "a"}}}, {"metadata": {"name": "bare"}}]
    page = read_namespaces(json.dumps({"metadata": {"continue": "more"}, "items": items}).encode())
    assert page.items == (("shop", {"team": "a"}), ("bare", {}))
    assert page.next_page == "more"
