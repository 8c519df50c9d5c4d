"""What became of a plugin, as a value."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from types import MappingProxyType

from lockgate.registry.contribution import Owner


class PluginState(Enum):
    """What became of a plugin."""

    LOADED = "loaded"
    DISABLED = "disabled"
    NOT_ALLOWED = "not allowed"
    UNSUPPORTED = "unsupported"
    QUARANTINED = "quarantined"


@dataclass(frozen=True, slots=True)
class PluginRecord:
    """One plugin, as it stands now.

    Attributes:
        owner: Distribution, version and entry point.
        state: What became of it. All but LOADED contribute nothing.
        reason: Why it is not LOADED, in one sentence; empty otherwise.
        traceback: The traceback that goes with the reason; empty where there was no exception.
        hooks: The hooks it implements.
        pending: What it implements without anybody having specified it.
        problems: What is wrong with a plugin that is loaded nevertheless, one sentence each.
        notes: What is no problem and still worth knowing, one sentence each.
        counts: Hook without ``lockgate_`` → number of items, for the hooks that were asked so far.
        import_ms: Milliseconds its import took; None when it was not imported.
    """

    owner: Owner
    state: PluginState
    reason: str = ""
    traceback: str = ""
    hooks: tuple[str, ...] = ()
    pending: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    counts: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    import_ms: float | None = None

    @property
    def name(self) -> str:
        """The name of the entry point; of the module or class for a plugin handed over in code."""
        return self.owner.entry_point

    @property
    def distribution(self) -> str:
        """The distribution; empty for a plugin handed over in code."""
        return self.owner.distribution

    @property
    def version(self) -> str:
        """The version of the distribution."""
        return self.owner.version
