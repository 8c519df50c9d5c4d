"""What importing the authors' contract costs."""

from import_runs import loaded_by


def test_importing_the_tools_contract_loads_nothing_heavy() -> None:
    """An author's module starts without HTTP, XML, DNS, databases or plugin machinery."""
    heavy = {"httpx", "lxml", "dns", "sqlite3", "apsw", "pluggy", "jsonschema", "click", "rich"}
    assert loaded_by("import lockgate.tools").isdisjoint(heavy)
