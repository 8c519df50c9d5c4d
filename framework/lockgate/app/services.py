"""What the framework lends to plugins: one object per ``Lockgate``, the same for all, without a chat's state."""

import logging
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from lockgate.errors import ConfigurationError
from lockgate.guard import Guard
from lockgate.plugin_host.host import PluginHost
from lockgate.registry.calls import attempt
from lockgate.settings.instances import Instance

logger = logging.getLogger("lockgate.app")
_OPEN_DEADLINE = 10.0
_COMPARE_DEADLINE = 2.0


class Services:
    """What plugins may use.

    Args:
        host: The plugin host in force.
        data_dir: Where plugins may keep derived data.
        guard: The prompt-injection filter.
        instances: Returns the configured instances of a family.
    """

    def __init__(
        self, host: PluginHost, data_dir: Path, guard: Guard, instances: Callable[[str], Sequence[Instance]]
    ) -> None:
        self._host, self._instances = host, instances
        self.data_dir = data_dir
        self.guard = guard
        self._opened: dict[tuple[str, str], tuple[Instance, Any]] = {}
        self._lock = threading.Lock()

    def instances(self, family: str) -> Sequence[Instance]:
        """Return the configured instances of a family, in order of their IDs."""
        return self._instances(family)

    def opened(self, instance: Instance) -> Any:
        """Return what a kind makes of an instance, made once for each state of the instance.

        Raises:
            ConfigurationError: The kind makes nothing, or making it failed.
        """
        key = (instance.kind.family, instance.id)
        with self._lock:
            known = self._opened.get(key)
        if known is not None and _is_same(known[0], instance):
            return known[1]
        create = instance.kind.create
        if create is None:
            raise ConfigurationError(f"The kind {instance.kind.id!r} makes nothing of an instance.")
        outcome = attempt(create, instance, self, deadline=_OPEN_DEADLINE)
        if outcome.fault is not None:
            raise ConfigurationError(f"{instance.name or instance.id!r} cannot be used: {outcome.fault.error}")
        with self._lock:
            self._opened[key] = (instance, outcome.value)
        return outcome.value

    def contributions(self, hook: str) -> Sequence[Any]:
        """Return what plugins contribute through a hook, in stable order."""
        return [item.value for item in self._host.contributions(hook, services=self)]


def _is_same(known: Instance, instance: Instance) -> bool:
    """Compare two states of an instance. Settings are a plugin's class, so comparing them runs its code."""
    return known is instance or attempt(lambda: bool(known == instance), deadline=_COMPARE_DEADLINE).value is True
