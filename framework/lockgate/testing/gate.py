"""A ``Lockgate`` for tests: exactly the plugins named, an empty home, no organization, no keyring, no entry points."""

import importlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import gettempdir
from typing import Any

from lockgate.app.configuration import Configuration, InstanceConfig, ProviderConfig
from lockgate.app.lockgate import Lockgate
from lockgate.app.templates import Assistant, ChatTemplate
from lockgate.chat.store import ChatStore
from lockgate.plugin_host.markers import hookimpl
from lockgate.policy import ConfidenceLevel
from lockgate.providers.retry import RetryPolicy
from lockgate.providers.transport import Transport
from lockgate.registry.rules import Rules
from lockgate.testing.fake_provider import FakeProvider
from lockgate.tools.base import Tool
from lockgate.tools.collection import ToolCollection


class PluginOf:
    """A plugin made of values: ``PluginOf(tools=[add])``. Each keyword is a hook without the prefix ``lockgate_``."""

    def __init__(self, name: str = "test-plugin", **contributions: Sequence[Any]) -> None:
        self.__name__ = name
        for hook, values in contributions.items():
            setattr(self, f"lockgate_{hook}", hookimpl(_returning(values)))


def _returning(values: Sequence[Any]) -> Any:
    def contribute() -> Sequence[Any]:
        return values

    return contribute


def lockgate_for(
    fake: FakeProvider | None = None,
    *,
    tools: Iterable[Tool] = (),
    collections: Iterable[ToolCollection] = (),
    plugins: Iterable[object] = (),
    rules: Rules | None = None,
    profile: str = "openai",
    confidence: ConfidenceLevel | None = None,
    self_hosted: bool = False,
    providers: Iterable[ProviderConfig] = (),
    instances: Iterable[InstanceConfig] = (),
    assistants: Iterable[Assistant] = (),
    chat_templates: Iterable[ChatTemplate] = (),
    settings: Mapping[str, object] | None = None,
    secrets: Mapping[str, str] | None = None,
    store: ChatStore | None = None,
    data_dir: Path | None = None,
    **overrides: Any,
) -> Lockgate:
    """Make a ``Lockgate`` whose default provider is a fake one.

    Args:
        fake: The fake provider; its configured ID is ``fake``.
        tools: Tools, as if one plugin brought them.
        collections: Collections of the same plugin.
        plugins: Further plugins, modules or objects with hook implementations.
        rules: The rules in force.
        profile: The profile the fake provider is spoken to with; needs the distribution ``lockgate-openai``.
        confidence: The level of the fake provider; the scheme decides when None.
        self_hosted: Whether it counts as self-hosted.
        providers: Further configured providers.
        instances: Configured instances of other families.
        assistants: Configured assistants.
        chat_templates: Configured chat templates.
        settings: Stored settings of tools, ``tool.setting`` → value. A secret among them is not read, and is a problem.
        secrets: Secrets of tools, ``tool.setting`` → value.
        store: Where chats are kept; in memory when left out.
        data_dir: Where plugins keep derived data.
        overrides: Anything else `Lockgate` takes.
    """
    configured, loaded = {config.id: config for config in providers}, list(plugins)
    if fake is not None:
        configured["fake"] = ProviderConfig(
            "fake", profile, base_url=fake.base_url, model="test-model", api_key="test-key", confidence=confidence,
            self_hosted=self_hosted,
        )  # fmt: skip
        loaded.append(importlib.import_module("lockgate_openai.plugin"))
    loaded.append(PluginOf(tools=list(tools), collections=list(collections)))
    configuration = Configuration(
        rules=_with_settings(rules or Rules(), settings or {}, secrets or {}),
        providers=configured,
        instances=tuple(instances),
        default_provider="fake" if fake is not None else "",
        chat_templates={template.id: template for template in chat_templates},
        assistants={assistant.id: assistant for assistant in assistants},
    )
    overrides.setdefault("transport", Transport(retry=RetryPolicy(retries=0)))
    place = data_dir or Path(gettempdir(), "lockgate-test-data")
    return Lockgate(configuration, plugins=loaded, store=store, data_dir=place, **overrides)


def _with_settings(rules: Rules, settings: Mapping[str, object], secrets: Mapping[str, str]) -> Rules:
    """Return the rules with stored settings and secrets, which win over those that are in the rules already."""
    layers = rules.layers
    return replace(rules, layers=replace(
        layers, user={**layers.user, **settings}, secrets={**layers.secrets, **secrets}
    ))  # fmt: skip
