"""The application: ``Lockgate``, its configuration, its providers."""

from lockgate.app.blocking import BlockingLockgate
from lockgate.app.configuration import Configuration, InstanceConfig, ProviderConfig
from lockgate.app.lockgate import Lockgate
from lockgate.app.providers import Provider

__all__ = ["BlockingLockgate", "Configuration", "InstanceConfig", "Lockgate", "Provider", "ProviderConfig"]
