"""Instances of the sandbox's AWS become Nodes of its control plane, as their own user data says."""
