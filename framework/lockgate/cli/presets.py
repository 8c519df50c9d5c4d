"""Tables of what a chat can begin with: chat templates and assistants."""

from collections.abc import Iterable
from typing import Any

from lockgate.app.configuration import Configuration
from lockgate.app.home import open_lockgate, read_configuration
from lockgate.app.lockgate import Lockgate
from lockgate.app.templates import Assistant, ChatTemplate
from lockgate.cli.exit_status import ExitStatus
from lockgate.cli.problems import tell_problems
from lockgate.cli.tables import Column, table
from lockgate.cli.terminal import note, notes, one_line, write_json
from lockgate.registry.registry import Registry
from lockgate.registry.selection import is_selection_visible
from lockgate.settings.home import Home
from lockgate.tools.definition import ToolActivation

_PROMPT_CHARACTERS = 60


async def templates(*, as_json: bool) -> int:
    """List chat templates."""
    home = Home.find()
    configuration = read_configuration(home)
    async with open_lockgate(home, configuration) as gate:
        rows = [template_row(gate.registry, template) for template in configuration.chat_templates.values()]
        if as_json:
            write_json(rows)
            return ExitStatus.OK
        tell_problems(gate)
        if not rows:
            notes().print("No chat template is configured: [chat_templates.NAME] in settings.toml makes one.")
            return ExitStatus.OK
        table(
            (Column("template", whole=True), Column("name", below=2), Column("tools"),
             Column("system prompt", below=1), Column("set by", below=3)),
            [(row["id"], row["name"], tools_of_template(gate.registry, template),
              one_line(row["system_prompt"], _PROMPT_CHARACTERS), row["set_by"])
             for row, template in zip(rows, configuration.chat_templates.values(), strict=True)],
        )  # fmt: skip
    return ExitStatus.OK


async def assistants(*, as_json: bool) -> int:
    """List assistants."""
    home = Home.find()
    configuration = read_configuration(home)
    async with open_lockgate(home, configuration) as gate:
        rows = [assistant_row(gate, assistant) for assistant in configuration.assistants.values()]
        if as_json:
            write_json(rows)
            return ExitStatus.OK
        tell_problems(gate)
        if not rows:
            notes().print("No assistant is configured: [assistants.NAME] in settings.toml makes one.")
            return ExitStatus.OK
        table(
            (Column("assistant", whole=True), Column("name", below=3), Column("what it is for", below=4),
             Column("component", whole=True, below=5), Column("tools"), Column("provider", whole=True, below=1),
             Column("set by", below=2)),
            [(row["id"], row["name"], one_line(row["description"]), row["component"],
              tools_of_assistant(gate.registry, assistant), row["provider"] or "the default", row["set_by"])
             for row, assistant in zip(rows, configuration.assistants.values(), strict=True)],
        )  # fmt: skip
        for row in rows:
            if not row["provider_known"]:
                note(f"the assistant {row['id']!r} asks the provider {row['provider']!r}, which is not there")
    return ExitStatus.OK


def template_row(registry: Registry, template: ChatTemplate) -> dict[str, Any]:
    """Return what is printed of a chat template."""
    return {
        "id": template.id, "name": template.name or template.id, "system_prompt": template.system_prompt,
        **_selection(registry, template.tool_ids), "set_by": str(template.set_by),
    }  # fmt: skip


def assistant_row(gate: Lockgate, assistant: Assistant) -> dict[str, Any]:
    """Return what is printed of an assistant."""
    found = gate.assembly.directory
    return {
        "id": assistant.id, "name": assistant.name or assistant.id, "description": assistant.description,
        "system_prompt": assistant.system_prompt, "component": assistant.component.value,
        **_selection(gate.registry, assistant.tool_ids), "provider": assistant.provider or None,
        "provider_known": not assistant.provider or assistant.provider in {*found.configs, *found.profiles},
        "set_by": str(assistant.set_by),
    }  # fmt: skip


def _selection(registry: Registry, tool_ids: tuple[str, ...] | None) -> dict[str, Any]:
    """Return the collections that a list of tools stands for, companions added, and the names nobody knows."""
    if tool_ids is None:
        return {"tools": None, "unknown_tools": []}
    names = sorted(registry.normalize_selection(tool_ids))
    return {"tools": names, "unknown_tools": [name for name in names if not registry.is_known(name)]}


def tools_of_template(registry: Registry, template: ChatTemplate) -> str:
    """Say in words which tools a chat begins with."""
    if template.tool_ids is None:
        return "the defaults"
    return named_tools(registry, template.tool_ids) or "none that can be selected"


def tools_of_assistant(registry: Registry, assistant: Assistant) -> str:
    """Say in words which tools run for an assistant."""
    if assistant.tool_ids is not None:
        return named_tools(registry, assistant.tool_ids) or "none at all"
    if is_selection_visible(registry.rules, assistant.component):
        return "the user's selection"
    return f"the user's selection (not shown in {assistant.component.value}, so none)"


def named_tools(registry: Registry, tool_ids: Iterable[str]) -> str:
    """Return the collections that a list stands for, companions added, then its tools that offer themselves."""
    named = tuple(tool_ids)
    found = registry.normalize_selection(named)
    words = [name if registry.is_known(name) else f"{name} (not installed)" for name in sorted(found)]
    for name in dict.fromkeys(named):
        tool = registry.get(name)
        if tool is not None and tool.definition.activation is ToolActivation.CONTEXT:
            words.append(f"{name} (offers itself)")
    return ", ".join(words)


def chosen_for(configuration: Configuration, template: str | None, assistant: str | None) -> tuple[str, ...]:
    """Return the tools that the assistant or the template of a chat names; none where neither has a rule."""
    for preset in (
        configuration.assistants.get(assistant or ""), configuration.chat_templates.get(template or "")
    ):  # fmt: skip
        if preset is not None and preset.tool_ids is not None:
            return preset.tool_ids
    return ()
