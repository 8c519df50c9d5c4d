"""Reading what plugins contribute to the application: each value once, guarded, into plain values of our own."""

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, Field, fields
from typing import Any

from lockgate.calling.loop import Loop
from lockgate.calling.run import Observer
from lockgate.providers.profile import Evidence, ProviderProfile
from lockgate.registry.asking import ask_beside
from lockgate.registry.contribution import Contribution, Owner
from lockgate.registry.copies import MAX_NAMES, Unfit, flag, is_a, names, shown, text
from lockgate.registry.incidents import IncidentLog
from lockgate.registry.reading import Named, Reader, identified
from lockgate.registry.registry import PLUGIN_DEADLINE
from lockgate.settings.instances import Kind
from lockgate.settings.model import ToolSettings

SOURCE_DEADLINE = PLUGIN_DEADLINE * 5
"""Seconds a source of tool definitions has: it may have to ask a service."""


def read_all(
    contributions: Iterable[Contribution], what: str, copying: Callable[[Any, Named], Any], problems: list[str]
) -> list[tuple[Contribution, str, Any]]:
    """Read contributed values; one that does not fit is left out, with a sentence among the problems.

    Args:
        contributions: The values, in order.
        what: What they are, for the sentence.
        copying: Reads one; see `Reader.read`.
        problems: Where sentences for a person go.

    Returns:
        Of each that fits the contribution, its name, and what was made of it.
    """
    found, reader = [], Reader()
    for item in contributions:
        reading = reader.read(item, copying)
        if reading.problem:
            called = f" {reading.name!r}" if reading.name else ""
            problems.append(f"The {what}{called} of {item.owner} was not taken: {reading.problem}.")
        else:
            found.append((item, reading.name, reading.copy))
    return found


def in_order(
    read: Iterable[tuple[Contribution, str, Any]], pins: Mapping[str, str]
) -> list[tuple[Contribution, str, Any]]:
    """Return what was read in the order of distribution and entry point, a pinned owner's values before all others."""

    def rank(entry: tuple[Contribution, str, Any]) -> tuple[bool, tuple[str, str]]:
        item, name, _ = entry
        return pins.get(name, "").lower() != item.owner.distribution.lower(), item.owner.order

    return sorted(read, key=rank)


def with_name(method: str = "") -> Callable[[Any, Named], Any]:
    """Return a function that takes an object as it is, once its ID was found, and a method where one is named."""

    def copying(value: Any, named: Named) -> Any:
        identified(value, named)
        return _with_method(value, method) if method else value

    return copying


def _with_method(value: Any, method: str) -> Any:
    if not callable(getattr(value, method, None)):
        raise Unfit(f"it is {shown(value)} without a method {method}")
    return value


def read_kind(given: Any, named: Named) -> Kind:
    """Return a copy of a kind of instances.

    Raises:
        Unfit: It is none.
    """
    if not is_a(given, Kind):
        raise Unfit(f"it is {shown(given)} and no Kind")
    identifier, family = identified(given, named), text(given.family, "family")
    model, create = given.settings_model, given.create
    if not is_a(model, type) or not issubclass(model, ToolSettings):
        raise Unfit("its settings_model is no ToolSettings")
    if create is not None and not callable(create):
        raise Unfit(f"its create is {shown(create)}; right is a function or None")
    return Kind(identifier, family, model, create, text(given.title, "title"))


def read_profile(given: Any, named: Named) -> ProviderProfile:
    """Return a copy of a provider profile.

    Raises:
        Unfit: It is none, or a part of it has the wrong type.
    """
    identifier = identified(given, named)
    if not is_a(given, ProviderProfile):
        raise Unfit(f"it is {shown(given)} and no ProviderProfile")
    parts = {part.name: _part(part, getattr(given, part.name)) for part in fields(ProviderProfile) if part.name != "id"}
    return ProviderProfile(identifier, **parts)


def _part(part: "Field[Any]", value: Any) -> Any:
    if is_a(part.default, bool):
        return flag(value, part.name)
    if is_a(part.default, tuple):
        return names(value, part.name)
    if part.default is not MISSING or part.default_factory is MISSING:
        return text(value, part.name)
    if not isinstance(value, Mapping):
        raise Unfit(f"its {part.name} is {shown(value)}; right is a table (dict)")
    pairs = itertools.islice(iter(value.items()), MAX_NAMES)
    return {text(key, part.name): _evidence(item) for key, item in pairs}


def _evidence(given: Any) -> Evidence:
    if not is_a(given, Evidence):
        raise Unfit(f"its evidence holds {shown(given)}; right is an Evidence")
    return Evidence(**{part.name: text(getattr(given, part.name), "evidence") for part in fields(Evidence)})


def observers_of(contributions: Iterable[Contribution], problems: list[str]) -> tuple[Observer, ...]:
    """Return the observers that can be told something."""
    found = read_all(contributions, "observer", lambda value, _: _with_method(value, "on"), problems)
    return tuple(value for _, _, value in found)


def loops_of(
    contributions: Iterable[Contribution], known: Mapping[str, Loop], problems: list[str], pins: Mapping[str, str]
) -> dict[str, Loop]:
    """Return what can drive rounds, by ID. Of two with one ID the first stays; the other is told."""
    loops = dict(known)
    for item, name, value in in_order(read_all(contributions, "loop", with_name("run"), problems), pins):
        if name in loops:
            problems.append(f"The loop {name!r} of {item.owner} was not taken: there is one of that name already.")
        else:
            loops[name] = value
    return loops


async def tools_of_sources(
    sources: Sequence[Contribution], incidents: IncidentLog, problems: list[str]
) -> list[Contribution]:
    """Ask the sources of tool definitions for the tools they have now. One that fails brings none."""
    found: list[Contribution] = []
    brought_by: dict[Owner, int] = {}
    for number, item in enumerate(sources, 1):
        brought = await ask_beside(
            item.owner, f"tools of definition source {number}", _asking(item.value), _listed,
            deadline=SOURCE_DEADLINE, fallback=None, incidents=incidents,
        )
        if brought is None:
            problems.append(f"A tool definition source of {item.owner} brought no tools; see plugins doctor.")
            continue
        brought_by[item.owner] = brought_by.get(item.owner, 0) + len(brought)
        if brought_by[item.owner] > MAX_NAMES:
            problems.append(f"The tool definition sources of {item.owner} brought more than {MAX_NAMES:,} tools.")
            continue
        found.extend(Contribution("tools", tool, item.owner) for tool in brought)
    return found


def _asking(source: Any) -> Callable[[], Any]:
    def asked() -> Any:
        return source.tools()  # looked up here, since that is a stranger's code, too

    return asked


def _listed(brought: Any) -> tuple[Any, ...]:
    if brought is None:
        return ()
    if is_a(brought, str, bytes, dict):
        raise TypeError(f"it returned {shown(brought)}; right are tools, in a list")
    listed = tuple(itertools.islice(iter(brought), MAX_NAMES + 1))
    if len(listed) > MAX_NAMES:
        raise ValueError(f"it returned more than {MAX_NAMES:,} tools")
    return listed
