"""Running a tool's own code: in a task of its own, under a deadline, whatever it raises or swallows."""

import asyncio
from dataclasses import dataclass
from typing import Any

from lockgate.errors import ToolFailed
from lockgate.tools.base import DEFAULT_TIMEOUT, Tool
from lockgate.tools.context import ToolContext
from lockgate.tools.result import ToolResult

GRACE = 0.1
"""Seconds a cancelled tool has to end before it is left behind."""

_left_behind: "set[asyncio.Task[Any]]" = set()  # the event loop itself holds tasks weakly only


@dataclass(frozen=True, slots=True)
class Failed:
    """The tool raised."""

    error: BaseException


@dataclass(frozen=True, slots=True)
class Late:
    """The tool took too long."""

    seconds: float


async def _contained(tool: Tool, arguments: Any, context: ToolContext) -> ToolResult | Failed:
    """Run the tool; whatever it raises becomes a value. A SystemExit in a task would end the whole event loop."""
    try:
        returned: object = await tool.execute(arguments, context)
    except (asyncio.CancelledError, KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:  # noqa: BLE001 - a tool is a stranger's code
        return Failed(error)
    if isinstance(returned, ToolResult):
        return returned
    return Failed(ToolFailed(f"it returned a {type(returned).__name__} and no ToolResult"))


def _seconds(tool: Tool, context: ToolContext) -> float:
    try:
        seconds = float(tool.timeout(context.settings))
    except Exception:  # noqa: BLE001 - likewise
        return DEFAULT_TIMEOUT
    return seconds if 0 < seconds < float("inf") else DEFAULT_TIMEOUT


async def run_tool(tool: Tool, arguments: Any, context: ToolContext) -> ToolResult | Failed | Late:
    """Run a tool and wait at most as long as it asked for.

    A tool that swallows its cancellation is left behind; its context is closed by the caller. Cancelling the caller
    cancels the tool and does not wait longer than the grace.

    Raises:
        asyncio.CancelledError: The caller was cancelled, never because the tool was.
    """
    seconds = _seconds(tool, context)
    task = asyncio.ensure_future(_contained(tool, arguments, context))
    try:
        await asyncio.wait((task,), timeout=seconds)
    except asyncio.CancelledError:
        context.state.closed = True
        await _stop(task)
        raise
    if not task.done():
        context.state.closed = True
        await _stop(task)
        return Late(seconds)
    if task.cancelled():
        return Failed(ToolFailed("it was cancelled from inside"))
    return task.result()


async def _stop(task: "asyncio.Task[Any]") -> None:
    task.cancel()
    try:
        await asyncio.wait((task,), timeout=GRACE)
    finally:
        if not task.done():
            _left_behind.add(task)
            task.add_done_callback(_forget)
        elif not task.cancelled():
            task.exception()


def _forget(task: "asyncio.Task[Any]") -> None:
    _left_behind.discard(task)
    if not task.cancelled():
        task.exception()
