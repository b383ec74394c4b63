"""What a stack has that runs, or that makes something run: the values read from its template."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sandbox.lambdas.outcome import Json


@dataclass(frozen=True, slots=True)
class FunctionSpec:
    """A function as the template has it; `environment` is as written, with its intrinsics."""

    logical_id: str
    handler: str
    code_dir: Path
    layer_dirs: tuple[Path, ...]
    timeout_seconds: int
    memory_mb: int
    recursive_loop_allowed: bool
    environment: Mapping[str, Json]
    log_format: str = "Text"
    log_level: str | None = None
    reserved_concurrency: int | None = None


@dataclass(frozen=True, slots=True)
class QueueSource:
    """An event source mapping from a queue to a function."""

    logical_id: str
    function: str
    queue: str
    batch_size: int
    partial_batch: bool
    window_seconds: int
    maximum_concurrency: int | None


@dataclass(frozen=True, slots=True)
class Target:
    """Where a rule sends: a function or a queue, and what it makes of the event."""

    resource: str
    message_group_id: str | None
    input: str | None
    input_path: str | None
    input_paths: Mapping[str, str]
    input_template: str | None


@dataclass(frozen=True, slots=True)
class Rule:
    """An EventBridge rule of the default bus."""

    logical_id: str
    event_pattern: Mapping[str, Json] | None
    schedule: str | None
    enabled: bool
    targets: tuple[Target, ...]


@dataclass(frozen=True, slots=True)
class Route:
    """One route of the HTTP API; method ANY and path `$default` take everything."""

    method: str
    path: str
    function: str

    @property
    def key(self) -> str:
        """As API Gateway writes it into the event."""
        return self.path if self.path == "$default" else f"{self.method} {self.path}"


@dataclass(frozen=True, slots=True)
class Throttle:
    """A stage's limit: so many requests a second, in bursts of so many."""

    rate: float
    burst: int


@dataclass(frozen=True, slots=True)
class Assembly:
    """Everything the sandbox runs of one stack."""

    stack: str
    functions: Mapping[str, FunctionSpec]
    queue_sources: tuple[QueueSource, ...]
    rules: tuple[Rule, ...]
    routes: tuple[Route, ...]
    throttle: Throttle | None
    queues: frozenset[str]
