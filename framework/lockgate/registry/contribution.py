"""What plugins contribute, as plain values. The registry never learns how they were found."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Owner:
    """Where a contribution comes from.

    Attributes:
        distribution: Name of the installed distribution; empty for something handed over in code.
        version: Its version.
        entry_point: Name of the entry point; together with the distribution it orders collisions.
        first_party: The framework itself or a plugin handed over by the program; for display only, gives no privilege.
    """

    distribution: str
    version: str = ""
    entry_point: str = ""
    first_party: bool = False

    def __str__(self) -> str:
        """Words for a person: ``my-pack 1.2 (entry point 'mytools')``."""
        named = f"{self.distribution} {self.version}".strip() or "this program"
        return f"{named} (entry point {self.entry_point!r})" if self.entry_point else named

    def is_same_pack(self, other: "Owner") -> bool:
        """Tell whether two come from one pack. Plugins handed over in code have no distribution to share."""
        return self.distribution == other.distribution and (
            bool(self.distribution) or self.entry_point == other.entry_point
        )

    @property
    def order(self) -> tuple[str, str]:
        """What registration is ordered by."""
        return (self.distribution.lower(), self.entry_point)


FRAMEWORK = Owner("lockgate-framework", first_party=True)


@dataclass(frozen=True, slots=True)
class Contribution:
    """One item of one plugin.

    Attributes:
        kind: The hook it came through, without the prefix ``lockgate_``: ``tools``, ``collections``, …
        value: The item.
        owner: Who contributes it.
    """

    kind: str
    value: Any
    owner: Owner
