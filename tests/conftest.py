"""How Hypothesis makes examples up: the same ones on every machine, however slow or busy that is.

A law that fails must fail for whoever changed something, not for whoever runs the tests next, and how long an example
takes on a busy machine says nothing of it. `--hypothesis-profile=search` looks at others than the usual ones.
"""

from hypothesis import HealthCheck, settings

_UNHURRIED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

settings.register_profile("search", _UNHURRIED)
settings.register_profile("same", _UNHURRIED, derandomize=True)
settings.load_profile("same")
