"""Putting plugins and rules together: everything in force at one moment, as one value that is swapped whole."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lockgate.app.configuration import Configuration, InstanceConfig
from lockgate.app.providers import Directory, directory
from lockgate.app.services import Services
from lockgate.calling.loop import Loop, ToolCallingLoop
from lockgate.calling.run import Observer
from lockgate.guard import Guard
from lockgate.plugin_host.host import PluginHost
from lockgate.registry.beside import guarded_beside
from lockgate.registry.contribution import Contribution
from lockgate.registry.incidents import IncidentLog
from lockgate.registry.preparation import Preparation
from lockgate.registry.registry import PLUGIN_DEADLINE, Registry
from lockgate.settings.instances import Instance, Kind
from lockgate.settings.model import read_settings
from lockgate.tools.threads import run_in_thread

_REGISTERED = ("option_sources", "tools", "collections")
_ASKED = (
    *_REGISTERED, "kinds", "tool_definition_sources", "provider_adapters", "provider_profiles", "observers", "loops",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Assembly:
    """Everything in force at one moment.

    Attributes:
        host: The plugins.
        registry: The tools under the rules.
        preparation: Prepares requests against the registry.
        directory: Providers.
        services: What plugins may use.
        observers: Who is told of every run.
        loops: What can drive rounds, by ID.
        problems: What could not be used, in sentences for a person.
    """

    host: PluginHost
    registry: Registry
    preparation: Preparation
    directory: Directory
    services: Services
    observers: tuple[Observer, ...]
    loops: Mapping[str, Loop]
    problems: tuple[str, ...]


async def assemble(
    configuration: Configuration,
    plugins: Sequence[object] | None,
    data_dir: Path,
    guard: Guard,
    host: PluginHost | None = None,
) -> Assembly:
    """Load plugins (unless a host is handed over), ask them, and register what they bring."""
    incidents = IncidentLog()
    if host is None:
        host = await run_in_thread(PluginHost, configuration.host, plugins)
    instances: dict[str, list[Instance]] = {}
    services = Services(host, data_dir, guard, lambda family: tuple(instances.get(family, ())))
    problems = list(configuration.problems)
    asked = await run_in_thread(_ask_all, host, services)
    _open_instances(asked["kinds"], configuration.instances, instances, problems)
    contributions = [item for hook in _REGISTERED for item in asked[hook]]
    contributions += await _tools_of_sources(asked["tool_definition_sources"], incidents)
    registry = Registry(contributions, configuration.rules, incidents)
    adapters, profiles = asked["provider_adapters"], asked["provider_profiles"]
    found = directory(adapters, profiles, configuration.providers, configuration.secret)
    observers = tuple(item.value for item in asked["observers"])
    loops: dict[str, Loop] = {"tool_calling": ToolCallingLoop()}
    for item in asked["loops"]:
        loops.setdefault(str(getattr(item.value, "id", "")), item.value)
    problems.extend(found.problems)
    problems.extend(str(rejection) for rejection in registry.rejections)
    return Assembly(
        host, registry, Preparation(registry, services), found, services, observers, loops, tuple(problems)
    )


def _ask_all(host: PluginHost, services: Services) -> dict[str, list[Contribution]]:
    """Ask every hook, and then again: a plugin that failed at a later one brings nothing through the earlier ones."""
    for hook in _ASKED:
        host.contributions(hook, services=services)
    return {hook: host.contributions(hook, services=services) for hook in _ASKED}


def _open_instances(
    contributed: Sequence[Contribution],
    configured: Sequence[InstanceConfig],
    instances: dict[str, list[Instance]],
    problems: list[str],
) -> None:
    kinds: dict[tuple[str, str], Kind] = {}
    for item in contributed:
        if isinstance(item.value, Kind):
            kinds.setdefault((item.value.family, item.value.id), item.value)
    for config in sorted(configured, key=lambda entry: entry.id):
        kind = kinds.get((config.family, config.kind))
        if kind is None:
            known = ", ".join(sorted(name for family, name in kinds if family == config.family)) or "none"
            problems.append(f"{config.family} {config.id!r} is of the kind {config.kind!r}; installed are: {known}.")
            continue
        settings, wrong = read_settings(kind.settings_model, config.values)
        if settings is None:
            text = "; ".join(f"{name} {why}" for name, why in wrong.items())
            problems.append(f"{config.family} {config.id!r} cannot be used: {text}.")
            continue
        instances.setdefault(config.family, []).append(
            Instance(kind, config.id, config.name or config.id, settings, config.set_by)
        )


async def _tools_of_sources(sources: Sequence[Contribution], incidents: IncidentLog) -> list[Contribution]:
    """Ask the sources of tool definitions for the tools they have now. One that fails brings none."""
    found: list[Contribution] = []
    for item in sources:
        name = str(getattr(item.value, "name", type(item.value).__name__))
        tools: Any = await guarded_beside(
            item.owner, f"tools of {name}", item.value.tools,
            deadline=PLUGIN_DEADLINE * 5, fallback=(), incidents=incidents,
        )
        found.extend(Contribution("tools", tool, item.owner) for tool in tools or ())
    return found
