"""Which plugins may load, and how long they may take."""

import math
import re
from dataclasses import dataclass

from lockgate.settings.typed import Fields, WrongValue, shown

IMPORT_DEADLINE = 20.0
"""Seconds the import of one plugin may take. Generous: a cold disk and a large package are no fault."""

HOOK_DEADLINE = 5.0
"""Seconds one hook of one plugin may take, its items read to the end included."""


def normalized(distribution: str) -> str:
    """Return the name of a distribution as names are compared (PEP 503): ``My.Pack`` is ``my-pack``."""
    return re.sub(r"[-_.]+", "-", distribution).lower()


@dataclass(frozen=True, slots=True)
class HostPolicy:
    """What the user and the organization decide about plugins before any of them is imported.

    Attributes:
        allowed: The distributions that may load, in any spelling; None for all. Plugins that the program
            hands over in code are the program's own decision and pass.
        disabled: Names of entry points or of distributions that must not load.
        deadline: Seconds for one hook of one plugin; more than 0.
        import_deadline: Seconds for the import of one plugin; more than 0.

    Raises:
        ConfigurationError: A value has a wrong type or a number is out of range. Any collection of names is taken.
    """

    allowed: frozenset[str] | None = None
    disabled: frozenset[str] = frozenset()
    deadline: float = HOOK_DEADLINE
    import_deadline: float = IMPORT_DEADLINE

    def __post_init__(self) -> None:
        check = Fields(self)
        check.set_of_texts("allowed", "good-pack", optional=True)
        check.set_of_texts("disabled", "good-pack")
        for name in ("deadline", "import_deadline"):
            value = getattr(self, name)
            if type(value) not in {int, float} or not 0 < value < math.inf:
                raise WrongValue(
                    f"HostPolicy.{name} is {shown(value)}; it must be a number of seconds above 0, and a finite one."
                )

    def allows(self, distribution: str) -> bool:
        """Tell whether a distribution is on the allow list, or there is none."""
        if self.allowed is None:
            return True
        return normalized(distribution) in {normalized(name) for name in self.allowed}

    def disables(self, distribution: str, entry_point: str) -> bool:
        """Tell whether a plugin is switched off by the name of its entry point or of its distribution."""
        if entry_point in self.disabled:
            return True
        return bool(distribution) and normalized(distribution) in {normalized(name) for name in self.disabled}
