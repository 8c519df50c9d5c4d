"""Lockgate: tool calling in which the organization, not the model, decides what a chat may read and where it may send.

This module is the public interface: a sorted list of names, each loaded when it is first asked for. What is neither
here nor in `lockgate.testing` is private and may change.
"""

import importlib
from typing import Any

__version__ = "0.1.0"

_HOME = {
    "ArgumentRefused": "errors",
    "Attachment": "chat",
    "CallResult": "providers",
    "ChatRequirements": "policy",
    "ChatThread": "chat",
    "Components": "tools",
    "ConfidenceLevel": "policy",
    "ConfigurationError": "errors",
    "DataSourceOptions": "chat",
    "DataSourceSecurity": "policy",
    "DataTool": "tools",
    "DocumentError": "errors",
    "Endpoint": "providers",
    "Evidence": "providers",
    "Exchange": "providers",
    "Failure": "errors",
    "FailureKind": "errors",
    "GuardSource": "guard",
    "GuardText": "guard",
    "HttpRequest": "providers",
    "Instance": "settings",
    "Kind": "settings",
    "Line": "tools",
    "Lockgate": "app",
    "LockgateError": "errors",
    "Message": "chat",
    "ModelRequest": "providers",
    "OfferedFunction": "providers",
    "Option": "settings",
    "OptionSource": "settings",
    "OutboundDataRestriction": "policy",
    "PositiveInt": "tools",
    "ProviderAdapter": "providers",
    "ProviderDenied": "errors",
    "ProviderError": "errors",
    "ProviderProfile": "providers",
    "ProviderStanding": "policy",
    "Refusal": "errors",
    "RequestContext": "tools",
    "RequestedCall": "providers",
    "Role": "chat",
    "Round": "providers",
    "Run": "calling",
    "SetBy": "policy",
    "SetByKind": "policy",
    "Setting": "settings",
    "Source": "chat",
    "SourceKind": "guard",
    "SourceOrigin": "chat",
    "StopReason": "providers",
    "Tool": "tools",
    "ToolActivation": "tools",
    "ToolArguments": "tools",
    "ToolBlock": "providers",
    "ToolBlocked": "errors",
    "ToolCollection": "tools",
    "ToolContext": "tools",
    "ToolDefinition": "tools",
    "ToolDefinitionSource": "tools",
    "ToolFailed": "errors",
    "ToolFunction": "tools",
    "ToolOutboundData": "policy",
    "ToolResult": "tools",
    "ToolSettings": "settings",
    "ToolTexts": "tools",
    "ToolTrace": "chat",
    "TraceStatus": "chat",
    "Usage": "chat",
    "UsageError": "errors",
    "Visibility": "tools",
    "hookimpl": "plugin_host.markers",
    "tool": "tools",
    "user_content": "providers",
}

__all__ = sorted(_HOME)  # noqa: PLE0605 - one list, held by a test


def __getattr__(name: str) -> Any:
    """Load a public name from where it lives."""
    if name not in _HOME:
        raise AttributeError(f"module 'lockgate' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"lockgate.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names."""
    return [*__all__, "__version__"]
