"""What the command line loads before it is asked to do something."""

import pytest
from import_runs import loaded_by

HEAVY = {"httpx", "pydantic", "lxml", "dns", "sqlite3", "apsw", "pluggy", "rich", "lockgate_openai", "lockgate_offline",
         "lockgate_local_index", "lockgate_semantic_search"}  # fmt: skip


@pytest.mark.parametrize("arguments", [["--version"], ["--help"], ["ask", "--help"], ["tools", "explain", "--help"]])
def test_help_and_version_import_no_plugin_and_nothing_heavy(arguments: list[str]) -> None:
    """Start-up time is a feature: these answer before anything is loaded."""
    loaded = loaded_by(f"from lockgate.cli import main; main({arguments!r})")
    assert HEAVY.isdisjoint(loaded)
