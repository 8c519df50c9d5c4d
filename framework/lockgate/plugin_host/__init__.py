"""The plugin host: finds plugins, keeps each to itself, and tells what became of it.

The names are loaded when they are asked for: a plugin's module imports `hookimpl`, and nothing else has to be
loaded.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lockgate.plugin_host.host import PluginHost
    from lockgate.plugin_host.markers import hookimpl, hookspec
    from lockgate.plugin_host.policy import HostPolicy
    from lockgate.plugin_host.records import PluginRecord, PluginState
    from lockgate.plugin_host.report import Finding, PluginRow, Severity, findings, plugin_rows

_HOME = {
    "Finding": "report",
    "HostPolicy": "policy",
    "PluginHost": "host",
    "PluginRecord": "records",
    "PluginRow": "report",
    "PluginState": "records",
    "Severity": "report",
    "findings": "report",
    "hookimpl": "markers",
    "hookspec": "markers",
    "plugin_rows": "report",
}

__all__ = [
    "Finding",
    "HostPolicy",
    "PluginHost",
    "PluginRecord",
    "PluginRow",
    "PluginState",
    "Severity",
    "findings",
    "hookimpl",
    "hookspec",
    "plugin_rows",
]


def __getattr__(name: str) -> Any:
    """Load a name from its module."""
    if name not in _HOME:
        raise AttributeError(f"module 'lockgate.plugin_host' has no attribute {name!r}")
    return getattr(importlib.import_module(f"lockgate.plugin_host.{_HOME[name]}"), name)
