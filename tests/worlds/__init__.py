"""Small clusters that Hypothesis makes up, adversarial but seldom hopeless."""

from tests.worlds.clusters import plain_worlds, worlds
from tests.worlds.shown import shown

__all__ = ["plain_worlds", "shown", "worlds"]
