"""The plugin host: loads plugins one at a time, and asks each on its own for what it contributes."""

import inspect
import itertools
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from typing import Any

import lockgate
from lockgate.errors import UnknownNameError, UsageError
from lockgate.plugin_host.discovery import Found, discover
from lockgate.plugin_host.loading import PREFIX, Plugin
from lockgate.plugin_host.policy import HostPolicy
from lockgate.plugin_host.records import PluginRecord, PluginState
from lockgate.plugin_host.specifications import Specifications
from lockgate.registry.calls import attempt
from lockgate.registry.contribution import Contribution, Owner

MAX_ITEMS = 10_000
"""How many items a plugin may contribute through one hook; a generator without an end is told by it."""

MAX_ANSWERS = 4
"""For how many ``services`` the answers to a hook are kept: the present ones, and those that runs still hold."""

_SPECIFYING = "lockgate_hookspecs"

_asking: ContextVar[tuple[tuple[int, str], ...]] = ContextVar("lockgate_asking", default=())


@dataclass(frozen=True, slots=True)
class _Asked:
    """The answers to one hook: with which arguments it was asked, and what each plugin brought."""

    arguments: Mapping[str, Any]
    items: tuple[tuple[Plugin, tuple[Any, ...]], ...]

    def fits(self, wanted: Mapping[str, Any]) -> bool:
        """Tell whether it was asked with these very arguments."""
        return all(self.arguments[name] is value for name, value in wanted.items())


class PluginHost:
    """The plugins of one program, found, loaded and kept apart.

    Building one imports plugins and may take as long as their deadlines: keep it off an event loop, and out
    of modules that a plugin imports. Afterwards a host changes in one way only: a plugin that fails is
    quarantined, and all it contributed, through whichever hook, is gone from then on. A change of plugins
    builds a new host.

    Args:
        policy: Which plugins may load, and how long they may take.
        plugins: Exactly these modules or objects, as tests want it; None for the entry points of the group
            ``lockgate``.
        framework_version: What the plugins' requirements are compared with; this framework's own unless
            given.

    Raises:
        UsageError: A plugin is handed over twice.
    """

    def __init__(
        self,
        policy: HostPolicy | None = None,
        plugins: Sequence[object] | None = None,
        *,
        framework_version: str = "",
    ) -> None:
        self._policy = policy if policy is not None else HostPolicy()
        self._specifications = Specifications()
        self._lock = threading.RLock()
        self._asked: dict[str, list[_Asked]] = {}  # of each hook the latest last
        self._problems: tuple[str, ...] = ()
        if plugins is None:
            discovery = discover(framework_version or lockgate.__version__)
            self._problems = discovery.problems
            self._plugins = [self._from_entry_point(found) for found in discovery.found]
        else:
            self._plugins = self._from_code(plugins)
        self._refuse_twins()
        self._settle_hooks()

    @property
    def policy(self) -> HostPolicy:
        """What the host was built with."""
        return self._policy

    @property
    def records(self) -> tuple[PluginRecord, ...]:
        """All plugins as they stand now, by distribution and entry point."""
        return tuple(plugin.record(self.hooks) for plugin in self._plugins)

    @property
    def problems(self) -> tuple[str, ...]:
        """What could not be found out about installed distributions, one sentence each."""
        return self._problems

    @property
    def hooks(self) -> Mapping[str, Owner]:
        """Name of every hook → who specified it."""
        return self._specifications.owners

    def contributions(self, hook: str, **arguments: Any) -> list[Contribution]:
        """Return what plugins contribute through a hook, by distribution and entry point.

        A plugin is asked once, the first time the hook is; one whose implementation takes ``services`` once for each
        ``services``. Blocks for at most the deadline per plugin.

        Args:
            hook: Its name, with or without ``lockgate_``.
            arguments: What the hook is called with, ``services`` as a rule. What it does not take is left out.

        Raises:
            UnknownNameError: Nobody specified such a hook.
            UsageError: An argument is missing, or the hook is asked for while it is being answered.
        """
        name = hook if hook.startswith(PREFIX) else f"{PREFIX}{hook}"
        if name not in self.hooks:
            raise UnknownNameError("hook", name, self.hooks)
        wanted = self._arguments(name, arguments)
        with self._entered(name):
            answers = self._asked.setdefault(name, [])
            asked = next((answer for answer in answers if answer.fits(wanted)), None)
            if asked is None:
                asked = _Asked(wanted, tuple(self._ask(name, wanted, answers[-1] if answers else None)))
                answers.append(asked)
                del answers[:-MAX_ANSWERS]
        kind = name.removeprefix(PREFIX)
        return [
            Contribution(kind, item, plugin.owner)
            for plugin, items in asked.items
            if plugin.is_loaded
            for item in items
        ]

    def _from_entry_point(self, found: Found) -> Plugin:
        owner, policy = found.owner, self._policy
        if policy.disables(owner.distribution, owner.entry_point):
            return Plugin(owner, PluginState.DISABLED, "It is switched off.")
        if not policy.allows(owner.distribution):
            return Plugin(owner, PluginState.NOT_ALLOWED, "Its distribution is not on the allow list.")
        if found.unsupported:
            return Plugin(owner, PluginState.UNSUPPORTED, found.unsupported)
        plugin = Plugin(owner)
        plugin.load(found.entry_point.load, deadline=policy.import_deadline, imports=True)
        return plugin

    def _from_code(self, subjects: Sequence[object]) -> list[Plugin]:
        if len({id(subject) for subject in subjects}) < len(subjects):
            raise UsageError("A plugin is handed over twice.")
        plugins = []
        for subject in subjects:
            name = getattr(subject, "__name__", None) or type(subject).__name__
            plugin = Plugin(Owner("", entry_point=name, first_party=True))
            if self._policy.disables("", name):
                plugin = Plugin(plugin.owner, PluginState.DISABLED, "It is switched off.")
            else:
                plugin.load(partial(_same, subject), deadline=self._policy.deadline, imports=False)
            plugins.append(plugin)
        return sorted(plugins, key=lambda plugin: plugin.owner.order)

    def _refuse_twins(self) -> None:
        first: dict[int, Plugin] = {}
        for plugin in self._loaded():
            other = first.setdefault(id(plugin.subject), plugin)
            if other is not plugin:
                plugin.quarantine(f"It is the same module as that of {other.owner}.")

    def _settle_hooks(self) -> None:
        """Add the packs' specifications, then judge all implementations. In this order: a pack may load late."""
        for plugin in self._loaded():
            self._specifications.verify(plugin)
        self.contributions(_SPECIFYING)
        for plugin, holders in self._asked[_SPECIFYING][-1].items:
            self._specifications.add_from(plugin, holders, self._policy.deadline)
        for plugin in self._loaded():
            self._specifications.verify(plugin)
            self._specifications.judge(plugin)

    def _loaded(self) -> list[Plugin]:
        return [plugin for plugin in self._plugins if plugin.is_loaded]

    def _arguments(self, hook: str, given: Mapping[str, Any]) -> dict[str, Any]:
        names = self._specifications.arguments(hook)
        missing = [name for name in names if name not in given]
        if missing:
            raise UsageError(f"{hook} is called with {', '.join(names)}; {missing[0]} is missing.")
        return {name: given[name] for name in names}

    @contextmanager
    def _entered(self, hook: str) -> Iterator[None]:
        """Let one thread in at a time, and with it the workers that it waits for.

        A hook may ask for the contributions of another hook. It does so on a worker, which inherits from its
        context that the door is open; its own hook would wait for itself and is refused.
        """
        asking = _asking.get()
        if (id(self), hook) in asking:
            raise UsageError(f"{hook} is asked for by a plugin that is answering it.")
        inside = any(host == id(self) for host, _ in asking)
        if not inside:
            self._lock.acquire()
        token = _asking.set((*asking, (id(self), hook)))
        try:
            yield
        finally:
            _asking.reset(token)
            if not inside:
                self._lock.release()

    def _ask(
        self, hook: str, arguments: Mapping[str, Any], before: _Asked | None
    ) -> Iterator[tuple[Plugin, tuple[Any, ...]]]:
        known = dict(before.items) if before is not None else {}
        for plugin in self._loaded():
            if hook not in plugin.implementations:
                continue
            if plugin in known and not _takes_any(plugin, hook, arguments):
                yield plugin, known[plugin]
                continue
            outcome = attempt(_items, plugin, hook, arguments, deadline=self._policy.deadline)
            if outcome.fault is not None:
                plugin.quarantine(f"{hook} failed: {outcome.fault.error}", outcome.fault.traceback)
            elif plugin.is_loaded and outcome.value is not None:  # a hook it asked for may have cost it its place
                plugin.counts[hook.removeprefix(PREFIX)] = len(outcome.value)
                yield plugin, outcome.value


def _takes_any(plugin: Plugin, hook: str, arguments: Mapping[str, Any]) -> bool:
    return any(
        name in arguments for item in plugin.implementations[hook] for name in (*item.argnames, *item.kwargnames)
    )


def _same(subject: object) -> object:
    return subject


def _items(plugin: Plugin, hook: str, arguments: Mapping[str, Any]) -> tuple[Any, ...]:
    """Call one plugin's implementations of a hook and read what they return to the end. Runs on a worker."""
    items: list[Any] = []
    for implementation in plugin.implementations[hook]:
        optional = {name: arguments[name] for name in implementation.kwargnames if name in arguments}
        result = implementation.function(*[arguments[name] for name in implementation.argnames], **optional)
        room = MAX_ITEMS - len(items)
        items.extend(itertools.islice(_iterable(hook, result), room + 1))
        if len(items) > MAX_ITEMS:
            raise ValueError(f"it returned more than {MAX_ITEMS:,} items")
    return tuple(items)


def _iterable(hook: str, result: Any) -> Iterable[Any]:
    if inspect.iscoroutine(result):
        result.close()
        raise TypeError(f"{hook} is a coroutine function; a hook is an ordinary function")
    if isinstance(result, str | bytes | bytearray | Mapping) or not isinstance(result, Iterable):
        what = "None" if result is None else f"an object of type {type(result).__name__}"
        raise TypeError(f"it returned {what}; a hook returns an iterable of its items")
    return result
