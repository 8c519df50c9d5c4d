"""Running the command line on a terminal, as a person sees it."""

import os
import pty
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Self

DEADLINE = 60.0


class OnTerminal:
    """``with OnTerminal(home, "ask", …) as run:`` — a process whose three streams are one terminal."""

    def __init__(self, home: Path, *arguments: str | Path, **environment: str) -> None:
        self._main, other = pty.openpty()
        self._seen = b""
        self.process = subprocess.Popen(
            [sys.executable, "-m", "lockgate", *map(str, arguments)], stdin=other, stdout=other, stderr=other,
            env={**os.environ, "LOCKGATE_HOME": str(home), "TERM": "xterm", **environment}, start_new_session=True,
        )  # fmt: skip
        os.close(other)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self._main)

    @property
    def text(self) -> str:
        """All that was printed so far."""
        return self._seen.decode("utf-8", "replace")

    def wait_for(self, words: str) -> None:
        """Wait until these words were printed."""
        ends = time.monotonic() + DEADLINE
        while words not in self.text:
            assert time.monotonic() < ends, self.text
            assert self._read(), f"ended without {words!r}: {self.text}"

    def press_ctrl_c(self) -> None:
        """What the terminal does on Ctrl-C."""
        self.process.send_signal(signal.SIGINT)

    def type(self, text: str) -> None:
        """Press keys."""
        os.write(self._main, text.encode())

    def end(self) -> int:
        """Wait for the end; return the status."""
        ends = time.monotonic() + DEADLINE
        while self._read():
            assert time.monotonic() < ends, self.text
        return self.process.wait(timeout=DEADLINE)

    def _read(self) -> bool:
        """Read what is there; False when the other side is closed."""
        if not select.select([self._main], [], [], 1.0)[0]:
            return True
        try:
            piece = os.read(self._main, 65536)
        except OSError:  # a terminal whose other side is closed says so
            return False
        self._seen += piece
        return bool(piece)
