"""What this distribution contributes: one adapter and the profiles of hosts."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from lockgate import hookimpl

if TYPE_CHECKING:
    from lockgate import ProviderAdapter, ProviderProfile


@hookimpl
def lockgate_provider_adapters() -> "Iterable[ProviderAdapter]":
    """The adapter for Chat Completions."""
    from lockgate_openai.chat_completions import ChatCompletionsAdapter

    return [ChatCompletionsAdapter()]


@hookimpl
def lockgate_provider_profiles() -> "Iterable[ProviderProfile]":
    """The hosts this distribution knows."""
    from lockgate_openai.profiles import PROFILES

    return PROFILES
