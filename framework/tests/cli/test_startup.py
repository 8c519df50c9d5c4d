"""What the command line loads before it is asked to do something."""

import subprocess
import sys

import pytest

HEAVY = {"httpx", "pydantic", "lxml", "dns", "sqlite3", "apsw", "pluggy", "rich", "lockgate_openai", "lockgate_offline",
         "lockgate_local_index", "lockgate_semantic_search"}  # fmt: skip


@pytest.mark.parametrize("arguments", [["--version"], ["--help"], ["ask", "--help"], ["tools", "explain", "--help"]])
def test_help_and_version_import_no_plugin_and_nothing_heavy(arguments: list[str]) -> None:
    """Start-up time is a feature: these answer before anything is loaded."""
    code = (
        "import sys; from lockgate.cli import main\n"
        f"try: main({arguments!r})\n"
        "except SystemExit as end: assert not end.code, end.code\n"
        "print('MODULES', *sorted({m.split('.')[0] for m in sys.modules}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = done.stdout.rpartition("MODULES")[2].split()
    assert "lockgate" in loaded
    assert HEAVY.isdisjoint(loaded)
