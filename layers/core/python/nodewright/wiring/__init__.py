"""Composition root, a module per function: the only place that constructs adapters.

Apart so that a function imports only what it needs; notify must start in a blink.
"""
