"""Preview features: the table of them, and switching one."""

from collections.abc import Mapping, Sequence
from typing import Any

from lockgate.app.home import open_lockgate
from lockgate.cli.exit_status import ExitStatus
from lockgate.cli.problems import tell_problems
from lockgate.cli.tables import Column, table
from lockgate.cli.terminal import console, note, safe, write_json
from lockgate.errors import UnknownNameError
from lockgate.policy import BUILT_IN, BY_USER, SetByKind
from lockgate.registry.previews import Preview, Previews, PreviewSwitch
from lockgate.registry.registry import Registry
from lockgate.settings.files import UserSettings
from lockgate.settings.home import Home


async def previews(*, as_json: bool) -> int:
    """List preview features."""
    async with open_lockgate() as gate:
        if not as_json:
            tell_problems(gate)
        registry = gate.registry
        rows = preview_rows(registry)
        listed = {row["preview"] for row in rows}
        unknown = sorted(name for name in registry.rules.previews if name not in listed)
        if as_json:
            write_json({"previews": rows, "unknown": unknown})
            return ExitStatus.OK
        table(
            (Column("preview", whole=True), Column("title", below=2), Column("state"), Column("stands on", below=3),
             Column("set by", below=1), Column("tools", below=4)),
            [(row["preview"], row["title"], _state(row), ", ".join(row["requires"]), row["set_by"],
              ", ".join(row["tools"])) for row in rows],
        )  # fmt: skip
        for name in unknown:
            note(f"a preview {name!r} is switched, which nobody has registered")
    return ExitStatus.OK


def preview_rows(registry: Registry) -> list[dict[str, Any]]:
    """Return a row for each registered preview, then for those that tools belong to and nobody has registered."""
    members: dict[str, list[str]] = {}
    for tool in registry.tools:
        if tool.definition.preview is not None:
            members.setdefault(tool.definition.preview, []).append(tool.id)
    registered = registry.previews.all
    known = {preview.id for preview in registered}
    strangers = [Preview(name) for name in sorted(members) if name not in known]
    return [_row(registry, preview, members.get(preview.id, [])) for preview in (*registered, *strangers)]


def _row(registry: Registry, preview: Preview, tools: Sequence[str]) -> dict[str, Any]:
    off, switch = registry.previews.off(preview.id), registry.rules.previews.get(preview.id)
    known = {item.id for item in registry.previews.all}
    set_by = off.set_by if off is not None else BUILT_IN if switch is None else switch.set_by
    return {
        "preview": preview.id, "title": preview.title, "on": off is None,
        "off_through": None if off is None else off.id, "requires": list(preview.requires), "set_by": str(set_by),
        "tools": sorted(tools), "registered": preview.id in known,
    }  # fmt: skip


def _state(row: Mapping[str, Any]) -> str:
    if row["on"]:
        return "on"
    if not row["registered"]:
        return "off: nobody has registered it"
    return "off" if row["off_through"] == row["preview"] else f"off, with {row['off_through']}"


async def switch(name: str, *, is_on: bool) -> int:
    """Switch a preview in the user's settings, and say what came of it.

    Raises:
        UnknownNameError: Nobody has registered a preview of that name; the file is left as it is.
        ConfigurationError: The file cannot be changed.
    """
    home = Home.find()
    async with open_lockgate(home) as gate:
        registered, before = gate.registry.previews.all, gate.registry.rules.previews
    known = [preview.id for preview in registered]
    if name not in known:
        raise UnknownNameError("preview", name, known)
    UserSettings(home.settings_file).set_value(("previews", name), is_on)
    console().print(f"Switched {safe(name)} {'on' if is_on else 'off'} in {safe(str(home.settings_file))}.")
    for text in outcome(registered, before, name, is_on=is_on):
        note(text)
    return ExitStatus.OK


def outcome(
    registered: Sequence[Preview], before: Mapping[str, PreviewSwitch], name: str, *, is_on: bool
) -> list[str]:
    """Say where switching a preview has another effect than it seems.

    Args:
        registered: All previews.
        before: The switches that were in force.
        name: The preview that the user switched.
        is_on: How.
    """
    held = before.get(name)
    by_organization = held is not None and held.set_by.kind is SetByKind.ORGANIZATION
    after = before if by_organization else {**before, name: PreviewSwitch(is_on, BY_USER)}
    old, new = Previews(registered, before), Previews(registered, after)
    off = new.off(name)
    if not is_on and off is None and held is not None:
        return [f"{name} stays on: {held.set_by} holds it on"]
    if is_on and off is not None:
        if off.id == name:
            return [f"{name} stays off: {off.set_by} holds it off"]
        cause = f"{off.set_by} switched off" if off.id in after else "nobody has registered"
        return [f"{name} stays off: it stands on {off.id}, which {cause}"]
    turned = [
        item.id for item in registered
        if item.id != name and (old.off(item.id) is None) != (new.off(item.id) is None)
    ]  # fmt: skip
    return [f"{'on' if is_on else 'off'} with it: {', '.join(turned)}"] if turned else []
