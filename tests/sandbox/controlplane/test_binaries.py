import re
from pathlib import Path

import pytest

from sandbox.controlplane import binaries
from sandbox.controlplane.binaries import (
    PROGRAMS,
    STAGES,
    AssetsError,
    BuildError,
    cache_folder,
    ensure,
    from_assets,
    kubernetes_version,
)
from tests.sandbox.controlplane.test_golang import program


def fill_cache(environment: dict[str, str], *, without: str = "") -> Path:
    folder = cache_folder(environment)
    for name in {each.name for each in PROGRAMS} - {without}:
        program(folder / name, "")
    (folder / STAGES).write_text("kind: Stage\n")
    return folder


def fake_go(tmp_path: Path, build: str) -> Path:
    """A `go` of the right version whose `build -o FILE` runs this script with FILE as $out."""
    stages = tmp_path / "kwok" / "kustomize" / "stage"
    for folder in ("node/fast", "node/heartbeat-with-lease", "pod/fast"):
        (stages / folder).mkdir(parents=True)
        (stages / folder / "stage.yaml").write_text(f"apiVersion: v1\nkind: Stage\nname: {folder}\n")
        (stages / folder / "kustomization.yaml").write_text("apiVersion: v1\nkind: Kustomization\n")
    script = f"""
case "$1" in
  env) echo go1.26.8 ;;
  mod) echo '{{"Dir": "{tmp_path / "kwok"}"}}' ;;
  build) while [ "$1" != -o ]; do shift; done; out=$2; {build} ;;
esac"""
    return program(tmp_path / "bin" / "go", script)


def test_cached_programs_are_used_without_building(tmp_path: Path) -> None:
    environment = {"XDG_CACHE_HOME": str(tmp_path), "PATH": ""}
    folder = fill_cache(environment)

    found = ensure(environment, print)

    assert found["kwok"] == folder / "kwok"
    assert found.stages == folder / STAGES


def test_the_cache_lies_under_the_home_folder_by_default(tmp_path: Path) -> None:
    folder = cache_folder({"HOME": str(tmp_path)})

    assert folder.parent == tmp_path / ".cache" / "nodewright" / "controlplane"
    assert re.fullmatch(r"[0-9a-f]{16}", folder.name)


def test_other_sources_are_built_into_another_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = cache_folder({"XDG_CACHE_HOME": "/c"})
    for name in ("go.mod", "go.sum"):
        (tmp_path / name).write_bytes((binaries.HERE / name).read_bytes())
    monkeypatch.setattr(binaries, "HERE", tmp_path)
    assert cache_folder({"XDG_CACHE_HOME": "/c"}) == before

    with (tmp_path / "go.sum").open("a") as sums:
        sums.write("another line\n")
    assert cache_folder({"XDG_CACHE_HOME": "/c"}) != before


def test_only_what_is_missing_is_built_and_progress_names_it(tmp_path: Path) -> None:
    go = fake_go(tmp_path, 'echo built > "$out"; chmod +x "$out"')
    environment = {"XDG_CACHE_HOME": str(tmp_path / "cache"), "PATH": f"{go.parent}:/usr/bin:/bin"}
    folder = fill_cache(environment, without="kube-scheduler")
    said: list[str] = []

    found = ensure(environment, said.append)

    assert found["kube-scheduler"].read_text() == "built\n"
    assert said[0] == "[1/1] building kube-scheduler"
    assert re.fullmatch(r"\[1/1\] built kube-scheduler in \d+ s", said[-1])
    assert not list(folder.glob(".build-*"))


def test_the_stages_of_kwok_are_kept_beside_the_programs(tmp_path: Path) -> None:
    go = fake_go(tmp_path, ':> "$out"')
    environment = {"XDG_CACHE_HOME": str(tmp_path / "cache"), "PATH": f"{go.parent}:/usr/bin:/bin"}

    stages = ensure(environment, print).stages.read_text()

    assert [line for line in stages.splitlines() if line.startswith("name")] == [
        "name: node/fast",
        "name: node/heartbeat-with-lease",
        "name: pod/fast",
    ]
    assert "Kustomization" not in stages


def test_a_failed_build_leaves_nothing_and_says_what_the_compiler_said(tmp_path: Path) -> None:
    go = fake_go(tmp_path, ':> "$out"; echo "dial tcp: i/o timeout" >&2; exit 1')
    environment = {"XDG_CACHE_HOME": str(tmp_path / "cache"), "PATH": f"{go.parent}:/usr/bin:/bin"}

    with pytest.raises(BuildError, match=r"(?s)go build of etcd ended with code 1:.*i/o timeout.*GOPROXY"):
        ensure(environment, print)

    assert [file.name for file in cache_folder(environment).iterdir()] == [".lock"]


def test_assets_are_used_where_they_are_set(tmp_path: Path) -> None:
    assets = tmp_path / "assets"
    for name in ("etcd", "kube-apiserver"):
        program(assets / name, f"echo Kubernetes {kubernetes_version()}")
    environment = {"XDG_CACHE_HOME": str(tmp_path / "cache"), "KUBEBUILDER_ASSETS": str(assets), "PATH": ""}
    cached = fill_cache(environment)

    found = ensure(environment, print)

    assert found["etcd"] == assets / "etcd"
    assert found["kube-apiserver"] == assets / "kube-apiserver"
    assert found["kubectl"] == cached / "kubectl"


def test_an_api_server_older_than_our_scheduler_is_left_aside_and_said(tmp_path: Path) -> None:
    program(tmp_path / "etcd", "")
    program(tmp_path / "kube-apiserver", "echo Kubernetes v1.34.1")
    said: list[str] = []

    found = from_assets({"KUBEBUILDER_ASSETS": str(tmp_path)}, said.append)

    assert found == {"etcd": tmp_path / "etcd"}
    assert said == [f"the kube-apiserver in KUBEBUILDER_ASSETS is not a {kubernetes_version()}: using our own"]


def test_assets_that_are_no_folder_are_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(AssetsError, match=r"KUBEBUILDER_ASSETS names .*nowhere, which is no folder"):
        from_assets({"KUBEBUILDER_ASSETS": str(tmp_path / "nowhere")}, print)
