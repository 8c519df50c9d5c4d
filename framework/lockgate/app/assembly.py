"""Putting plugins and rules together: everything in force at one moment, as one value that is swapped whole."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lockgate.app.configuration import Configuration, InstanceConfig
from lockgate.app.contributed import loops_of, observers_of, read_all, read_kind, tools_of_sources
from lockgate.app.providers import Directory, directory
from lockgate.app.services import Services
from lockgate.app.unknown import unknown_keys, unknown_names
from lockgate.calling.loop import Loop, ToolCallingLoop
from lockgate.calling.run import Observer
from lockgate.guard import Guard
from lockgate.plugin_host.host import PluginHost
from lockgate.plugin_host.report import problems_of_tools
from lockgate.registry.calls import attempt
from lockgate.registry.contribution import Contribution, Owner
from lockgate.registry.incidents import IncidentLog
from lockgate.registry.preparation import Preparation
from lockgate.registry.registry import PLUGIN_DEADLINE, Registry
from lockgate.settings.file_tables import key_of
from lockgate.settings.instances import Instance, Kind
from lockgate.settings.model import read_settings
from lockgate.tools.threads import run_in_thread

_REGISTERED = ("option_sources", "previews", "tools", "collections")
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
    known: Assembly | None = None,
) -> Assembly:
    """Load plugins, ask them, and register what they bring.

    Args:
        configuration: What is configured.
        plugins: Exactly these plugins; the installed ones when None.
        data_dir: Where plugins keep derived data.
        guard: The prompt-injection filter.
        known: What was in force before: its plugins are kept while the same ones may load, and what its log of
            incidents masks is masked again.
    """
    incidents = IncidentLog(None if known is None else known.registry.incidents)
    if known is not None and known.host.policy == configuration.host:
        host = known.host
    else:
        host = await run_in_thread(PluginHost, configuration.host, plugins)
    instances: dict[str, list[Instance]] = {}
    services = Services(host, data_dir, guard, lambda family: tuple(instances.get(family, ())))
    problems = list(configuration.problems)
    asked = await run_in_thread(_ask_all, host, services)
    await run_in_thread(_open_instances, asked["kinds"], configuration, instances, problems)
    contributions = [item for hook in _REGISTERED for item in asked[hook]]
    contributions += await tools_of_sources(asked["tool_definition_sources"], incidents, problems)

    def put_together() -> Assembly:  # reads what strangers contributed, so it does not run on the event loop
        registry = Registry(contributions, configuration.rules, incidents)
        found = directory(
            asked["provider_adapters"], asked["provider_profiles"], configuration.providers, configuration.secret,
            configuration.rules.pins, configuration.refused_providers,
        )
        observers = observers_of(asked["observers"], problems)
        loops = loops_of(asked["loops"], {"tool_calling": ToolCallingLoop()}, problems, configuration.rules.pins)
        problems.extend(found.problems)
        problems.extend(problems_of_tools(registry))
        problems.extend(unknown_names(configuration, registry, found, host.records))
        preparation = Preparation(registry, services)
        return Assembly(host, registry, preparation, found, services, observers, loops, tuple(problems))

    return await run_in_thread(put_together)


def _ask_all(host: PluginHost, services: Services) -> dict[str, list[Contribution]]:
    """Ask every hook, and then again: a plugin that failed at a later one brings nothing through the earlier ones."""
    for hook in _ASKED:
        host.contributions(hook, services=services)
    return {hook: host.contributions(hook, services=services) for hook in _ASKED}


def _open_instances(
    contributed: Sequence[Contribution],
    configuration: Configuration,
    instances: dict[str, list[Instance]],
    problems: list[str],
) -> None:
    kinds: dict[tuple[str, str], tuple[Kind, Owner]] = {}
    for item, name, kind in read_all(contributed, "kind", read_kind, problems):
        known = kinds.setdefault((kind.family, name), (kind, item.owner))
        if known[0] is not kind:
            problems.append(f"The kind {name!r} of {item.owner} was not taken: {known[1]} has that name.")

    def tell(config: InstanceConfig, text: str, *names: str) -> None:
        place = key_of(f"{config.family}s", config.id)
        problems.append(configuration.told(text, *(key_of(place, name) for name in names), place))

    for config in sorted(configuration.instances, key=lambda entry: entry.id):
        found = kinds.get((config.family, config.kind))
        if found is None:
            names = ", ".join(sorted(name for family, name in kinds if family == config.family)) or "none"
            text = f"{config.family} {config.id!r} is of the kind {config.kind!r}; installed are: {names}."
            tell(config, text, "kind")
            continue
        kind, owner = found
        outcome = attempt(read_settings, kind.settings_model, config.values, deadline=PLUGIN_DEADLINE)
        if outcome.value is None:
            tell(config, f"{config.family} {config.id!r} cannot be used: reading its settings failed in {owner}.")
            continue
        settings, wrong = outcome.value
        if settings is None:
            text = "; ".join(f"{name} {why}" for name, why in wrong.items())
            tell(config, f"{config.family} {config.id!r} cannot be used: {text.rstrip('.')}.", *wrong)
            continue
        for name, text in unknown_keys(kind, config.id, config.values):
            tell(config, text, name)
        instances.setdefault(config.family, []).append(
            Instance(kind, config.id, config.name or config.id, settings, config.set_by)
        )
