"""What a piece of code loads, seen in a process of its own."""

import subprocess
import sys


def loaded_by(code: str) -> set[str]:
    """Return the top-level modules that code loads beyond what the interpreter (and a measuring tool) had before."""
    whole = (
        "import sys\nbefore = set(sys.modules)\n"
        f"try:\n    exec({code!r})\nexcept SystemExit as end:\n    assert not end.code, end.code\n"
        "print('LOADED', *{name.split('.')[0] for name in set(sys.modules) - before})"
    )
    done = subprocess.run([sys.executable, "-c", whole], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.rpartition("LOADED")[2].split())
    assert "lockgate" in loaded
    return loaded
