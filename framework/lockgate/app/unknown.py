"""Names in the settings that nothing answers to.

They are kept, since their pack may come later, and they are told: a misspelt name in a rule protects nothing.
"""

import difflib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from lockgate.app.configuration import Configuration
from lockgate.app.providers import Directory
from lockgate.app.templates import Assistant, ChatTemplate
from lockgate.plugin_host.records import PluginRecord
from lockgate.registry.registry import Registry
from lockgate.settings.file_tables import key_of
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
        configuration.told(name.text, *name.keys) for name in (
            *_told("disabled_tool_ids", "tool or collection", rules.disabled, tools),
            *_told("minimum_provider_confidence_by_tool_id", "tool or collection", rules.minimums, tools),
            *_told("default_tool_ids_by_component", "tool or collection", selected, tools),
            *_told("trusted_provider_ids", "provider", rules.trusted_provider_ids, providers),
            *_told("default_provider", "provider", default, answering),
            *_told("previews", "preview", rules.previews, [preview.id for preview in registry.previews.all]),
            *_of_prompts("chat_templates", configuration.chat_templates.values(), tools),
            *_of_prompts("assistants", configuration.assistants.values(), tools),
            *_of_assistants(configuration.assistants.values(), answering),
            *_told("plugins.disabled", "plugin", configuration.host.disabled, plugins),
            *_settings_of_tools(rules.layers.user, registry),
        )
    ]  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Unknown:
    """A sentence about a name, and the keys it may stand under, the nearest first."""

    text: str
    keys: tuple[str, ...]


def _told(key: str, what: str, names: Iterable[str], known: Iterable[str], *around: str) -> Iterator[_Unknown]:
    there = set(known)
    for name in sorted(set(names) - there):
        yield _Unknown(f"{key} names the {what} {name!r}, which is not there.{_hint(name, there)}",
                       (key_of(key, name), key, *around))  # fmt: skip


def _hint(name: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, sorted(known), n=1)
    return f" Did you mean {near[0]!r}?" if near else ""


def _of_prompts(
    table: str, entries: Iterable[ChatTemplate | Assistant], tools: Iterable[str]
) -> Iterator[_Unknown]:
    for entry in entries:
        place = key_of(table, entry.id)
        yield from _told(f"{place}.tool_ids", "tool or collection", entry.tool_ids or (), tools, place)


def _of_assistants(assistants: Iterable[Assistant], answering: Iterable[str]) -> Iterator[_Unknown]:
    for entry in assistants:
        if entry.provider:
            place = key_of("assistants", entry.id)
            yield from _told(f"{place}.provider", "provider", [entry.provider], answering, place)


def _settings_of_tools(stored: Mapping[str, object], registry: Registry) -> Iterator[_Unknown]:
    known = {tool.id: tool.settings_model for tool in registry.tools}
    keys: dict[str, list[str]] = {}
    for key in stored:
        tool_id, _, name = key.partition(".")
        keys.setdefault(tool_id, []).append(name)
    yield from _told("tools", "tool", keys, known)
    for tool_id, names in keys.items():
        if tool_id not in known:
            continue
        model, place = known[tool_id], key_of("tools", tool_id)
        yield from _told(place, "setting", names, model.outside_names())
        for name in sorted(model.secret_names().intersection(names)):
            text = (
                f"{place} holds {name!r}, which is a secret and is not read from there: keep it with "
                f"`lockgate tools secret {tool_id} {name}`; a program hands it over in Layers.secrets."
            )
            yield _Unknown(text, (key_of(place, name), place))


def unknown_keys(kind: Kind, instance_id: str, values: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return key and sentence for each key of an instance that its kind does not read."""
    there = kind.settings_model.outside_names()
    return [
        (name, f"{kind.family} {instance_id!r} names the setting {name!r}, which is not there.{_hint(name, there)}")
        for name in sorted(set(values) - set(there))
    ]
