"""Taints and tolerations, by the rules of the Kubernetes API (cases.md 4)."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal, get_args

Effect = Literal["NoSchedule", "PreferNoSchedule", "NoExecute"]


@dataclass(frozen=True, slots=True)
class Taint:
    """What keeps pods off a node unless they tolerate it."""

    key: str
    value: str = ""
    effect: Effect = "NoSchedule"

    def __str__(self) -> str:
        return f"{self.key}={self.value}:{self.effect}" if self.value else f"{self.key}:{self.effect}"


@dataclass(frozen=True, slots=True)
class Toleration:
    """Which taints a pod bears. An empty effect stands for every effect, an empty key with
    Exists for every key. `tolerationSeconds` is about eviction and doesn't matter here.
    """

    key: str = ""
    operator: Literal["Equal", "Exists"] = "Equal"
    value: str = ""
    effect: Effect | Literal[""] = ""

    def problem(self) -> str | None:
        """Why the API would refuse it, with the fix; None when it is valid."""
        if self.operator not in {"Equal", "Exists"}:
            return f"operator {self.operator!r} is not known; use Equal or Exists"
        if self.effect and self.effect not in _EFFECTS:
            return f"effect {self.effect!r} is not known; use {', '.join(_EFFECTS)} or leave it out"
        if not self.key and self.operator != "Exists":
            return "an empty key needs operator Exists; name the key or use Exists"
        if self.operator == "Exists" and self.value:
            return f"operator Exists takes no value; remove {self.value!r} or use Equal"
        return None

    def matches(self, taint: Taint) -> bool:
        """Whether it bears this taint; an invalid toleration bears none."""
        if self.problem() is not None or (self.effect and self.effect != taint.effect):
            return False
        if self.operator == "Exists":
            return self.key in {"", taint.key}
        return self.key == taint.key and self.value == taint.value


def tolerates(tolerations: Iterable[Toleration], taint: Taint) -> bool:
    """Whether any of them bears the taint."""
    return any(toleration.matches(taint) for toleration in tolerations)


def untolerated(tolerations: Iterable[Toleration], taints: Iterable[Taint], soft: bool = False) -> tuple[Taint, ...]:
    """The taints that keep a pod off.

    PreferNoSchedule never blocks; `soft` asks for it to be listed too, for ranking.
    """
    borne = tuple(tolerations)
    return tuple(
        taint for taint in taints if (soft or taint.effect != "PreferNoSchedule") and not tolerates(borne, taint)
    )


def is_soft(taint: Taint) -> bool:
    """It ranks nodes and keeps nobody off."""
    return taint.effect == "PreferNoSchedule"


def is_ephemeral(taint: Taint) -> bool:
    """Goes away by itself while a node starts, so it is ignored until the node is initialized
    (karpenter-behaviour §6.7).
    """
    effects = _EPHEMERAL.get(taint.key, ())
    return taint.effect in effects or taint.key.startswith("readiness.k8s.io/")


_EFFECTS: Final[tuple[Effect, ...]] = get_args(Effect)
_EPHEMERAL: Final[dict[str, tuple[Effect, ...]]] = {
    "node.kubernetes.io/not-ready": ("NoSchedule", "NoExecute"),
    "node.kubernetes.io/unreachable": ("NoSchedule",),
    "node.cloudprovider.kubernetes.io/uninitialized": _EFFECTS,
    "karpenter.sh/unregistered": _EFFECTS,
}
