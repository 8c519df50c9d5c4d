"""The application: ``Lockgate``, its configuration, its providers, chat templates and assistants."""

from lockgate.app.blocking import BlockingLockgate
from lockgate.app.configuration import Configuration, InstanceConfig, ProviderConfig
from lockgate.app.lockgate import Lockgate
from lockgate.app.providers import Provider
from lockgate.app.templates import Assistant, ChatTemplate

__all__ = [
    "Assistant",
    "BlockingLockgate",
    "ChatTemplate",
    "Configuration",
    "InstanceConfig",
    "Lockgate",
    "Provider",
    "ProviderConfig",
]
