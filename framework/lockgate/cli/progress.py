"""Progress of an index: a bar on a terminal, nothing elsewhere."""

import sys
import time
from types import TracebackType
from typing import Any, Self

from lockgate.cli.terminal import notes, one_line

_APPEARS_AFTER = 0.3


class IndexProgress:
    """Shows how far an index is. Appears only when it takes long enough to be read."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._begun = time.monotonic()
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def on(self, done: int, of: int, name: str) -> None:
        """Take a step. May be called from another thread."""
        if not sys.stderr.isatty() or time.monotonic() - self._begun < _APPEARS_AFTER:
            return
        if self._bar is None:
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
            from rich.table import Column

            gives_way = Column(ratio=1, no_wrap=True, overflow="ellipsis")
            self._bar = Progress(
                TextColumn("reading {task.fields[folder]}", table_column=Column(no_wrap=True)), BarColumn(20),
                MofNCompleteColumn(table_column=Column(no_wrap=True)),
                TextColumn("{task.fields[file]}", style="dim", table_column=gives_way),
                console=notes(), transient=True, expand=True,
            )  # fmt: skip
            self._bar.start()
            self._task = self._bar.add_task("", total=of, folder=one_line(self._name, 40), file="")
        self._bar.update(self._task, completed=done, total=of, file=one_line(name, 50))
