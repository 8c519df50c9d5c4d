"""Asking a plugin a question whose answer is copied at once, where a deadline holds and nothing raised gets out."""

import asyncio
import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from lockgate.registry.beside import guarded_beside
from lockgate.registry.contribution import Owner
from lockgate.registry.incidents import IncidentLog

PASSING = (asyncio.CancelledError, KeyboardInterrupt, GeneratorExit)
"""What a guard around one plugin lets through: the caller's cancellation, and the person at the keyboard."""

A = TypeVar("A")


async def ask_beside(
    owner: Owner,
    what: str,
    function: Callable[[], Any],
    copying: Callable[[Any], A],
    *,
    deadline: float,
    fallback: Any,
    incidents: IncidentLog,
) -> A | Any:
    """Ask a plugin on an event loop beside the caller's, and make a plain value of the answer there.

    The answer is a stranger's object: its ``__bool__``, ``__str__`` and iterators run code, too.

    Args:
        owner: Whose code it is.
        what: What is called; see `guarded_acall`.
        function: Asks. What it returns is awaited where it can be.
        copying: Makes a plain value of the answer.
        deadline: Seconds for both.
        fallback: What is returned when either raises or is late.
        incidents: Where a failure is written.
    """

    async def asked() -> A:
        found = function()
        return copying(await found if inspect.isawaitable(found) else found)

    return await guarded_beside(owner, what, asked, deadline=deadline, fallback=fallback, incidents=incidents)
