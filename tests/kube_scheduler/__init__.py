"""The real kube-scheduler as an oracle: it binds what was planned, in whatever order, or the plan is wrong."""
