"""Instance profiles without IAM."""

from dataclasses import dataclass, field

from nodewright.application.errors import RefusedError


@dataclass
class InMemoryInstanceProfiles:
    """`roles` are those that exist; `profiles` maps a profile's name to its role."""

    roles: set[str] = field(default_factory=set)
    profiles: dict[str, str] = field(default_factory=dict)

    def ensure(self, cluster: str, node_class: str, role: str) -> str:
        """Name of a profile with this role."""
        role = role.rpartition("/")[2]
        if role not in self.roles:
            raise RefusedError(f"IAM has no role {role}: make it, or change spec.role of the class")
        name = f"{cluster}-{node_class}-{role}"
        if self.profiles.setdefault(name, role) != role:
            raise RefusedError(f"instance profile {name} has role {self.profiles[name]} in place of {role}")
        return name
