"""Writing to a terminal: safe text, colours only where they are wanted, one console for each stream."""

import json
import os
import sys
import traceback
from functools import cache
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.console import Console

_DELETED = {code: None for code in (*range(32), *range(127, 160)) if chr(code) not in "\n\t"}
_DELETED.update(dict.fromkeys((0x202A, 0x202B, 0x202D, 0x202E, 0x2028, 0x2029)))


def safe(text: str) -> str:
    """Return text of a model, a tool or a host without what could steer a terminal: controls, escapes, overrides."""
    return text.translate(_DELETED)


def one_line(text: str, longest: int = 200) -> str:
    """Return safe text on one line, cut."""
    line = " ".join(safe(text).split())
    return line if len(line) <= longest else line[: longest - 1] + "…"


@cache
def console() -> "Console":
    """The console of standard output."""
    return _console(sys.stdout)


@cache
def notes() -> "Console":
    """The console of standard error: progress, calls, notices."""
    return _console(sys.stderr)


def _console(stream: TextIO) -> "Console":
    from rich.console import Console

    return Console(file=stream, highlight=False, soft_wrap=not stream.isatty(), emoji=False, markup=False)


def show_error(error: BaseException) -> None:
    """Say in one sentence what went wrong; the traceback only for who asked for it with LOCKGATE_DEBUG."""
    notes().print("Error:", style="bold red", end=" ")
    notes().print(safe(str(error)))
    if os.environ.get("LOCKGATE_DEBUG"):
        notes().print("".join(traceback.format_exception(error)), style="dim")


def write_json(value: object) -> None:
    """Write one JSON value on a line. JSON escapes controls itself."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False) + "\n")
    sys.stdout.flush()


def write(text: str) -> None:
    """Write a piece of the answer at once."""
    sys.stdout.write(safe(text))
    sys.stdout.flush()
