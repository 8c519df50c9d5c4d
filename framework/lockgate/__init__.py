"""Lockgate: tool calling in which the organization, not the model, decides what a chat may read and where it may send.

This module is the public interface: a sorted list of names, each loaded when it is first asked for. What is neither
here nor in `lockgate.testing` is private and may change.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lockgate.app import Lockgate as Lockgate
    from lockgate.calling import Run as Run
    from lockgate.chat import Attachment as Attachment
    from lockgate.chat import ChatThread as ChatThread
    from lockgate.chat import DataSourceOptions as DataSourceOptions
    from lockgate.chat import Message as Message
    from lockgate.chat import Role as Role
    from lockgate.chat import Source as Source
    from lockgate.chat import SourceOrigin as SourceOrigin
    from lockgate.chat import ToolTrace as ToolTrace
    from lockgate.chat import TraceStatus as TraceStatus
    from lockgate.chat import Usage as Usage
    from lockgate.errors import ArgumentRefused as ArgumentRefused
    from lockgate.errors import ConfigurationError as ConfigurationError
    from lockgate.errors import DocumentError as DocumentError
    from lockgate.errors import Failure as Failure
    from lockgate.errors import FailureKind as FailureKind
    from lockgate.errors import LockgateError as LockgateError
    from lockgate.errors import ProviderDenied as ProviderDenied
    from lockgate.errors import ProviderError as ProviderError
    from lockgate.errors import Refusal as Refusal
    from lockgate.errors import ToolBlocked as ToolBlocked
    from lockgate.errors import ToolFailed as ToolFailed
    from lockgate.errors import UsageError as UsageError
    from lockgate.guard import GuardSource as GuardSource
    from lockgate.guard import GuardText as GuardText
    from lockgate.guard import SourceKind as SourceKind
    from lockgate.plugin_host.markers import hookimpl as hookimpl
    from lockgate.policy import ChatRequirements as ChatRequirements
    from lockgate.policy import ConfidenceLevel as ConfidenceLevel
    from lockgate.policy import DataSourceSecurity as DataSourceSecurity
    from lockgate.policy import OutboundDataRestriction as OutboundDataRestriction
    from lockgate.policy import ProviderStanding as ProviderStanding
    from lockgate.policy import SetBy as SetBy
    from lockgate.policy import SetByKind as SetByKind
    from lockgate.policy import ToolOutboundData as ToolOutboundData
    from lockgate.providers import CallResult as CallResult
    from lockgate.providers import Endpoint as Endpoint
    from lockgate.providers import Evidence as Evidence
    from lockgate.providers import Exchange as Exchange
    from lockgate.providers import HttpRequest as HttpRequest
    from lockgate.providers import ModelRequest as ModelRequest
    from lockgate.providers import OfferedFunction as OfferedFunction
    from lockgate.providers import ProviderAdapter as ProviderAdapter
    from lockgate.providers import ProviderProfile as ProviderProfile
    from lockgate.providers import RequestedCall as RequestedCall
    from lockgate.providers import Round as Round
    from lockgate.providers import StopReason as StopReason
    from lockgate.providers import ToolBlock as ToolBlock
    from lockgate.providers import user_content as user_content
    from lockgate.settings import Instance as Instance
    from lockgate.settings import Kind as Kind
    from lockgate.settings import Option as Option
    from lockgate.settings import OptionSource as OptionSource
    from lockgate.settings import Setting as Setting
    from lockgate.settings import ToolSettings as ToolSettings
    from lockgate.tools import Components as Components
    from lockgate.tools import DataTool as DataTool
    from lockgate.tools import Line as Line
    from lockgate.tools import PositiveInt as PositiveInt
    from lockgate.tools import RequestContext as RequestContext
    from lockgate.tools import Tool as Tool
    from lockgate.tools import ToolActivation as ToolActivation
    from lockgate.tools import ToolArguments as ToolArguments
    from lockgate.tools import ToolCollection as ToolCollection
    from lockgate.tools import ToolContext as ToolContext
    from lockgate.tools import ToolDefinition as ToolDefinition
    from lockgate.tools import ToolDefinitionSource as ToolDefinitionSource
    from lockgate.tools import ToolFunction as ToolFunction
    from lockgate.tools import ToolResult as ToolResult
    from lockgate.tools import ToolTexts as ToolTexts
    from lockgate.tools import Visibility as Visibility
    from lockgate.tools import tool as tool

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

__all__ = [
    "ArgumentRefused",
    "Attachment",
    "CallResult",
    "ChatRequirements",
    "ChatThread",
    "Components",
    "ConfidenceLevel",
    "ConfigurationError",
    "DataSourceOptions",
    "DataSourceSecurity",
    "DataTool",
    "DocumentError",
    "Endpoint",
    "Evidence",
    "Exchange",
    "Failure",
    "FailureKind",
    "GuardSource",
    "GuardText",
    "HttpRequest",
    "Instance",
    "Kind",
    "Line",
    "Lockgate",
    "LockgateError",
    "Message",
    "ModelRequest",
    "OfferedFunction",
    "Option",
    "OptionSource",
    "OutboundDataRestriction",
    "PositiveInt",
    "ProviderAdapter",
    "ProviderDenied",
    "ProviderError",
    "ProviderProfile",
    "ProviderStanding",
    "Refusal",
    "RequestContext",
    "RequestedCall",
    "Role",
    "Round",
    "Run",
    "SetBy",
    "SetByKind",
    "Setting",
    "Source",
    "SourceKind",
    "SourceOrigin",
    "StopReason",
    "Tool",
    "ToolActivation",
    "ToolArguments",
    "ToolBlock",
    "ToolBlocked",
    "ToolCollection",
    "ToolContext",
    "ToolDefinition",
    "ToolDefinitionSource",
    "ToolFailed",
    "ToolFunction",
    "ToolOutboundData",
    "ToolResult",
    "ToolSettings",
    "ToolTexts",
    "ToolTrace",
    "TraceStatus",
    "Usage",
    "UsageError",
    "Visibility",
    "hookimpl",
    "tool",
    "user_content",
]


if not TYPE_CHECKING:  # a type checker reads the imports above, and so finds misspelt names

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
