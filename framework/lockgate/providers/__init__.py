"""Providers: what an adapter implements, profiles of hosts, the one HTTP transport."""

from lockgate.providers.contract import (
    CallResult,
    Exchange,
    ModelRequest,
    OfferedFunction,
    OnText,
    ProviderAdapter,
    RequestedCall,
    Round,
    StopReason,
    ToolBlock,
    user_content,
)
from lockgate.providers.endpoint import Endpoint
from lockgate.providers.profile import Evidence, ProviderProfile
from lockgate.providers.transport import HttpAnswer, HttpRequest, Timeouts, Transport

__all__ = [
    "CallResult",
    "Endpoint",
    "Evidence",
    "Exchange",
    "HttpAnswer",
    "HttpRequest",
    "ModelRequest",
    "OfferedFunction",
    "OnText",
    "ProviderAdapter",
    "ProviderProfile",
    "RequestedCall",
    "Round",
    "StopReason",
    "Timeouts",
    "ToolBlock",
    "Transport",
    "user_content",
]
