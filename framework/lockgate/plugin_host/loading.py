"""One plugin: imported under a deadline, read for its hook implementations, and what became of it."""

import inspect
import time
from collections.abc import Callable, Mapping
from types import MappingProxyType

import pluggy

from lockgate.plugin_host.markers import PROJECT
from lockgate.plugin_host.records import PluginRecord, PluginState
from lockgate.registry.calls import Fault, attempt
from lockgate.registry.contribution import Owner

PREFIX = "lockgate_"
"""What the name of every hook begins with."""

Implementations = Mapping[str, tuple[pluggy.HookImpl, ...]]


class Plugin:
    """A plugin on its way through the host. Changes only by being quarantined and by what is noted of it."""

    def __init__(self, owner: Owner, state: PluginState = PluginState.LOADED, reason: str = "") -> None:
        self.owner, self.state, self.reason = owner, state, reason
        self.traceback = ""
        self.subject: object = None
        self.implementations: Implementations = MappingProxyType({})
        self.unmarked: tuple[str, ...] = ()
        self.pending: tuple[str, ...] = ()
        self.problems: list[str] = []
        self.notes: list[str] = []
        self.counts: dict[str, int] = {}
        self.import_ms: float | None = None

    @property
    def is_loaded(self) -> bool:
        """Whether it still takes part."""
        return self.state is PluginState.LOADED

    def quarantine(self, reason: str, traceback: str = "") -> None:
        """Take the plugin out for good. The first reason stays."""
        if self.is_loaded:
            self.state, self.reason, self.traceback = PluginState.QUARANTINED, reason, traceback
            self.counts = {}

    def load(self, source: Callable[[], object], *, deadline: float, imports: bool) -> None:
        """Get the plugin's module or object and read its implementations.

        It runs on a daemon thread: a module that hangs while it is imported is left behind, together with the
        lock of that one module. So a module that asks for the main thread at import (a signal handler) cannot
        be a plugin.

        Args:
            source: Returns the module or object.
            deadline: Seconds.
            imports: Whether the source imports, so that its time is worth telling.
        """
        started = time.perf_counter()
        outcome = attempt(_read, source, deadline=deadline)
        if imports:
            self.import_ms = (time.perf_counter() - started) * 1000
        if outcome.fault is not None or outcome.value is None:
            fault = outcome.fault or Fault("it brought nothing")
            done = "imported" if imports else "read"
            self.quarantine(f"It could not be {done}: {fault.error}", fault.traceback)
            return
        self.subject, self.implementations, self.unmarked = outcome.value
        for hook, implementations in self.implementations.items():
            if any(item.wrapper or item.hookwrapper for item in implementations):
                self.quarantine(
                    f"{hook} is a wrapper; each plugin's hooks are called on their own, so it wraps nothing."
                )
            if any(item.tryfirst or item.trylast for item in implementations):
                self.notes.append(f"{hook} asks to be called first or last; the order is by distribution and name.")

    def record(self, specified: Mapping[str, Owner]) -> PluginRecord:
        """Return what became of the plugin, as of now."""
        return PluginRecord(
            self.owner,
            self.state,
            self.reason,
            self.traceback,
            tuple(sorted(name for name in self.implementations if name in specified)),
            self.pending,
            tuple(self.problems),
            tuple(self.notes),
            MappingProxyType(dict(self.counts)),
            self.import_ms,
        )


def _read(source: Callable[[], object]) -> tuple[object, Implementations, tuple[str, ...]]:
    """Get a plugin and read it. Runs on the worker: a module or object may bring code of its own for both."""
    subject = source()
    if subject is None or inspect.isclass(subject):
        what = "nothing" if subject is None else f"the class {subject.__name__}"
        raise TypeError(f"the entry point names {what}; it has to name a module or an object")
    manager = pluggy.PluginManager(PROJECT)
    manager.register(subject, "plugin")
    callers = manager.get_hookcallers(subject) or []
    implementations = {caller.name: tuple(caller.get_hookimpls()) for caller in callers}
    unmarked = tuple(
        name
        for name in dir(subject)
        if name.startswith(PREFIX)
        and name not in implementations
        and inspect.isfunction(inspect.getattr_static(subject, name, None))
    )
    return subject, MappingProxyType(implementations), unmarked
