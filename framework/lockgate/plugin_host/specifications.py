"""Which hooks there are: the framework's, and those that packs specify for others."""

import difflib
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any

import pluggy

from lockgate.plugin_host.hookspecs import Hooks
from lockgate.plugin_host.loading import PREFIX, Plugin
from lockgate.plugin_host.markers import PROJECT
from lockgate.registry.calls import attempt
from lockgate.registry.contribution import FRAMEWORK, Owner

NEAR = 0.75
"""How like a known name (difflib's ratio, without the prefix) an unknown one counts as misspelt."""

NEAR_IF_OPTIONAL = 0.9
"""Likewise for one that is marked optional, and so says itself that it may be unknown."""

_ARGUMENTS = frozenset({"services"})


class Specifications:
    """All hook specifications, each with its owner."""

    def __init__(self) -> None:
        self._manager = pluggy.PluginManager(PROJECT)
        self._manager.add_hookspecs(Hooks)
        self._owners = {name: FRAMEWORK for name in dir(Hooks) if name.startswith(PREFIX)}

    @property
    def owners(self) -> Mapping[str, Owner]:
        """Name of the hook → who specified it, the framework's first."""
        return MappingProxyType(self._owners)

    def arguments(self, hook: str) -> tuple[str, ...]:
        """Return the names of the arguments a hook is called with."""
        specification = getattr(self._manager.hook, hook).spec
        return (*specification.argnames, *specification.kwargnames)

    def add_from(self, plugin: Plugin, holders: Iterable[Any], deadline: float) -> None:
        """Take in what a pack specifies. What cannot be taken is told in its record, or quarantines it.

        Args:
            plugin: The pack.
            holders: The modules or classes it returned.
            deadline: Seconds for reading them all.
        """
        outcome = attempt(self._marked, tuple(holders), deadline=deadline)
        if outcome.fault is not None or outcome.value is None:
            error, trace = (outcome.fault.error, outcome.fault.traceback) if outcome.fault else ("no value", "")
            plugin.quarantine(f"lockgate_hookspecs failed: {error}", trace)
            return
        for name, function in outcome.value:
            problem = self._why_not(name, function)
            if problem:
                plugin.problems.append(f"{problem} (specified by {plugin.owner})")
                continue
            self._manager.add_hookspecs(type("Specification", (), {name: staticmethod(function)}))
            self._owners[name] = plugin.owner

    def verify(self, plugin: Plugin) -> None:
        """Quarantine a plugin with an implementation that asks for what its hook does not hand over."""
        for hook, implementations in plugin.implementations.items():
            if hook not in self._owners:
                continue
            known = self.arguments(hook)
            surplus = [name for item in implementations for name in item.argnames if name not in known]
            if surplus:
                there = f"only {', '.join(known)}" if known else "none"
                plugin.quarantine(f"{hook} asks for the argument {surplus[0]!r}; there is {there}.")

    def judge(self, plugin: Plugin) -> None:
        """Say what is to be said of implementations that nobody specified. Only when all packs are known."""
        pending = []
        for hook, implementations in plugin.implementations.items():
            if hook in self._owners:
                continue
            pending.append(hook)
            optional = all(item.optionalhook for item in implementations)
            near = self._nearest(hook, NEAR_IF_OPTIONAL if optional else NEAR)
            if near:
                plugin.problems.append(f"{hook} is no hook and is never called. Did you mean {near}?")
            elif optional:
                plugin.notes.append(f"{hook} waits for the pack that specifies it.")
            else:
                plugin.problems.append(
                    f"{hook} is no hook and is never called. If it belongs to a pack that may be "
                    f"absent, mark it @hookimpl(optionalhook=True)."
                )
        plugin.pending = tuple(sorted(pending))
        for name in plugin.unmarked:
            if name in self._owners:
                plugin.problems.append(f"{name} is never called, because it is not marked with @hookimpl.")
        if not plugin.implementations and not plugin.problems:
            plugin.problems.append("It implements no hook.")

    def _nearest(self, hook: str, cutoff: float) -> str:
        bare = [name.removeprefix(PREFIX) for name in self._owners]
        near = difflib.get_close_matches(hook.removeprefix(PREFIX), bare, n=1, cutoff=cutoff)
        return f"{PREFIX}{near[0]}" if near else ""

    def _why_not(self, name: str, function: Callable[..., Any]) -> str:
        if not name.startswith(PREFIX):
            return f"The hook {name} is not taken: its name has to begin with {PREFIX}"
        if name in self._owners:
            return f"The hook {name} is not taken: {self._owners[name]} has specified it already"
        options = getattr(function, f"{PROJECT}_spec")
        if options["firstresult"] or options["historic"]:
            return f"The hook {name} is not taken: firstresult and historic have no meaning here"
        probe = pluggy.PluginManager(PROJECT)
        probe.add_hookspecs(type("Specification", (), {name: staticmethod(function)}))
        specification = getattr(probe.hook, name).spec
        surplus = sorted({*specification.argnames, *specification.kwargnames} - _ARGUMENTS)
        if surplus:
            names = ", ".join(surplus)
            return f"The hook {name} is not taken: it may take services and nothing else, not {names}"
        return ""

    def _marked(self, holders: tuple[Any, ...]) -> list[tuple[str, Callable[..., Any]]]:
        found = []
        for holder in holders:
            names = [name for name in dir(holder) if self._manager.parse_hookspec_opts(holder, name) is not None]
            if not names:
                raise TypeError(f"{holder!r} has no function marked with @hookspec")
            found += [(name, getattr(holder, name)) for name in names]
        return found
