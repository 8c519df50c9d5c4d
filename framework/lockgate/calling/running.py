"""Running a tool's own code: in a task of its own, under a deadline, whatever it raises or swallows."""

import asyncio
from dataclasses import dataclass
from typing import Any

from lockgate.calling.delivery import Delivered, delivered
from lockgate.errors import ToolFailed
from lockgate.tools.base import DEFAULT_TIMEOUT, Tool
from lockgate.tools.context import ToolContext
from lockgate.tools.function import FunctionTool
from lockgate.tools.result import ToolResult
from lockgate.tools.threads import run_in_thread

_OUR_OWN = (Tool.timeout, FunctionTool.timeout)

ASK_DEADLINE = 2.0
"""Seconds a tool has to say how long a call may take; the default counts where it does not."""

GRACE = 0.1
"""Seconds a cancelled tool has to end before it is left behind."""

_left_behind: "set[asyncio.Task[Any]]" = set()  # the event loop itself holds tasks weakly only


@dataclass(frozen=True, slots=True)
class Failed:
    """The tool raised, or (`of_result`) what it returned could not be read."""

    error: BaseException
    of_result: bool = False


@dataclass(frozen=True, slots=True)
class Late:
    """The tool took too long."""

    seconds: float


async def _contained(tool: Tool, arguments: Any, context: ToolContext) -> Delivered | Failed:
    """Run the tool; whatever it raises becomes a value. A SystemExit in a task would end the whole event loop."""
    try:
        returned: object = await tool.execute(arguments, context)
    except (asyncio.CancelledError, KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:  # noqa: BLE001 - a tool is a stranger's code
        return Failed(error)
    if not isinstance(returned, ToolResult):
        return Failed(ToolFailed(f"it returned a {type(returned).__name__} and no ToolResult"), of_result=True)
    try:
        return delivered(returned)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - reading what it returned may run its code, too
        return Failed(error, of_result=True)


async def _seconds(tool: Tool, context: ToolContext) -> float:
    """Ask how long a call may take; off the event loop where the answer is a stranger's code."""
    if type(tool).timeout in _OUR_OWN:
        return _sound(tool.timeout(context.settings))
    asked = asyncio.ensure_future(run_in_thread(_answer_of, tool, context))
    try:
        await asyncio.wait((asked,), timeout=ASK_DEADLINE)
        return _sound(asked.result()) if asked.done() else DEFAULT_TIMEOUT
    finally:
        asked.cancel()


def _answer_of(tool: Tool, context: ToolContext) -> object:
    try:
        return tool.timeout(context.settings)
    except BaseException:  # noqa: BLE001 - the tool's own code; raised out of a task, a SystemExit ends the event loop
        return None


def _sound(seconds: object) -> float:
    if isinstance(seconds, int | float) and not isinstance(seconds, bool) and 0 < seconds < float("inf"):
        return float(seconds)
    return DEFAULT_TIMEOUT


async def run_tool(tool: Tool, arguments: Any, context: ToolContext) -> Delivered | Failed | Late:
    """Run a tool and wait at most as long as it asked for.

    A tool that swallows its cancellation is left behind. The context is closed when this returns or raises.
    Cancelling the caller cancels the tool and does not wait longer than the grace.

    Raises:
        asyncio.CancelledError: The caller was cancelled, never because the tool was.
    """
    seconds = await _seconds(tool, context)
    task = asyncio.ensure_future(_contained(tool, arguments, context))
    try:
        await asyncio.wait((task,), timeout=seconds)
        if not task.done():
            context.state.closed = True
            await end_task(task)
            return Late(seconds)
    except asyncio.CancelledError:
        context.state.closed = True
        await end_task(task)
        raise
    finally:
        context.state.closed = True
    if task.cancelled():
        return Failed(ToolFailed("it was cancelled from inside"))
    error = task.exception()
    if error is not None:  # a GeneratorExit; a KeyboardInterrupt has ended the event loop
        return Failed(error)
    return task.result()


async def end_task(task: "asyncio.Task[Any]") -> None:
    """Cancel a task and wait for the grace; one that holds on to its cancellation is left behind."""
    task.cancel()
    try:
        await asyncio.wait((task,), timeout=GRACE)
    finally:
        if not task.done():
            _leave(task)
        elif not task.cancelled():
            task.exception()


def _leave(task: "asyncio.Task[Any]") -> None:
    """Let go of a task. `asyncio.run` would wait for it for ever."""
    _left_behind.difference_update([other for other in _left_behind if other.get_loop().is_closed()])
    _left_behind.add(task)
    task.add_done_callback(_forget)
    asyncio.tasks._unregister_task(task)  # noqa: SLF001 - documented for those who keep their own tasks
    task._log_destroy_pending = False  # type: ignore[attr-defined]  # noqa: SLF001 - it was told as a late call


def _forget(task: "asyncio.Task[Any]") -> None:
    _left_behind.discard(task)
    if not task.cancelled():
        task.exception()
