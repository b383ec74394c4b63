"""Manifests of any generation written as v1 (karpenter-behaviour §3)."""
