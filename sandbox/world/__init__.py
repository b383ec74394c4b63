"""The whole system on this machine: AWS, a deployed stack whose functions run, and a cluster connected to it."""

from sandbox.world.world import World

__all__ = ["World"]
