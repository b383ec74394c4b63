"""What the world is like between our functions: how late, how often, how wrong its clocks."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from random import Random

from nodewright.adapters.memory.machines import BOOT
from nodewright.adapters.memory.queues import Message


@dataclass(frozen=True, slots=True)
class Weather:
    """Probabilities, and seconds at most. What the design doesn't count as lossy is never lost."""

    latency: tuple[float, float] = (0.005, 0.005)
    """Of one call, from and to."""
    skew: float = 0.0
    """Of a container's clock, to either side."""
    webhooks_lost: float = 0.0
    hints_lost: float = 0.0
    late: float = 0.0
    """How much later than promptly a message may come; so messages overtake each other."""
    doubled: float = 0.0
    describe_lag: float = 0.0
    boot: tuple[timedelta, timedelta] = (BOOT, BOOT)
    faults: float = 0.0
    """Of one call."""


CALM = Weather()
ROUGH = Weather(
    latency=(0.002, 0.4),
    skew=60,
    webhooks_lost=0.2,
    hints_lost=0.2,
    late=20,
    doubled=0.2,
    describe_lag=5,
    boot=(timedelta(seconds=15), timedelta(seconds=120)),
    faults=0.02,
)


@dataclass
class Winds:
    """A weather and its luck; it can calm down."""

    weather: Weather
    chance: Random

    def calm(self) -> None:
        """From now on nothing is lost, late or wrong."""
        self.weather = CALM

    def latency(self) -> timedelta:
        return timedelta(seconds=self.chance.uniform(*self.weather.latency))

    def skew(self) -> timedelta:
        return timedelta(seconds=self.chance.uniform(-self.weather.skew, self.weather.skew))

    def webhook_comes(self) -> bool:
        return self.chance.random() >= self.weather.webhooks_lost

    def hint(self, message: Message) -> Iterable[timedelta]:
        if self.chance.random() < self.weather.hints_lost:
            return ()
        return self.work(message)

    def work(self, _message: Message) -> Iterable[timedelta]:
        """Never lost."""
        times = 2 if self.chance.random() < self.weather.doubled else 1
        return tuple(timedelta(seconds=self.chance.uniform(0, self.weather.late)) for _ in range(times))
