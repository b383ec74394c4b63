"""What can go wrong outside, in few words an application understands."""


class OutsideError(Exception):
    """Base of all: something outside didn't do what we asked."""


class UnavailableError(OutsideError):
    """Throttled, timed out or down: the same call later may succeed."""


class UnreachableError(UnavailableError):
    """Nobody answered at all: asking again costs the whole wait once more."""


class RefusedError(OutsideError):
    """Understood and refused: the same call will be refused again. The message says by whom and why."""


class NotFoundError(OutsideError):
    """The thing isn't there."""


class ConflictError(OutsideError):
    """Somebody else changed it first: read again and decide anew."""
