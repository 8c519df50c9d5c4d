"""Lockgate: tool calling in which the organization, not the model, decides what a chat may read and where it may send.

This module is the public interface: a sorted list of names, each loaded when it is first asked for. Beside it stand
`lockgate.documents` and `lockgate.retrieval` for authors of data sources and stores, and `lockgate.testing`. All else
is private and may change.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lockgate.app import Assistant as Assistant
    from lockgate.app import BlockingLockgate as BlockingLockgate
    from lockgate.app import ChatTemplate as ChatTemplate
    from lockgate.app import Configuration as Configuration
    from lockgate.app import InstanceConfig as InstanceConfig
    from lockgate.app import Lockgate as Lockgate
    from lockgate.app import Provider as Provider
    from lockgate.app import ProviderConfig as ProviderConfig
    from lockgate.app.home import open_lockgate as open_lockgate
    from lockgate.calling import ContentFiltered as ContentFiltered
    from lockgate.calling import Event as Event
    from lockgate.calling import Job as Job
    from lockgate.calling import LimitReached as LimitReached
    from lockgate.calling import Loop as Loop
    from lockgate.calling import Observer as Observer
    from lockgate.calling import PromptPrefixChanged as PromptPrefixChanged
    from lockgate.calling import RequestPrepared as RequestPrepared
    from lockgate.calling import RequirementsRaised as RequirementsRaised
    from lockgate.calling import RoundEnded as RoundEnded
    from lockgate.calling import Run as Run
    from lockgate.calling import RunEnded as RunEnded
    from lockgate.calling import Stopped as Stopped
    from lockgate.calling import TextDelta as TextDelta
    from lockgate.calling import ToolFinished as ToolFinished
    from lockgate.calling import ToolProgress as ToolProgress
    from lockgate.calling import ToolStarted as ToolStarted
    from lockgate.chat import Attachment as Attachment
    from lockgate.chat import ChatStore as ChatStore
    from lockgate.chat import ChatThread as ChatThread
    from lockgate.chat import DataSourceOptions as DataSourceOptions
    from lockgate.chat import MemoryChatStore as MemoryChatStore
    from lockgate.chat import Message as Message
    from lockgate.chat import Moved as Moved
    from lockgate.chat import PrefixChange as PrefixChange
    from lockgate.chat import PromptPrefix as PromptPrefix
    from lockgate.chat import RetrievalMode as RetrievalMode
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
    from lockgate.errors import StorageError as StorageError
    from lockgate.errors import ToolBlocked as ToolBlocked
    from lockgate.errors import ToolFailed as ToolFailed
    from lockgate.errors import UnknownNameError as UnknownNameError
    from lockgate.errors import UsageError as UsageError
    from lockgate.guard import Guard as Guard
    from lockgate.guard import GuardScope as GuardScope
    from lockgate.guard import GuardSource as GuardSource
    from lockgate.guard import GuardText as GuardText
    from lockgate.guard import SourceKind as SourceKind
    from lockgate.plugin_host.markers import hookimpl as hookimpl
    from lockgate.plugin_host.markers import hookspec as hookspec
    from lockgate.policy import NOTHING as NOTHING
    from lockgate.policy import ChatRequirements as ChatRequirements
    from lockgate.policy import ConfidenceLevel as ConfidenceLevel
    from lockgate.policy import ConfidenceScheme as ConfidenceScheme
    from lockgate.policy import DataSourceSecurity as DataSourceSecurity
    from lockgate.policy import OutboundDataRestriction as OutboundDataRestriction
    from lockgate.policy import OutboundMinimum as OutboundMinimum
    from lockgate.policy import ProviderStanding as ProviderStanding
    from lockgate.policy import SetBy as SetBy
    from lockgate.policy import SetByKind as SetByKind
    from lockgate.policy import ToolOutboundData as ToolOutboundData
    from lockgate.providers import CallResult as CallResult
    from lockgate.providers import Endpoint as Endpoint
    from lockgate.providers import Evidence as Evidence
    from lockgate.providers import Exchange as Exchange
    from lockgate.providers import HttpAnswer as HttpAnswer
    from lockgate.providers import HttpRequest as HttpRequest
    from lockgate.providers import ModelRequest as ModelRequest
    from lockgate.providers import OfferedFunction as OfferedFunction
    from lockgate.providers import OnText as OnText
    from lockgate.providers import ProviderAdapter as ProviderAdapter
    from lockgate.providers import ProviderProfile as ProviderProfile
    from lockgate.providers import RequestedCall as RequestedCall
    from lockgate.providers import Round as Round
    from lockgate.providers import StopReason as StopReason
    from lockgate.providers import ToolBlock as ToolBlock
    from lockgate.providers import Transport as Transport
    from lockgate.providers import user_content as user_content
    from lockgate.providers.failures import ServerError as ServerError
    from lockgate.providers.failures import read_error as read_error
    from lockgate.providers.failures import read_error_body as read_error_body
    from lockgate.providers.sse import SseReader as SseReader
    from lockgate.registry import Beyond as Beyond
    from lockgate.registry import BeyondKind as BeyondKind
    from lockgate.registry import Block as Block
    from lockgate.registry import Cap as Cap
    from lockgate.registry import Ceilings as Ceilings
    from lockgate.registry import Change as Change
    from lockgate.registry import ChangeKind as ChangeKind
    from lockgate.registry import Explanation as Explanation
    from lockgate.registry import Minimum as Minimum
    from lockgate.registry import Owner as Owner
    from lockgate.registry import Preview as Preview
    from lockgate.registry import PreviewSwitch as PreviewSwitch
    from lockgate.registry import Rules as Rules
    from lockgate.registry import Selection as Selection
    from lockgate.registry import SelectionOrigin as SelectionOrigin
    from lockgate.registry import ToolOfferBlockReason as ToolOfferBlockReason
    from lockgate.registry import Verdict as Verdict
    from lockgate.settings import Instance as Instance
    from lockgate.settings import Kind as Kind
    from lockgate.settings import Layers as Layers
    from lockgate.settings import Option as Option
    from lockgate.settings import OptionSource as OptionSource
    from lockgate.settings import Setting as Setting
    from lockgate.settings import ToolSettings as ToolSettings
    from lockgate.tools import Components as Components
    from lockgate.tools import DataTool as DataTool
    from lockgate.tools import Line as Line
    from lockgate.tools import PositiveInt as PositiveInt
    from lockgate.tools import RequestContext as RequestContext
    from lockgate.tools import SchemaRefused as SchemaRefused
    from lockgate.tools import Tool as Tool
    from lockgate.tools import ToolActivation as ToolActivation
    from lockgate.tools import ToolArguments as ToolArguments
    from lockgate.tools import ToolCollection as ToolCollection
    from lockgate.tools import ToolContext as ToolContext
    from lockgate.tools import ToolDefinition as ToolDefinition
    from lockgate.tools import ToolDefinitionSource as ToolDefinitionSource
    from lockgate.tools import ToolFunction as ToolFunction
    from lockgate.tools import ToolResult as ToolResult
    from lockgate.tools import ToolServices as ToolServices
    from lockgate.tools import ToolTexts as ToolTexts
    from lockgate.tools import Visibility as Visibility
    from lockgate.tools import definition_from_data as definition_from_data
    from lockgate.tools import parameters_of as parameters_of
    from lockgate.tools import settings_from_data as settings_from_data
    from lockgate.tools import to_compact_json as to_compact_json
    from lockgate.tools import tool as tool
    from lockgate.tools.definition import FUNCTION_NAME as FUNCTION_NAME

__version__ = "0.1.0"

_HOME = {
    "ArgumentRefused": "errors",
    "Assistant": "app",
    "Attachment": "chat",
    "Beyond": "registry",
    "BeyondKind": "registry",
    "Block": "registry",
    "BlockingLockgate": "app",
    "CallResult": "providers",
    "Cap": "registry",
    "Ceilings": "registry",
    "Change": "registry",
    "ChangeKind": "registry",
    "ChatRequirements": "policy",
    "ChatStore": "chat",
    "ChatTemplate": "app",
    "ChatThread": "chat",
    "Components": "tools",
    "ConfidenceLevel": "policy",
    "ConfidenceScheme": "policy",
    "Configuration": "app",
    "ConfigurationError": "errors",
    "ContentFiltered": "calling",
    "DataSourceOptions": "chat",
    "DataSourceSecurity": "policy",
    "DataTool": "tools",
    "DocumentError": "errors",
    "Endpoint": "providers",
    "Event": "calling",
    "Evidence": "providers",
    "Exchange": "providers",
    "Explanation": "registry",
    "FUNCTION_NAME": "tools.definition",
    "Failure": "errors",
    "FailureKind": "errors",
    "Guard": "guard",
    "GuardScope": "guard",
    "GuardSource": "guard",
    "GuardText": "guard",
    "HttpAnswer": "providers",
    "HttpRequest": "providers",
    "Instance": "settings",
    "InstanceConfig": "app",
    "Job": "calling",
    "Kind": "settings",
    "Layers": "settings",
    "LimitReached": "calling",
    "Line": "tools",
    "Lockgate": "app",
    "LockgateError": "errors",
    "Loop": "calling",
    "MemoryChatStore": "chat",
    "Message": "chat",
    "Minimum": "registry",
    "ModelRequest": "providers",
    "Moved": "chat",
    "NOTHING": "policy",
    "Observer": "calling",
    "OfferedFunction": "providers",
    "OnText": "providers",
    "Option": "settings",
    "OptionSource": "settings",
    "OutboundDataRestriction": "policy",
    "OutboundMinimum": "policy",
    "Owner": "registry",
    "PositiveInt": "tools",
    "PrefixChange": "chat",
    "Preview": "registry",
    "PreviewSwitch": "registry",
    "PromptPrefix": "chat",
    "PromptPrefixChanged": "calling",
    "Provider": "app",
    "ProviderAdapter": "providers",
    "ProviderConfig": "app",
    "ProviderDenied": "errors",
    "ProviderError": "errors",
    "ProviderProfile": "providers",
    "ProviderStanding": "policy",
    "Refusal": "errors",
    "RequestContext": "tools",
    "RequestPrepared": "calling",
    "RequestedCall": "providers",
    "RequirementsRaised": "calling",
    "RetrievalMode": "chat",
    "Role": "chat",
    "Round": "providers",
    "RoundEnded": "calling",
    "Rules": "registry",
    "Run": "calling",
    "RunEnded": "calling",
    "SchemaRefused": "tools",
    "Selection": "registry",
    "SelectionOrigin": "registry",
    "ServerError": "providers.failures",
    "SetBy": "policy",
    "SetByKind": "policy",
    "Setting": "settings",
    "Source": "chat",
    "SourceKind": "guard",
    "SourceOrigin": "chat",
    "SseReader": "providers.sse",
    "StopReason": "providers",
    "Stopped": "calling",
    "StorageError": "errors",
    "TextDelta": "calling",
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
    "ToolFinished": "calling",
    "ToolFunction": "tools",
    "ToolOfferBlockReason": "registry",
    "ToolOutboundData": "policy",
    "ToolProgress": "calling",
    "ToolResult": "tools",
    "ToolServices": "tools",
    "ToolSettings": "settings",
    "ToolStarted": "calling",
    "ToolTexts": "tools",
    "ToolTrace": "chat",
    "TraceStatus": "chat",
    "Transport": "providers",
    "UnknownNameError": "errors",
    "Usage": "chat",
    "UsageError": "errors",
    "Verdict": "registry",
    "Visibility": "tools",
    "definition_from_data": "tools",
    "hookimpl": "plugin_host.markers",
    "hookspec": "plugin_host.markers",
    "open_lockgate": "app.home",
    "parameters_of": "tools",
    "read_error": "providers.failures",
    "read_error_body": "providers.failures",
    "settings_from_data": "tools",
    "to_compact_json": "tools",
    "tool": "tools",
    "user_content": "providers",
}

__all__ = [
    "FUNCTION_NAME",
    "NOTHING",
    "ArgumentRefused",
    "Assistant",
    "Attachment",
    "Beyond",
    "BeyondKind",
    "Block",
    "BlockingLockgate",
    "CallResult",
    "Cap",
    "Ceilings",
    "Change",
    "ChangeKind",
    "ChatRequirements",
    "ChatStore",
    "ChatTemplate",
    "ChatThread",
    "Components",
    "ConfidenceLevel",
    "ConfidenceScheme",
    "Configuration",
    "ConfigurationError",
    "ContentFiltered",
    "DataSourceOptions",
    "DataSourceSecurity",
    "DataTool",
    "DocumentError",
    "Endpoint",
    "Event",
    "Evidence",
    "Exchange",
    "Explanation",
    "Failure",
    "FailureKind",
    "Guard",
    "GuardScope",
    "GuardSource",
    "GuardText",
    "HttpAnswer",
    "HttpRequest",
    "Instance",
    "InstanceConfig",
    "Job",
    "Kind",
    "Layers",
    "LimitReached",
    "Line",
    "Lockgate",
    "LockgateError",
    "Loop",
    "MemoryChatStore",
    "Message",
    "Minimum",
    "ModelRequest",
    "Moved",
    "Observer",
    "OfferedFunction",
    "OnText",
    "Option",
    "OptionSource",
    "OutboundDataRestriction",
    "OutboundMinimum",
    "Owner",
    "PositiveInt",
    "PrefixChange",
    "Preview",
    "PreviewSwitch",
    "PromptPrefix",
    "PromptPrefixChanged",
    "Provider",
    "ProviderAdapter",
    "ProviderConfig",
    "ProviderDenied",
    "ProviderError",
    "ProviderProfile",
    "ProviderStanding",
    "Refusal",
    "RequestContext",
    "RequestPrepared",
    "RequestedCall",
    "RequirementsRaised",
    "RetrievalMode",
    "Role",
    "Round",
    "RoundEnded",
    "Rules",
    "Run",
    "RunEnded",
    "SchemaRefused",
    "Selection",
    "SelectionOrigin",
    "ServerError",
    "SetBy",
    "SetByKind",
    "Setting",
    "Source",
    "SourceKind",
    "SourceOrigin",
    "SseReader",
    "StopReason",
    "Stopped",
    "StorageError",
    "TextDelta",
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
    "ToolFinished",
    "ToolFunction",
    "ToolOfferBlockReason",
    "ToolOutboundData",
    "ToolProgress",
    "ToolResult",
    "ToolServices",
    "ToolSettings",
    "ToolStarted",
    "ToolTexts",
    "ToolTrace",
    "TraceStatus",
    "Transport",
    "UnknownNameError",
    "Usage",
    "UsageError",
    "Verdict",
    "Visibility",
    "definition_from_data",
    "hookimpl",
    "hookspec",
    "open_lockgate",
    "parameters_of",
    "read_error",
    "read_error_body",
    "settings_from_data",
    "to_compact_json",
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
