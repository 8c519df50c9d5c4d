"""What the tests of the registry make their registries of."""

from collections.abc import Sequence
from typing import Any

from lockgate.registry import Contribution, Owner, Registry, Rules
from lockgate.tools import Tool, tool


def owner(name: str) -> Owner:
    """Return an owner of that distribution."""
    return Owner(name, "1.0", entry_point=name)


def simple(tool_id: str, **facts: Any) -> Tool:
    """Make a tool without arguments."""

    @tool(id=tool_id, **facts)
    def made() -> str:
        """Do something."""
        return tool_id

    return made


def registry(*items: tuple[str, str, object], rules: Rules | None = None) -> Registry:
    """Register (distribution, kind, value)."""
    contributions = [Contribution(kind, value, owner(name)) for name, kind, value in items]
    return Registry(contributions, rules or Rules())


def reasons(made: Registry) -> Sequence[str]:
    """Return what was rejected, in words."""
    return [str(rejection) for rejection in made.rejections]
