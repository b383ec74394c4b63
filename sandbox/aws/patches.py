"""Changes to moto's classes that are undone when the sandbox ends."""

from typing import Any


class Patches:
    """Replaces attributes and puts the originals back, last replaced first."""

    def __init__(self) -> None:
        self._originals: list[tuple[Any, str, Any]] = []

    def replace(self, owner: Any, name: str, value: Any) -> Any:
        """Set `owner.name` and return what was there (for a class: as stored, unbound)."""
        original = vars(owner)[name]
        self._originals.append((owner, name, original))
        setattr(owner, name, value)
        return original

    def undo(self) -> None:
        """Put everything back."""
        while self._originals:
            setattr(*self._originals.pop())
