"""A pack that does what it should."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from lockgate import hookimpl

if TYPE_CHECKING:
    from lockgate import Tool


@hookimpl
def lockgate_tools() -> "Iterable[Tool]":
    """Bring one tool."""
    from stranger_good.weather import get_weather

    return [get_weather]
