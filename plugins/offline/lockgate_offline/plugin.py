"""What the offline reader contributes: its adapter and its row in the table of hosts."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from lockgate import hookimpl

if TYPE_CHECKING:
    from lockgate import ProviderAdapter, ProviderProfile


@hookimpl
def lockgate_provider_adapters() -> "Iterable[ProviderAdapter]":
    """Contribute the adapter that runs the reader in this process."""
    from lockgate_offline.adapter import ReaderAdapter

    return [ReaderAdapter()]


@hookimpl
def lockgate_provider_profiles() -> "Iterable[ProviderProfile]":
    """Contribute the profile `offline`: no address, no key, one model."""
    from lockgate_offline.adapter import READER_PROFILE

    return [READER_PROFILE]
