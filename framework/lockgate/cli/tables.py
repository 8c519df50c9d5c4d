"""Tables whose IDs are never broken, so that they can be copied; on a narrow terminal some columns go below their row.

The least useful ones go first.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from lockgate.cli.terminal import brief, console, one_line

_GAP = 2
_LEAST = 16
"""Cells a column of words has at least, where it holds that many."""

_LONGEST_CELL = 1_000


@dataclass(frozen=True, slots=True)
class Column:
    """One column.

    Attributes:
        title: Its heading.
        whole: Its cells are never broken: IDs, addresses.
        below: Where the terminal is narrow, columns go below their row in descending order of this; 0 for never.
    """

    title: str
    whole: bool = False
    below: int = 0


def table(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> None:
    """Print a table; where there is no terminal, one line a row, so that other programs can read it."""
    cells = [[one_line(brief(cell), _LONGEST_CELL) for cell in row] for row in rows]
    out = console()
    if not out.is_terminal:
        titles = [column.title for column in columns]
        widths = [max(map(len, column)) for column in zip(titles, *cells, strict=True)]
        for row in (titles, *cells):
            out.print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
        return
    _print_shaped(columns, cells, out.width)


def _print_shaped(columns: Sequence[Column], rows: Sequence[Sequence[str]], width: int) -> None:
    shown = shape(columns, rows, width)
    beside = list(shown)
    out = console()
    for line in _lines([columns[index].title for index in beside], list(shown.values())):
        out.print(line, style="bold", soft_wrap=True)
    out.print("─" * min(width, sum(shown.values()) + _GAP * (len(shown) - 1)), style="dim", soft_wrap=True)
    for row in rows:
        for line in _lines([row[index] for index in beside], list(shown.values())):
            out.print(line, soft_wrap=True)
        for index, column in enumerate(columns):
            if index not in shown and row[index] not in ("", "-"):
                _print_below(column, row[index], width)


def _print_below(column: Column, cell: str, width: int) -> None:
    text = f"{column.title}: {cell}"
    if column.whole:
        console().print(f"    {text}", style="dim", soft_wrap=True)
        return
    for line in _wrapped(text, max(width - 4, _LEAST)):
        console().print(f"    {line}", style="dim", soft_wrap=True)


def shape(columns: Sequence[Column], rows: Sequence[Sequence[str]], width: int) -> dict[int, int]:
    """Return the columns that stand side by side → their widths, in cells of the terminal.

    Args:
        columns: All columns.
        rows: Their cells.
        width: Cells that the terminal has.
    """
    from rich.cells import cell_len

    natural, least = [], []
    for index, column in enumerate(columns):
        texts = [column.title, *(row[index] for row in rows)]
        widest = max(map(cell_len, texts))
        word = max(cell_len(word) for text in texts for word in (text.split() or [""]))
        natural.append(widest)
        least.append(widest if column.whole else min(widest, max(_LEAST, word)))
    shown = list(range(len(columns)))
    while sum(least[index] for index in shown) + _GAP * (len(shown) - 1) > width:
        movable = [index for index in shown if columns[index].below]
        if not movable:
            break
        shown.remove(max(movable, key=lambda index: columns[index].below))
    widths = {index: least[index] for index in shown}
    rest = width - sum(widths.values()) - _GAP * (len(shown) - 1)
    for index in sorted(shown, key=lambda index: natural[index] - least[index]):  # the nearest to fitting first
        more = min(rest, natural[index] - least[index]) if rest > 0 else 0
        widths[index] += more
        rest -= more
    return widths


def _wrapped(text: str, width: int) -> list[str]:
    """Fold a text at blanks; a word that is too long is cut."""
    from rich.cells import cell_len

    if cell_len(text) <= width:
        return [text]
    from rich.text import Text

    return [line.plain.rstrip() for line in Text(text).wrap(console(), width, overflow="fold")]


def _lines(cells: Sequence[str], widths: Sequence[int]) -> list[str]:
    from rich.cells import cell_len

    folded = [_wrapped(cell, width) for cell, width in zip(cells, widths, strict=True)]
    lines = []
    for number in range(max(map(len, folded))):
        parts = [part[number] if number < len(part) else "" for part in folded]
        padded = (part + " " * (width - cell_len(part)) for part, width in zip(parts, widths, strict=True))
        lines.append((" " * _GAP).join(padded).rstrip())
    return lines
