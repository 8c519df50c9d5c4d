"""Makes ask.svg: the terminal after a real question about the documentation, asked of the offline reader.

Run it from anywhere with the environment of `make dev`: ``.venv/bin/python docs/.images/make_ask_svg.py``. It asks in a
pseudo-terminal, because that is what the picture shows, and in an empty home folder.
"""

import os
import pty
import re
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).resolve().parent.parent.parent
QUESTION = "How does Lockgate decide which tools a model may use?"
COLUMNS = 110


def asked(home: str) -> str:
    """Ask in a pseudo-terminal and return all that was written to it."""
    command = [sys.executable, "-c", "from lockgate.cli import main; main()", "ask", "--docs", "docs", QUESTION]
    environment = {**os.environ, "LOCKGATE_HOME": home, "COLUMNS": str(COLUMNS), "TERM": "xterm-256color"}
    written = bytearray()
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(ROOT)
        os.execve(command[0], command, environment)  # noqa: S606 - this very program
    while True:
        try:
            piece = os.read(terminal, 65_536)
        except OSError:  # how Linux says that the other side is closed
            break
        if not piece:
            break
        written += piece
    _, status = os.waitpid(pid, 0)
    if os.waitstatus_to_exitcode(status) != 0:
        raise SystemExit(f"The question failed:\n{written.decode('utf-8', 'replace')}")
    return written.decode("utf-8")


def final_lines(written: str) -> str:
    """Return what stays on the screen: without progress bars, carriage returns, the folder of this machine, the ID."""
    text = re.sub(r"\x1b\[[0-9;?]*[A-LN-Za-ln-z]", "", written).replace("\r", "")
    text = text.replace(str(ROOT), "~/lockgate")
    text = re.sub(r"\b[0-9a-f]{16}\b", "3f9c2b7e81d04a56", text)
    return re.sub(r"\n{3,}", "\n\n", text).strip("\n")


def main() -> None:
    """Ask, and write the picture beside this file."""
    with tempfile.TemporaryDirectory() as home:
        shown = final_lines(asked(home))
    console = Console(record=True, width=COLUMNS, file=open(os.devnull, "w", encoding="utf-8"), force_terminal=True)  # noqa: SIM115, PTH123 - ends with the program
    console.print(Text(f'$ lockgate ask --docs docs "{QUESTION}"', style="bold"))
    console.print(Text.from_ansi(shown))
    target = Path(__file__).with_name("ask.svg")
    console.save_svg(str(target), title="lockgate ask")
    svg = target.read_text("utf-8")
    # No font from a server: the picture shows the same without a network.
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<!--.*?-->\s*", "", svg, flags=re.DOTALL)
    target.write_text("\n".join(line.rstrip() for line in svg.splitlines()) + "\n", "utf-8")


if __name__ == "__main__":
    main()
