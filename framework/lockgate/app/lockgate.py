"""``Lockgate``: wiring and life time. It owns no rules."""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Self

from lockgate.app.assembly import Assembly, assemble
from lockgate.app.configuration import Configuration, InstanceConfig, ProviderConfig
from lockgate.app.lifetime import ServiceTasks
from lockgate.app.providers import OFFLINE, Provider, with_overrides
from lockgate.app.requests import Question, begin
from lockgate.calling.executor import Executor
from lockgate.calling.job import Job
from lockgate.calling.loop import Loop
from lockgate.calling.run import Observer, Run
from lockgate.chat.store import ChatStore, MemoryChatStore
from lockgate.chat.values import Attachment, ChatThread, Message, Role
from lockgate.errors import UnknownNameError, UsageError
from lockgate.guard import Guard
from lockgate.providers.transport import Transport
from lockgate.registry.explain import Explanation, explain
from lockgate.registry.registry import Registry
from lockgate.tools.definition import Components

_TITLE_CHARACTERS = 60


class Lockgate:
    """Tool calling for language models under an organization's rules.

    Use it as ``async with Lockgate(…) as gate:``. It finds plugins, reads rules, and answers questions. Nothing of a
    chat is kept in it.

    Args:
        configuration: What it is configured with; all defaults when left out. `open_lockgate` reads it from the files.
        plugins: Exactly these plugins instead of the installed ones, as in tests.
        store: Where chats are kept; in memory when left out.
        data_dir: Where plugins keep derived data, such as indexes.
        guard: The prompt-injection filter.
        transport: The HTTP transport.
        loop: What drives rounds: the ID of a contributed one, or the thing itself.
    """

    def __init__(
        self,
        configuration: Configuration | None = None,
        *,
        plugins: Sequence[object] | None = None,
        store: ChatStore | None = None,
        data_dir: Path | None = None,
        guard: Guard | None = None,
        transport: Transport | None = None,
        loop: Loop | str = "tool_calling",
    ) -> None:
        self._configuration = configuration or Configuration()
        self._plugins = plugins
        self._data_dir = data_dir or Path.cwd() / ".lockgate"
        self._guard = guard or Guard()
        self._transport = transport or Transport()
        self._loop = loop
        self._assembly: Assembly | None = None
        self._services = ServiceTasks()
        self._runs: set[Run] = set()
        self._extra: tuple[InstanceConfig, ...] = ()
        self.store: ChatStore = store or MemoryChatStore()

    async def __aenter__(self) -> Self:
        """Find plugins and put everything together."""
        await self._assemble(None)
        await self._services.start(self.assembly.services)
        return self

    async def __aexit__(self, *exception: object) -> None:
        """End what still runs and release everything."""
        await asyncio.gather(*(run.cancel() for run in list(self._runs)), return_exceptions=True)
        await self._services.stop()
        await self._transport.aclose()
        await self.store.close()

    async def _assemble(self, known: Assembly | None) -> None:
        configuration = replace(
            self._configuration, instances=(*self._configuration.instances, *self._extra)
        )
        host = known.host if known is not None and known.host.policy == configuration.host else None
        self._assembly = await assemble(configuration, self._plugins, self._data_dir, self._guard, host)

    @property
    def assembly(self) -> Assembly:
        """Everything in force now, as one value.

        Raises:
            UsageError: The ``Lockgate`` was not entered.
        """
        if self._assembly is None:
            raise UsageError("Enter the Lockgate first: `async with Lockgate(…) as gate:`.")
        return self._assembly

    @property
    def registry(self) -> Registry:
        """The registry in force now."""
        return self.assembly.registry

    async def reconfigure(self, configuration: Configuration) -> None:
        """Put other rules in force. Running chats see them at their next check."""
        self._configuration = configuration
        await self._assemble(self.assembly)

    async def add_instance(self, instance: InstanceConfig) -> None:
        """Add a configured instance for the life of this object, such as a folder named on the command line."""
        self._extra = (*(item for item in self._extra if item.id != instance.id), instance)
        await self._assemble(self.assembly)

    # Providers

    @property
    def default_provider(self) -> str:
        """ID of the provider that is asked when none is named: the configured one, else the built-in reader."""
        return self._configuration.default_provider or OFFLINE

    def provider(self, provider: str | ProviderConfig | None = None, *, model: str = "") -> Provider:
        """Return a provider ready to be asked.

        Args:
            provider: A configured provider's ID, a profile's ID, or a configuration; the default when left out.
            model: Another model than the configured one.

        Raises:
            UnknownNameError: There is no such provider.
            ConfigurationError: It cannot be used as it is configured.
        """
        found = self.assembly.directory
        named = provider if isinstance(provider, ProviderConfig) else found.config(provider or self.default_provider)
        by_name = named is not provider
        return found.provider(with_overrides(named, model=model), self.registry.rules, from_directory=by_name)

    # Asking

    def ask(
        self,
        chat: ChatThread | None,
        text: str,
        *,
        provider: str | ProviderConfig | Provider | None = None,
        model: str = "",
        component: Components = Components.CHAT,
        selected: Iterable[str] | None = None,
        attachments: Sequence[Attachment] = (),
        observers: Sequence[Observer] = (),
    ) -> Run:
        """Ask a question.

        Args:
            chat: The chat so far; a new one when None.
            text: The user's message; not blank.
            provider: Whom to ask; see `provider`.
            model: Another model than the configured one.
            component: Where the question comes from.
            selected: IDs of tools or collections; the chat's own selection, or the defaults, when None.
            attachments: Documents that go with the message.
            observers: Who else is told what happens.

        Returns:
            A run; nothing happens before it is entered.

        Raises:
            UsageError: The message is blank, or the provider cannot be used.
        """
        if not text.strip() and not attachments:
            raise UsageError("The question is empty.")
        ready = provider if isinstance(provider, Provider) else self.provider(provider, model=model)
        chat = chat or ChatThread()
        if not chat.title and not chat.messages:
            chat = replace(chat, title=" ".join(text.split())[:_TITLE_CHARACTERS])
        chosen = chat.selected_tools if selected is None else tuple(selected)
        if selected is not None:
            chat = replace(chat, selected_tools=tuple(sorted(self.registry.normalize_selection(selected))))
        chat = chat.with_message(Message(Role.USER, text, tuple(attachments)))
        question = Question(ready, component, chosen)

        async def begun(run: Run) -> tuple[Job, Executor]:
            self._runs.add(run)
            return await begin(run, question, lambda: self.assembly, self.store, self._transport)

        async def saved(answered: ChatThread) -> None:
            self._runs.discard(run)
            await self.store.save(answered)

        run = Run(chat, begun, self._driver().run, saved, [*self.assembly.observers, *observers])
        return run

    def _driver(self) -> Loop:
        if not isinstance(self._loop, str):
            return self._loop
        loops = self.assembly.loops
        if self._loop not in loops:
            raise UnknownNameError("loop", self._loop, loops)
        return loops[self._loop]

    async def explain(
        self,
        tool_id: str,
        *,
        provider: str | ProviderConfig | Provider | None = None,
        chat: ChatThread | None = None,
        component: Components = Components.CHAT,
        selected: Iterable[str] | None = None,
    ) -> Explanation:
        """Say why a tool is offered or not, check by check, with who set each rule."""
        ready = provider if isinstance(provider, Provider) else self.provider(provider)
        chat = chat or ChatThread()
        assembly = self.assembly
        if selected is None:
            selected = chat.selected_tools
        if selected is None:
            selected = assembly.registry.default_selection(component)
        return await explain(
            assembly.registry, assembly.preparation, tool_id, chat, ready.standing, component, selected
        )
