"""Running the command line in a process of its own, with a home of its own."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Ran:
    """How a command ended."""

    status: int
    out: str
    err: str


def lockgate(home: Path, *arguments: str | Path, stdin: str = "", **environment: str) -> Ran:
    """Run ``lockgate`` and wait for its end."""
    done = subprocess.run(
        [sys.executable, "-c", "from lockgate.cli import main; main()", *map(str, arguments)],
        input=stdin, capture_output=True, text=True, timeout=60, check=False,
        env={**os.environ, "LOCKGATE_HOME": str(home), **environment},
    )  # fmt: skip
    assert "Traceback" not in done.stderr, done.stderr
    return Ran(done.returncode, done.stdout, done.stderr)


def add_fake(home: Path, base_url: str, *, key: str = "test-key") -> None:
    """Configure the fake provider under the ID ``fake``."""
    ran = lockgate(home, "providers", "add", "fake", "--profile", "openai", "--base-url", base_url, "--model", "m",
                   stdin=f"{key}\n")  # fmt: skip
    assert ran.status == 0, ran.err
