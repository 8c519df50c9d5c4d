"""The entrance: runs a command, turns what it raises into one sentence and a status, and leaves."""

import os
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import NoReturn

import click

import lockgate
from lockgate.cli.groups import LazyGroup

_THREADS_DEADLINE = 0.3
"""Seconds that threads have to end by themselves before the process ends without them."""


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(lockgate.__version__, prog_name="lockgate")
def cli() -> None:
    """Tool calling for language models under rules that an organization sets.

    Exit status: 0 done, 1 failed, 2 not understood, 3 configuration, 4 provider, 5 denied by a rule, 6 document,
    7 answered in part, 130 interrupted.
    """


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and end the process with its status.

    Args:
        arguments: What was typed behind ``lockgate``; that of the process when left out.
    """
    from lockgate.cli.terminal import prepare_streams

    prepare_streams()
    status = _status(arguments)
    _flush()
    _leave_stuck_threads(status)
    raise SystemExit(status)


def _status(arguments: Sequence[str] | None) -> int:
    try:
        result = cli.main(arguments, prog_name="lockgate", standalone_mode=False)
    except SystemExit as end:  # click, when nobody reads the output any more
        return end.code if isinstance(end.code, int) else 1
    except BaseException as error:  # noqa: BLE001 - nobody has to read a traceback
        return _told(error)
    return int(result or 0)


def _told(error: BaseException) -> int:
    """Say what went wrong; return the status."""
    if isinstance(error, click.exceptions.Exit):
        return error.exit_code
    if isinstance(error, click.ClickException):
        error.show()
        return error.exit_code
    if isinstance(error, BrokenPipeError):
        return 1
    from lockgate.cli.exit_status import ExitStatus, status_of
    from lockgate.cli.running import Interrupted
    from lockgate.cli.terminal import show_error

    if isinstance(error, click.exceptions.Abort | KeyboardInterrupt | Interrupted):
        click.echo("Interrupted.", err=True)
        return ExitStatus.INTERRUPTED
    if not isinstance(error, lockgate.LockgateError):
        unexpected = lockgate.LockgateError(
            f"Something unexpected happened ({type(error).__name__}: {error}). LOCKGATE_DEBUG=1 shows where."
        )
        unexpected.__cause__ = error
        error = unexpected
    show_error(error)
    return status_of(error)


def _flush() -> None:
    """Write out what is buffered. Where nobody reads it any more, it goes nowhere, without a word."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            with suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _leave_stuck_threads(status: int) -> None:
    """End the process here and now if a thread hangs: Python would wait for it for ever."""
    ends = time.monotonic() + _THREADS_DEADLINE
    for thread in threading.enumerate():
        if thread is threading.current_thread() or thread.daemon:
            continue
        thread.join(max(0.0, ends - time.monotonic()))
        if thread.is_alive():
            os._exit(status)
