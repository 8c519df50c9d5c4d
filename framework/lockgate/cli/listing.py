"""Tables: tools, providers, plugins, chats."""

import re
from collections import Counter
from datetime import datetime
from typing import Any

from lockgate.app.home import open_lockgate
from lockgate.app.lockgate import Lockgate
from lockgate.app.providers import find_key, standing_of
from lockgate.cli.exit_status import ExitStatus
from lockgate.cli.problems import tell_problems
from lockgate.cli.sources import missing_sources
from lockgate.cli.tables import Column, table
from lockgate.cli.terminal import brief, console, labelled, note, notes, safe, write_json
from lockgate.errors import UnknownNameError
from lockgate.plugin_host.report import Severity, findings, plugin_rows
from lockgate.policy import BUILT_IN
from lockgate.providers.endpoint import without_credentials
from lockgate.registry.catalog import catalog
from lockgate.registry.registration import Registered
from lockgate.registry.registry import Registry
from lockgate.tools.definition import Components, ToolActivation


async def tools(component: str, *, as_json: bool) -> int:
    """List tools.

    Raises:
        UnknownNameError: There is no such component.
    """
    wanted = None
    if component:
        if component.upper() not in Components.__members__:
            raise UnknownNameError("component", component, Components.__members__)
        wanted = Components[component.upper()]
    async with open_lockgate() as gate:
        if not as_json:
            tell_problems(gate)
        rows = await _tool_rows(gate.registry, wanted)
        rejected = [str(rejection) for rejection in gate.registry.rejections]
        if as_json:
            write_json({"tools": rows, "rejected": rejected})
            return ExitStatus.OK
        rules = gate.registry.rules
        if not rules.tools_enabled:
            note(f"all tools are switched off, {rules.tools_enabled_by.phrase}")
        hidden = _hidden(gate.registry, wanted)
        if rows:
            table(
                (Column("tool", whole=True), Column("name", below=1), Column("state"), Column("needs", below=2),
                 Column("data goes to", below=4), Column("from", below=3)),
                [(_full_name(row), row["name"], _state(row, all_off=not rules.tools_enabled), _needs(row),
                  row["outbound_data"], row["distribution"]) for row in rows],
            )  # fmt: skip
        elif not hidden:
            notes().print("There are no tools: no installed plugin brings one that may appear here.")
        for text in hidden:
            note(text)
        for text in rejected:
            note(text)
    return ExitStatus.OK


async def _tool_rows(registry: Registry, component: Components | None) -> list[dict[str, Any]]:
    """Return a row for each tool: first what can be selected or offers itself, then what is not available.

    A tool of a preview that is off is nowhere; `lockgate previews list` names it.
    """
    rows = [
        _tool_row(registry, tool.registered, tool.texts.name, tool.problem, "")
        for item in await catalog(registry, component, context_tools=True)
        for tool in item.tools
    ]
    listed = {row["tool"] for row in rows}
    for registered in registry.tools:
        definition = registered.definition
        if registered.id in listed or not (component is None or definition.visible_in.includes(component)):
            continue
        if definition.preview is not None and registry.previews.off(definition.preview) is not None:
            continue
        state = await registry.state(registered.id)
        name, unavailable = registry.texts(registered.id).name, state.unavailable
        why = "" if unavailable is None else unavailable.why
        rows.append(_tool_row(registry, registered, name, state.configuration_problem, why))
    return rows


def _tool_row(registry: Registry, registered: Registered, name: str, problem: str, unavailable: str) -> dict[str, Any]:
    definition = registered.definition
    minimum, minimum_by = registry.minimum_confidence(registered.id)
    off_by = registry.switched_off_by(registered.id)
    return {
        "tool": registered.id, "collection": registry.get_collection_id(registered.id), "name": name,
        "offers_itself": definition.activation is ToolActivation.CONTEXT, "active": off_by is None,
        "switched_off_by": None if off_by is None else str(off_by), "unavailable": unavailable or None,
        "problem": problem or None, "minimum_confidence": minimum.name, "set_by": str(minimum_by),
        "outbound_data": definition.outbound_data.name, "owner": str(registered.owner),
        "distribution": f"{registered.owner.distribution} {registered.owner.version}".strip() or "this program",
    }  # fmt: skip


def _hidden(registry: Registry, component: Components | None) -> list[str]:
    """Say how many tools are nowhere because their preview is off."""
    counts = Counter(
        tool.definition.preview for tool in registry.tools
        if tool.definition.preview is not None and registry.previews.off(tool.definition.preview) is not None
        and (component is None or tool.definition.visible_in.includes(component))
    )
    texts = []
    for preview, count in sorted(counts.items()):
        off = registry.previews.off(preview)
        if off is None:
            continue
        tools = "1 tool is" if count == 1 else f"{count} tools are"
        through = "" if off.id == preview else f" through {off.id}"
        texts.append(f"{tools} hidden by the preview {preview}, which is off{through} ({off.set_by.phrase})")
    return texts


def _full_name(row: dict[str, Any]) -> str:
    tool, collection = row["tool"], row["collection"]
    return str(tool) if tool == collection else f"{collection}/{tool}"


def _needs(row: dict[str, Any]) -> str:
    level, by = row["minimum_confidence"], row["set_by"]
    return str(level) if by == str(BUILT_IN) else f"{level}, set by {by}"


def _state(row: dict[str, Any], *, all_off: bool = False) -> str:
    if all_off:
        return "switched off"
    if not row["active"]:
        return f"switched off by {row['switched_off_by']}"
    if row["unavailable"]:
        return f"not available: {row['unavailable']}"
    if row["problem"]:
        return f"not configured: {row['problem']}"
    return "offers itself" if row["offers_itself"] else "ready"


async def providers(*, as_json: bool) -> int:
    """List configured providers, and the profiles there are."""
    async with open_lockgate() as gate:
        if not as_json:
            tell_problems(gate)
        rows = _provider_rows(gate)
        known = gate.assembly.directory
        others = sorted(name for name in known.profiles if name not in known.configs)
        if as_json:
            write_json({"providers": rows, "profiles": others})
            return ExitStatus.OK
        table(
            (Column("provider", whole=True), Column("name", below=3), Column("model", whole=True, below=1),
             Column("address", whole=True, below=5), Column("confidence"), Column("self-hosted", below=2),
             Column("key", below=4)),
            [(row["id"] + (" (default)" if row["default"] else ""), row["name"], row["model"], row["address"],
              row["confidence"], "yes" if row["self_hosted"] else "no", row["key"]) for row in rows],
        )  # fmt: skip
        if others:
            named = ", ".join(f"{name} ({known.profiles[name].title})" for name in others)
            notes().print(f"Can be added, or asked by name: {safe(named)}", style="dim")
    return ExitStatus.OK


def _provider_rows(gate: Lockgate) -> list[dict[str, Any]]:
    known = gate.assembly.directory
    default = gate.default_provider
    rows = []
    for config in known.configs.values():
        profile = known.profiles.get(config.profile)
        if profile is None:
            level, address, model = "-", without_credentials(config.base_url), config.model or "-"
            key = f"the profile {config.profile!r} is not installed"
        else:
            found = find_key(config, profile, known.secret)
            key = found.origin if found else "none needed" if profile.authentication == "none" else "none"
            level = standing_of(config, profile, gate.registry.rules).confidence.name
            address = without_credentials(config.base_url or profile.base_url)
            model = config.model or profile.default_model or "-"
        rows.append({
            "id": config.id, "name": config.name or config.id, "profile": config.profile, "model": model,
            "address": address or "-", "confidence": level, "self_hosted": config.self_hosted, "key": key,
            "default": config.id == default, "set_by": str(config.set_by),
        })  # fmt: skip
    return rows


async def plugins(*, as_json: bool) -> int:
    """List plugins."""
    async with open_lockgate() as gate:
        if not as_json:
            tell_problems(gate)
        await catalog(gate.registry, None, context_tools=True)  # as the doctor does: both count the same
        rows = plugin_rows(gate.assembly.host, gate.assembly.problems, gate.registry.incidents.incidents)
        if as_json:
            write_json([
                {"name": row.name, "distribution": row.distribution, "state": row.state,
                 "contributes": row.contributes, "import_ms": row.import_ms, "remark": row.remark} for row in rows
            ])  # fmt: skip
            return ExitStatus.OK
        table(
            (Column("plugin", whole=True), Column("distribution", whole=True, below=1), Column("state"),
             Column("contributes", below=2), Column("import", below=4), Column("remark", below=3)),
            [(row.name, row.distribution, row.state, _singular(row.contributes),
              "" if row.import_ms is None else f"{row.import_ms:.0f} ms",
              row.remark) for row in rows],
        )  # fmt: skip
    return ExitStatus.OK


def _singular(counts: str) -> str:
    """Write `1 tools` as it is said."""
    return re.sub(r"\b1 ([^,]*)s(?=,|$)", r"1 \1", counts)


_STYLES = {Severity.ERROR: "bold red", Severity.WARNING: "yellow", Severity.NOTE: "dim"}


async def doctor(*, verbose: bool) -> int:
    """Say what is wrong with plugins; every tool is asked once, so that a failing one shows itself."""
    async with open_lockgate() as gate:
        await catalog(gate.registry, None, context_tools=True)
        found = findings(gate.assembly.host, gate.registry.incidents.incidents)
        for finding in found:
            text = brief(f"{finding.owner}: {finding.text}" if finding.owner else finding.text)
            labelled(console(), finding.severity.value, _STYLES[finding.severity], safe(text), "  ")
            if finding.advice:
                console().print(f"       {safe(finding.advice)}", style="dim")
            if finding.traceback and verbose:
                console().print(safe(finding.traceback), style="dim")
            elif finding.traceback:
                console().print("       --verbose shows the traceback.", style="dim")
        problems = [*gate.assembly.problems, *missing_sources(gate)]
        for problem in problems:
            labelled(console(), "warning", "yellow", safe(problem), "  ")
        wrong = [finding for finding in found if finding.severity is not Severity.NOTE]
        if not wrong and not problems:
            console().print("All plugins are well.", style="green")
            return ExitStatus.OK
    return ExitStatus.FAILED


async def chats(limit: int, *, as_json: bool) -> int:
    """List the chats that were kept."""
    async with open_lockgate() as gate:
        if not as_json:
            tell_problems(gate)
        rows = await gate.store.list_chats(limit)
        if as_json:
            write_json([
                {"id": row.id, "title": row.title, "updated": row.updated, "messages": row.messages} for row in rows
            ])  # fmt: skip
        elif rows:
            table((Column("chat", whole=True), Column("title"), Column("updated", whole=True, below=1),
                   Column("messages", below=2)),
                  [(row.id, row.title, _local_time(row.updated), str(row.messages)) for row in rows])  # fmt: skip
        else:
            notes().print("No chat was kept yet.")
    return ExitStatus.OK


def _local_time(updated: str) -> str:
    """Return a stored time as a person reads it; one that cannot be read as it is."""
    try:
        return datetime.fromisoformat(updated).astimezone().strftime("%Y-%m-%d %H:%M")
    except ValueError:
        return updated
