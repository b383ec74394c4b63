"""Why a launch's type was chosen, in words: short, and nothing that isn't in the plan or on its pool's shelf."""

from collections.abc import Iterator
from typing import Final

from nodewright.domain.money import show_usd
from nodewright.domain.plans import Launch
from nodewright.domain.quantities import EPHEMERAL_STORAGE, MEMORY, Resources
from nodewright.domain.scheduling.launch_lists import MOST_TYPES, dearest
from nodewright.domain.scheduling.type_choices import Absence, Sold, TypeChoice


def told_of(launch: Launch, choice: TypeChoice | None) -> tuple[str, ...]:
    """All there is to say."""
    return () if choice is None else (*why_this_type(launch, choice), *_listed(launch, choice))


def why_this_type(launch: Launch, choice: TypeChoice | None) -> tuple[str, ...]:
    """A phrase each: the price, what is next, what is too small, and the other way to buy."""
    if choice is None:
        return ()
    return (_cheapest(launch, choice), *_around(launch, choice), _way(launch, choice))


def _cheapest(launch: Launch, choice: TypeChoice) -> str:
    kind = f"{launch.instance_types[0]} at {show_usd(launch.price)}"
    if choice.kept_off is not None:
        return (
            f"{kind}: {_told(choice.kept_off)} in {choice.kept_off.zone} would hold its pods for less, but spread,"
            " affinity, preferences, limits or minValues rule it out"
        )
    if choice.holding <= 1:
        return f"{kind}: the only type that its pods may use and that holds them"
    return f"{kind}: the cheapest of {choice.holding} types that hold its pods"


def _around(launch: Launch, choice: TypeChoice) -> Iterator[str]:
    if choice.next_best is not None:
        more = (choice.next_best.price - launch.price) * 100 / max(launch.price, 1)
        yield f"next is {_told(choice.next_best)}" + (f" (+{more:.1f} %)" if more > 0 else "")
    if choice.too_small is not None:
        yield f"{_told(choice.too_small)} lacks {_shown(choice.lacking)}"


def _way(launch: Launch, choice: TypeChoice) -> str:
    other = "spot" if launch.capacity_type == "on-demand" else "on-demand"
    if choice.other_way is not None:
        return f"{other} would be {_told(choice.other_way)}"
    return _ABSENT[choice.absence].format(way=other)


_ABSENT: Final[dict[Absence, str]] = {
    "": "",
    "pool": "its pool sells no {way}",
    "pods": "its pods don't go to {way}",
    "capacity": "EC2 has no {way} of it just now",
    "size": "its pool sells nothing as large {way}",
}


def _listed(launch: Launch, choice: TypeChoice) -> Iterator[str]:
    """What EC2 may choose from, and what ended that list."""
    if choice.listed == 1 and not choice.barred:
        return
    most = f"up to {show_usd(max(offering.price for offering in launch.offerings))}"
    dearer = choice.holding - choice.listed - choice.barred
    if dearer > 0:
        why = "1.3 times its price" if choice.ceiling >= dearest(launch.price) else "what on-demand costs"
        most += f" (not over {show_usd(choice.ceiling)}, {why})"
    yield f"EC2 may choose among {choice.listed} types {most}" + _barred(choice)


def _barred(choice: TypeChoice) -> str:
    if not choice.barred:
        return ""
    why = "a launch has no room for" if choice.listed >= MOST_TYPES else "limits or rules between pods leave out"
    return f"; {choice.barred} more {why}"


def _shown(lacking: Resources) -> str:
    """Whole mebibytes: nobody asks for single bytes."""
    rounded = {name: -(-amount // _MEBI) * _MEBI if name in _BYTES else amount for name, amount in lacking.items()}
    return str(Resources(rounded))


_BYTES: Final = frozenset({MEMORY, EPHEMERAL_STORAGE})
_MEBI: Final = 2**20


def _told(sold: Sold) -> str:
    return f"{sold.instance_type} at {show_usd(sold.price)}"
