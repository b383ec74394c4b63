"""docs/manifests.md lists what the field tables say, field by field."""

import re
from collections import defaultdict
from pathlib import Path

import pytest

from nodewright.adapters.manifests.own_settings import SETTINGS
from tests.adapters.manifests.field_tables import TABLES, Status, Table

PAGE = (Path(__file__).parents[3] / "docs" / "manifests.md").read_text()
WORDS: dict[Status, str] = {"honoured": "yes", "implied": "yes", "warned": "warns", "refused": "refuses"}
KUBELET = re.compile(r"spec\.(template\.spec\.kubelet|kubelet|kubeletConfiguration)\.")
#: The generation whose fields are listed in full, for those of which only the difference is.
DIFFERS_FROM = {"NodePool v1beta1": "NodePool v1", "EC2NodeClass v1beta1": "EC2NodeClass v1"}


def said(section: str) -> dict[str, str]:
    """Field → what is done about it, of the table under a heading."""
    _, _, rest = PAGE.partition(f"\n## {section}\n")
    rows = re.findall(r"^\| `([^`]+)` \| ([^|]+) \|", rest.partition("\n## ")[0], re.MULTILINE)
    return {field: status.strip() for field, status in rows}


def known(table: Table) -> dict[str, str]:
    """The same by the field tables; kubelet settings have a table of their own."""
    statuses: defaultdict[str, set[str]] = defaultdict(set)
    for row in table.rows:
        if not KUBELET.match(row.path):
            statuses[row.path.replace("\\.", ".")].add(WORDS[row.status])
    return {path: shown(words) for path, words in statuses.items()}


def shown(words: set[str]) -> str:
    return ", ".join(word for word in ("yes", "warns", "refuses") if word in words)


BY_NAME = {table.name: table for table in TABLES}


@pytest.mark.parametrize("name", BY_NAME)
def test_the_page_says_of_every_field_what_is_done_about_it(name: str) -> None:
    elsewhere = known(BY_NAME[DIFFERS_FROM[name]]) if name in DIFFERS_FROM else {}
    differing = {path: words for path, words in known(BY_NAME[name]).items() if elsewhere.get(path) != words}
    assert said(name) == differing


@pytest.mark.parametrize("name", ["EC2NodeClass v1", "NodePool v1beta1", "Provisioner v1alpha5"])
def test_the_page_says_the_same_of_kubelet_settings_wherever_they_stand(name: str) -> None:
    statuses: defaultdict[str, set[str]] = defaultdict(set)
    for row in BY_NAME[name].rows:
        if KUBELET.match(row.path):
            statuses[KUBELET.sub("", row.path)].add(WORDS[row.status])
    page = said("Kubelet settings")
    others = {field: page.pop(field) for field in list(page) if field == "others"}
    statuses["topologyManagerPolicy"].discard("warns")
    assert page == {field: shown(words) for field, words in statuses.items() if words}
    assert others == {"others": "warns"}


def test_the_page_lists_our_own_settings() -> None:
    assert said("Settings") == dict.fromkeys(SETTINGS, "yes")
