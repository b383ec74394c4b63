"""A scenario played to its end, and what came of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from tests.application.world import CLUSTER
from tests.harness.faults import Fault, Site
from tests.harness.quiet import dead_letters, unfinished
from tests.harness.scenarios import MINUTE, Scenario
from tests.harness.weather import CALM, Weather
from tests.harness.world import World

#: So many looks in a row must find nothing changed and nothing to be done.
LOOKS = 3


@dataclass(frozen=True, slots=True)
class Played:
    """The end."""

    wrong: tuple[str, ...]
    sites: tuple[Site, ...]
    """Every call until a minute at most after the last of them that changed anything."""
    happened: tuple[Fault, ...]
    bought: int
    lasted: timedelta


def play(scenario: Scenario, seed: int = 0, given: Sequence[Fault] = (), weather: Weather = CALM) -> Played:
    """Play it, then wait in calm until everything is as it should be and stays so, or patience is over."""
    world = World(seed, weather, given)
    begun = world.timeline.now()
    scenario.play(world)
    world.timeline.run_until(begun + scenario.lasts)
    world.winds.calm()
    world.faults.end()
    end = begun + scenario.lasts + scenario.patience
    wrong, quiet, before, active = ["not looked at"], 0, "", 0
    while quiet < LOOKS and world.timeline.now() < end:
        world.timeline.run_until(world.timeline.now() + MINUTE)
        wrong, now = unfinished(world, scenario.may_wait, scenario.nodes), _shape(world)
        quiet = quiet + 1 if not wrong and world.is_idle and now == before else 0
        active = active if now == before else len(world.sites)
        before = now
    if quiet < LOOKS and not wrong:
        wrong = ["it never comes to rest"]
    return Played(
        wrong=(
            *wrong,
            *(dead_letters(world) if weather == CALM else ()),
            *world.watch.violations,
            *world.lambdas.crashes,
        ),
        sites=tuple(world.sites[:active]),
        happened=tuple(world.faults.happened),
        bought=len(world.fleet.instances),
        lasted=world.timeline.now() - begun,
    )


def _shape(world: World) -> str:
    """What would differ if anything were still going on."""
    pods = sorted((str(pod.key), pod.node_name) for pod in world.cluster.pods.values())
    return f"{world.ledger.claims(CLUSTER)} {[i.id for i in world.alive]} {pods}"
