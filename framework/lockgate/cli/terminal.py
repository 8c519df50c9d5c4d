"""Writing to a terminal: safe text, colours only where they are wanted, one console for each stream."""

import json
import os
import re
import sys
import traceback
from functools import cache
from typing import TYPE_CHECKING, TextIO

from lockgate.errors import ProviderError

if TYPE_CHECKING:
    from rich.console import Console

_CONTROLS = [code for code in (*range(32), *range(127, 160)) if chr(code) not in "\n\t"]
_DIRECTIONS = (*range(0x202A, 0x202F), *range(0x2066, 0x206A))  # they reorder what stands around them
_DELETED = dict.fromkeys((*_CONTROLS, *_DIRECTIONS, 0x2028, 0x2029))
_ESCAPED = {code: f"\\u{code:04x}" for code in (*range(127, 160), *_DIRECTIONS, 0x2028, 0x2029, *range(0xD800, 0xE000))}


def safe(text: str) -> str:
    """Return text of a model, a tool or a host without what could steer a terminal: controls, escapes, overrides."""
    return text.translate(_DELETED)


def one_line(text: str, longest: int = 200) -> str:
    """Return safe text on one line, cut."""
    line = " ".join(safe(text).split())
    return line if len(line) <= longest else line[: longest - 1] + "…"


_LEAST_WIDTH = 20
_PLACE = re.compile(r"""((?:user|organization)(?: '[^'\n]{0,200}')?) \((?:[^()\n]*[/\\])([^()/\\\n]+)\)""")


def brief(text: str) -> str:
    """Return a text in which whoever set a rule stands with the name of the file alone: ``user (settings.toml:3)``.

    The folder is the same every time, and `lockgate plugins doctor` says it; with it no table fits a terminal.
    """
    return _PLACE.sub(r"\1 (\2)", text)


def indented(text: str, by: int, style: str = "") -> None:
    """Print a line of standard output that stays indented where a terminal folds it."""
    out = console()
    if not out.is_terminal:
        out.print(" " * by + text, style=style)
        return
    from rich.text import Text

    for line in Text(text).wrap(out, max(out.width - by, _LEAST_WIDTH)):
        out.print(" " * by + line.plain.rstrip(), style=style, soft_wrap=True)


def labelled(out: "Console", label: str, style: str, text: str, gap: str = " ") -> None:
    """Print a text behind a coloured word, folded as one."""
    from rich.text import Text

    out.print(Text.assemble((label, style), gap, text))


def prepare_streams() -> None:
    """Let no character be an error: what a stream's encoding does not know is written as a question mark."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


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

    # Without a colour system nothing is styled at all, neither bold nor dim: https://no-color.org/
    return Console(
        file=stream, highlight=False, soft_wrap=not stream.isatty(), emoji=False, markup=False,
        color_system=None if os.environ.get("NO_COLOR") else "auto",
    )  # fmt: skip


def note(text: str) -> None:
    """Print a notice on standard error."""
    notes().print(f"note: {safe(brief(text))}", style="yellow")


def show_error(error: BaseException, *, verbose: bool = False) -> None:
    """Say in one sentence what went wrong.

    Args:
        error: The error.
        verbose: Add the host's own words, where there are any.

    The traceback is only for who asked for it with LOCKGATE_DEBUG.
    """
    text = safe(brief(str(error)))
    labelled(notes(), "Error:", "bold red", text)
    if verbose and isinstance(error, ProviderError):
        status = "" if error.status is None else f", status {error.status}"
        notes().print(f"  kind: {error.kind.value}{status}", style="dim")
        if error.server_message and error.server_message not in str(error):
            notes().print(f"  the host said: {safe(error.server_message)}", style="dim")
    if os.environ.get("LOCKGATE_DEBUG"):
        notes().print(safe("".join(traceback.format_exception(error))), style="dim")


def to_json(value: object) -> str:
    """Write JSON on one line; characters that could steer a terminal are escaped."""
    return json.dumps(value, ensure_ascii=False).translate(_ESCAPED)


def write_json(value: object) -> None:
    """Write one JSON value on a line."""
    sys.stdout.write(to_json(value) + "\n")
    sys.stdout.flush()


def write(text: str) -> None:
    """Write a piece of the answer at once."""
    sys.stdout.write(safe(text))
    sys.stdout.flush()
