"""What importing the authors' contract costs."""

import subprocess
import sys


def test_importing_the_tools_contract_loads_nothing_heavy() -> None:
    """An author's module starts without HTTP, XML, DNS, databases or plugin machinery."""
    code = "import sys, lockgate.tools; print(*sorted(m.split('.')[0] for m in sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    heavy = {"httpx", "lxml", "dns", "sqlite3", "apsw", "pluggy", "jsonschema", "click", "rich"}
    assert heavy.isdisjoint(loaded)
