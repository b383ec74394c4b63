"""Lambda in small: containers that run one event at a time, time out, and are thrown away when they die."""

from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from nodewright.adapters.memory.queues import Message
from nodewright.adapters.memory.timeline import Timeline
from nodewright.application.errors import OutsideError
from tests.harness.faults import KilledError, Site

if TYPE_CHECKING:
    from tests.harness.world import World

Handler = Callable[[Message], None]


class SkewedClock:
    """A function's own clock: it runs as time does, but not from the same moment."""

    def __init__(self, timeline: Timeline, ahead: timedelta, outside: "Outside") -> None:
        self._timeline = timeline
        self._ahead = ahead
        self._outside = outside

    def now(self) -> datetime:
        return self._timeline.now() + self._ahead

    def sleep(self, duration: timedelta) -> None:
        self._timeline.sleep(duration)
        self._outside.check_time()


class Outside:
    """Everything a container's ports do goes through here, counted and named."""

    def __init__(self, world: "World", verb: str) -> None:
        self._world = world
        self._verb = verb
        self._run = 0
        self._calls = 0
        self._deadline = world.timeline.now()

    def begin(self, run: int, deadline: datetime) -> None:
        self._run, self._calls, self._deadline = run, 0, deadline

    def call(self, name: str, effect: Callable[[], object]) -> object:
        self._calls += 1
        site = Site(self._verb, self._run, self._calls, name)
        self._world.sites.append(site)
        self._world.timeline.sleep(self._world.latency())
        self.check_time()
        return self._world.faults.around(site, lambda: self._world.effect(name, effect))

    def check_time(self) -> None:
        if self._world.timeline.now() > self._deadline:
            raise KilledError(f"{self._verb} {self._run} timed out")


class Port:
    """Stands for a port, of which it knows no more than the name."""

    def __init__(self, port: object, name: str, outside: Outside) -> None:
        self._port = port
        self._name = name
        self._outside = outside

    def __getattr__(self, method: str) -> Callable[..., object]:
        whole = f"{self._name}.{method}"

        def call(*args: object, **kwargs: object) -> object:
            return self._outside.call(whole, lambda: getattr(self._port, method)(*args, **kwargs))

        return call


@dataclass(frozen=True, slots=True)
class Function:
    """What is deployed."""

    timeout: timedelta
    build: Callable[["World", str], tuple[Outside, Handler]]


@dataclass
class Lambda:
    """Runs functions; what they die of otherwise than by a kill or an error of the outside is a fault of ours."""

    world: "World"
    functions: dict[str, Function]
    runs: Counter[str] = field(default_factory=Counter)
    crashes: list[str] = field(default_factory=list)
    busy: int = 0
    _idle: defaultdict[str, list[tuple[Outside, Handler]]] = field(default_factory=lambda: defaultdict(list))

    def invoke(self, verb: str, message: Message) -> bool:
        """Whether it ended well."""
        function = self.functions[verb]
        idle = self._idle[verb]
        outside, handler = container = idle.pop() if idle else function.build(self.world, verb)
        run = self.runs[verb] = self.runs[verb] + 1
        outside.begin(run, self.world.timeline.now() + function.timeout)
        self.busy += 1
        try:
            handler(message)
        except KilledError:
            return False
        except OutsideError:
            idle.append(container)
            return False
        except Exception as error:  # noqa: BLE001  whatever else it is, it is to be reported
            self.crashes.append(f"{verb} {run}: {type(error).__name__}: {error}")
            return False
        else:
            idle.append(container)
            return True
        finally:
            self.busy -= 1
