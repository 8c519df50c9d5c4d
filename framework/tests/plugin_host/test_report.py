from collections.abc import Callable
from typing import Any

import pytest
from registry_kit import simple

from lockgate.plugin_host import HostPolicy, PluginHost, PluginRow, Severity, findings, hookimpl, plugin_rows
from lockgate.registry.contribution import Owner
from lockgate.registry.incidents import IncidentLog
from lockgate.testing import lockgate_for
from lockgate.tools import ToolCollection


class Bad:
    @hookimpl
    def lockgate_tools(self) -> Any:
        raise RuntimeError("not today")


class Good:
    @hookimpl
    def lockgate_tools(self) -> Any:
        return ["a", "b"]

    @hookimpl
    def lockgate_passage_stores(self) -> Any:
        return ["c"]

    @hookimpl
    def lockgate_loops(self) -> Any:
        return []


class Misspelt:
    @hookimpl
    def lockgate_tool(self) -> Any: ...

    @hookimpl(optionalhook=True)
    def lockgate_search_backends(self) -> Any: ...


def _asked(*plugins: object) -> PluginHost:
    host = PluginHost(HostPolicy(disabled=frozenset({"int"})), plugins)
    for hook in host.hooks:
        host.contributions(hook, services=None)
    return host


def test_the_list_has_a_row_for_each_plugin() -> None:
    """State, what it contributes and what is wrong are there, loaded or not."""
    assert plugin_rows(_asked(Good(), Bad(), Misspelt(), 3)) == [
        PluginRow("Bad", "(in code)", "quarantined", "", None, "lockgate_tools failed: RuntimeError: not today"),
        PluginRow("Good", "(in code)", "loaded", "1 passage stores, 2 tools", None, ""),
        PluginRow("Misspelt", "(in code)", "loaded", "", None, "1 problem; `lockgate plugins doctor` says more"),
        PluginRow("int", "(in code)", "disabled", "", None, "It is switched off."),
    ]


def test_the_doctor_names_the_worst_first() -> None:
    """What contributes nothing is an error with its traceback, then come problems, then notes."""
    log = IncidentLog()
    for _ in range(3):
        log.add(Owner("pack", "1.0", "it"), "is_available of clock", "ValueError: broken")
    told = findings(_asked(Misspelt(), Bad(), 3), log.incidents)
    assert [(item.severity, item.owner.entry_point if item.owner else "") for item in told] == [
        (Severity.ERROR, "Bad"),
        (Severity.WARNING, "Misspelt"),
        (Severity.WARNING, "it"),
        (Severity.NOTE, "Misspelt"),
        (Severity.NOTE, "int"),
    ]
    assert "RuntimeError: not today" in told[0].traceback
    assert told[2].text == "is_available of clock failed (3 times): ValueError: broken"
    assert told[3].text == "lockgate_search_backends waits for the pack that specifies it."


def test_a_healthy_program_has_no_findings() -> None:
    """The doctor says nothing of what is well."""
    assert findings(_asked(Good())) == []


def test_broken_installations_and_slow_imports_are_found(
    install: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What discovery could not read is an error without an owner; a slow import is a note."""
    monkeypatch.setattr("lockgate.plugin_host.report.SLOW_IMPORT_MS", 0.0)
    install("broken", "", entry_points="[lockgate]\ngarbage\n")
    install("slow", "from lockgate import hookimpl\n\n@hookimpl\ndef lockgate_tools():\n    return []\n")
    error, note = findings(PluginHost())
    assert (error.severity, error.owner) == (Severity.ERROR, None)
    assert "broken-1.0.dist-info" in error.text
    assert note.severity is Severity.NOTE
    assert note.text.startswith("Its import took ")


def test_an_unsupported_and_a_forbidden_plugin_are_told_apart(install: Callable[..., str]) -> None:
    """One needs another version, the other somebody's permission."""
    install("forbidden", "")
    install("unsupported", "", requires="lockgate-framework>=99")
    told = findings(PluginHost(HostPolicy(allowed=frozenset({"unsupported"}))))
    assert [(item.severity, item.owner.distribution if item.owner else "") for item in told] == [
        (Severity.ERROR, "unsupported"),
        (Severity.NOTE, "forbidden"),
    ]
    assert "allow list" in told[1].advice


async def test_names_in_definitions_that_nobody_has_are_told_with_the_owner() -> None:
    """A preview nobody registered, a companion that is not there, a rule in a word that nobody knows."""
    tools = [
        simple("later", preview="PRE_RAG_2025"), simple("lead", companions=("laterr", "calm")),
        simple("calm", minimum_confidence="TOP", repeatable=1),
    ]
    mail = ToolCollection("mail", ("calm", "zzz"), minimum_confidence="LOWEST")  # type: ignore[arg-type]  # a mistake
    async with lockgate_for(tools=tools, collections=[mail]) as gate:
        told = gate.assembly.problems
        (row,) = plugin_rows(gate.assembly.host, told)
    owner = "this program (entry point 'test-plugin')"
    not_taken, level, flag, of_collection, preview, companion = told
    assert not_taken == f"The tool 'zzz' of {owner} was not taken into the collection 'mail': it is not registered."
    assert level.startswith(f"The tool 'calm' of {owner}: its minimum_confidence is 'TOP', which is not a Confidence")
    assert level.endswith("; it is read as HIGH, the strictest.")
    assert flag.startswith(f"The tool 'calm' of {owner}: its repeatable is ")
    assert flag.endswith(", which is not True or False; it is read as False, the strictest.")
    assert f"The collection 'mail' of {owner}: its minimum_confidence is 'LOWEST'" in of_collection
    assert preview == (
        f"The tool 'later' of {owner} belongs to the preview 'PRE_RAG_2025', which nobody has registered, so it is "
        "nowhere. Did you mean 'PRE_RAG_2024'?"
    )
    assert companion == (
        f"The tool 'lead' of {owner} brings 'laterr' along when it is selected, and no tool of that name is there. "
        "Did you mean 'later'?"
    )
    assert row.remark.startswith("6 problems")
