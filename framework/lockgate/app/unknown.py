"""Names in the settings that nothing answers to.

They are kept, since their pack may come later, and they are told: a misspelt name in a rule protects nothing.
"""

import difflib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from lockgate.app.configuration import Configuration
from lockgate.app.providers import Directory
from lockgate.app.templates import Assistant, ChatTemplate
from lockgate.plugin_host.records import PluginRecord
from lockgate.registry.registry import Registry
from lockgate.settings.instances import Kind


def unknown_names(
    configuration: Configuration, registry: Registry, directory: Directory, records: Iterable[PluginRecord]
) -> list[str]:
    """Return a sentence for each name in the settings that nothing answers to, the nearest known one suggested."""
    tools = {tool.id for tool in registry.tools} | {registry.get_collection_id(tool.id) for tool in registry.tools}
    rules = configuration.rules
    providers = {name.lower() for name in (*directory.configs, *configuration.refused_providers)}
    plugins = {name for record in records for name in (record.name, record.distribution) if name}
    selected = (name for names in rules.default_tools.values() for name in names)
    answering = {*directory.configs, *directory.profiles, *configuration.refused_providers}  # the refused are told
    default = [configuration.default_provider] if configuration.default_provider else []
    return [
        *_told("disabled_tool_ids", "tool or collection", rules.disabled, tools),
        *_told("minimum_provider_confidence_by_tool_id", "tool or collection", rules.minimums, tools),
        *_told("default_tool_ids_by_component", "tool or collection", selected, tools),
        *_told("trusted_provider_ids", "provider", rules.trusted_provider_ids, providers),
        *_told("default_provider", "provider", default, answering),
        *_told("previews", "preview", rules.previews, [preview.id for preview in registry.previews.all]),
        *_of_prompts("chat_templates", configuration.chat_templates.values(), tools),
        *_of_prompts("assistants", configuration.assistants.values(), tools),
        *_told("assistants", "provider", [item.provider for item in configuration.assistants.values() if item.provider],
               answering),
        *_told("plugins.disabled", "plugin", configuration.host.disabled, plugins),
        *_settings_of_tools(rules.layers.user, registry),
    ]


def _told(key: str, what: str, names: Iterable[str], known: Iterable[str]) -> Iterator[str]:
    there = set(known)
    for name in sorted(set(names) - there):
        near = difflib.get_close_matches(name, sorted(there), n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        yield f"{key} names the {what} {name!r}, which is not there.{hint}"


def _of_prompts(key: str, entries: Iterable[ChatTemplate | Assistant], tools: Iterable[str]) -> Iterator[str]:
    for entry in entries:
        yield from _told(f"{key}.{entry.id}.tool_ids", "tool or collection", entry.tool_ids or (), tools)


def _settings_of_tools(stored: Mapping[str, object], registry: Registry) -> Iterator[str]:
    known = {tool.id: tool.settings_model for tool in registry.tools}
    keys: dict[str, list[str]] = {}
    for key in stored:
        tool_id, _, name = key.partition(".")
        keys.setdefault(tool_id, []).append(name)
    yield from _told("tools", "tool", keys, known)
    for tool_id, names in keys.items():
        if tool_id not in known:
            continue
        model = known[tool_id]
        yield from _told(f"tools.{tool_id}", "setting", names, model.outside_names())
        for name in sorted(model.secret_names().intersection(names)):
            yield (
                f"tools.{tool_id} holds {name!r}, which is a secret and is not read from there: keep it with "
                f"`lockgate tools secret {tool_id} {name}`."
            )


def unknown_keys(kind: Kind, instance_id: str, values: Mapping[str, Any]) -> list[str]:
    """Return a sentence for each key of an instance that its kind does not read."""
    return list(_told(f"{kind.family} {instance_id!r}", "setting", values, kind.settings_model.outside_names()))
