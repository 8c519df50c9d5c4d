"""Tables: tools, providers, plugins, chats."""

from collections.abc import Sequence
from typing import Any

from lockgate.app.home import open_lockgate
from lockgate.app.lockgate import Lockgate
from lockgate.app.providers import find_key, standing_of
from lockgate.cli.exit_status import ExitStatus
from lockgate.cli.terminal import console, notes, safe, write_json
from lockgate.errors import UnknownNameError
from lockgate.plugin_host.report import Severity, findings, plugin_rows
from lockgate.providers.endpoint import without_credentials
from lockgate.tools.definition import Components, ToolActivation


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table; plain columns where there is no terminal."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    shown = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for column in columns:
        shown.add_column(column, overflow="fold")
    for row in rows:
        shown.add_row(*(safe(cell) for cell in row))
    out = console()
    if not out.is_terminal:
        out.width = 200
    out.print(shown)


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
        items = await gate.registry.catalog(wanted, context_tools=True)
        rows: list[dict[str, Any]] = []
        for item in items:
            for tool in item.tools:
                definition = tool.registered.definition
                rows.append({
                    "tool": definition.id, "collection": item.id, "name": tool.texts.name,
                    "offers_itself": definition.activation is ToolActivation.CONTEXT, "active": item.is_active,
                    "problem": tool.problem or None, "minimum_confidence": item.minimum.name,
                    "set_by": str(item.minimum_by), "outbound_data": definition.outbound_data.name,
                    "owner": str(tool.registered.owner),
                })  # fmt: skip
        rejected = [str(rejection) for rejection in gate.registry.rejections]
        if as_json:
            write_json({"tools": rows, "rejected": rejected})
            return ExitStatus.OK
        if not rows:
            notes().print("There are no tools: no installed plugin brings one.")
        else:
            table(
                ("tool", "name", "state", "needs", "data goes to", "from"),
                [(row["tool"], row["name"], _state(row), row["minimum_confidence"], row["outbound_data"],
                  row["owner"]) for row in rows],
            )  # fmt: skip
        for text in rejected:
            notes().print(safe(text), style="yellow")
    return ExitStatus.OK


def _state(row: dict[str, Any]) -> str:
    if not row["active"]:
        return "switched off"
    if row["problem"]:
        return f"not configured: {row['problem']}"
    return "offers itself" if row["offers_itself"] else "ready"


async def providers(*, as_json: bool) -> int:
    """List configured providers, and the profiles there are."""
    async with open_lockgate() as gate:
        rows = _provider_rows(gate)
        known = gate.assembly.directory
        others = sorted(name for name in known.profiles if name not in known.configs)
        if as_json:
            write_json({"providers": rows, "profiles": others})
            return ExitStatus.OK
        table(
            ("provider", "name", "model", "address", "confidence", "self-hosted", "key"),
            [(row["id"] + (" (default)" if row["default"] else ""), row["name"], row["model"], row["address"],
              row["confidence"], "yes" if row["self_hosted"] else "no", row["key"]) for row in rows],
        )  # fmt: skip
        if others:
            notes().print(f"Can be added, or asked by name: {', '.join(others)}", style="dim")
        for problem in gate.assembly.problems:
            notes().print(safe(problem), style="yellow")
    return ExitStatus.OK


def _provider_rows(gate: Lockgate) -> list[dict[str, Any]]:
    known = gate.assembly.directory
    default = gate.default_provider
    rows = []
    for config in known.configs.values():
        profile = known.profiles.get(config.profile)
        if profile is None:
            key, level, address, model = "", "", config.base_url, f"profile {config.profile!r} is not installed"
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
        rows = plugin_rows(gate.assembly.host)
        if as_json:
            write_json([
                {"name": row.name, "distribution": row.distribution, "state": row.state,
                 "contributes": row.contributes, "import_ms": row.import_ms, "remark": row.remark} for row in rows
            ])  # fmt: skip
            return ExitStatus.OK
        table(
            ("plugin", "distribution", "state", "contributes", "import", "remark"),
            [(row.name, row.distribution, row.state, row.contributes,
              "" if row.import_ms is None else f"{row.import_ms:.0f} ms", row.remark) for row in rows],
        )  # fmt: skip
    return ExitStatus.OK


_STYLES = {Severity.ERROR: "bold red", Severity.WARNING: "yellow", Severity.NOTE: "dim"}


async def doctor(*, verbose: bool) -> int:
    """Say what is wrong with plugins; every tool is asked once, so that a failing one shows itself."""
    async with open_lockgate() as gate:
        await gate.registry.catalog(None, context_tools=True)
        found = findings(gate.assembly.host, gate.registry.incidents.incidents)
        for finding in found:
            owner = f"{finding.owner}: " if finding.owner else ""
            console().print(finding.severity.value, style=_STYLES[finding.severity], end="  ")
            console().print(safe(owner + finding.text))
            if finding.advice:
                console().print(f"       {safe(finding.advice)}", style="dim")
            if finding.traceback and verbose:
                console().print(safe(finding.traceback), style="dim")
        for problem in gate.assembly.problems:
            console().print("warning", style="yellow", end="  ")
            console().print(safe(problem))
        wrong = [finding for finding in found if finding.severity is not Severity.NOTE]
        if not wrong and not gate.assembly.problems:
            console().print("All plugins are well.", style="green")
            return ExitStatus.OK
    return ExitStatus.FAILED


async def chats(limit: int, *, as_json: bool) -> int:
    """List the chats that were kept."""
    async with open_lockgate() as gate:
        rows = await gate.store.list_chats(limit)
        if as_json:
            write_json([
                {"id": row.id, "title": row.title, "updated": row.updated, "messages": row.messages} for row in rows
            ])  # fmt: skip
        elif rows:
            table(("chat", "title", "updated", "messages"),
                  [(row.id, row.title, row.updated, str(row.messages)) for row in rows])  # fmt: skip
        else:
            notes().print("No chat was kept yet.")
    return ExitStatus.OK
