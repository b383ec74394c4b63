"""Raw JSON of Kubernetes and Karpenter objects, read into values of the domain. No I/O."""
