"""``Lockgate``: wiring and life time. It owns no rules."""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Self

from lockgate.app.arguments import check_count, check_text, check_whom, checked_attachments, checked_observers
from lockgate.app.assembly import Assembly, assemble
from lockgate.app.configuration import Configuration, InstanceConfig, ProviderConfig
from lockgate.app.lifetime import ServiceTasks
from lockgate.app.providers import OFFLINE, Provider, with_overrides
from lockgate.app.requests import Question, begin
from lockgate.app.templates import Assistant, chat_from_template, chat_of_assistant, normalized, selection_for
from lockgate.calling.executor import Executor
from lockgate.calling.job import Job
from lockgate.calling.loop import Loop
from lockgate.calling.run import Observer, Run
from lockgate.chat.addresses import keys_in
from lockgate.chat.store import ChatStore, MemoryChatStore
from lockgate.chat.transfer import chat_from_json, chat_to_json
from lockgate.chat.values import Attachment, ChatThread, Message, Role
from lockgate.errors import UnknownNameError, UsageError
from lockgate.guard import Guard, GuardSource, GuardText, SourceKind
from lockgate.policy import NOTHING
from lockgate.providers.transport import Transport
from lockgate.registry.explain import Explanation, explain
from lockgate.registry.registry import Registry
from lockgate.registry.selection import Selection
from lockgate.settings.typed import checked_texts
from lockgate.tools.definition import Components

_TITLE_CHARACTERS = 60
_CHATS_NAMED = 5


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
        self._changing = asyncio.Lock()
        self._is_left = False
        self.store: ChatStore = store or MemoryChatStore()

    async def __aenter__(self) -> Self:
        """Find plugins and put everything together."""
        self._is_left = False
        await self._change(self._configuration)
        await self._services.start(self.assembly.services)
        return self

    async def __aexit__(self, *exception: object) -> None:
        """End what still runs and release everything; nothing can be asked any more."""
        self._is_left = True
        await asyncio.gather(*(run.cancel() for run in list(self._runs)), return_exceptions=True)
        await self._services.stop()
        await self._transport.aclose()
        await self.store.close()

    async def _change(self, configuration: Configuration | None = None, instance: InstanceConfig | None = None) -> None:
        """Put other rules in force, or one more instance: as a whole once all is put together, or not at all.

        One change after the other, so that what was asked for last is what stays.
        """
        async with self._changing:
            wanted, extra = configuration or self._configuration, self._extra
            if instance is not None:
                extra = (*(item for item in extra if item.id != instance.id), instance)
            whole = replace(wanted, instances=(*wanted.instances, *extra))
            made = await assemble(whole, self._plugins, self._data_dir, self._guard, self._assembly)
            self._configuration, self._extra, self._assembly = wanted, extra, made

    def _check_entered(self) -> None:
        if self._is_left:
            raise UsageError("This Lockgate was left: nothing can be asked in it any more.")

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
        await self._change(configuration)

    async def add_instance(self, instance: InstanceConfig) -> None:
        """Add a configured instance for the life of this object, such as a folder named on the command line."""
        await self._change(instance=instance)

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
        by_name = not isinstance(provider, ProviderConfig)
        return self.assembly.directory.provider(
            self._named(provider, model), self.registry.rules, from_directory=by_name
        )

    def _named(self, provider: str | ProviderConfig | None, model: str = "") -> ProviderConfig:
        """Return how a provider is configured, with another model where one is named."""
        if not isinstance(provider, ProviderConfig):
            provider = self.assembly.directory.config(provider or self.default_provider)
        return with_overrides(provider, model=model)

    # Chats

    def new_chat(self, template: str | None = None) -> ChatThread:
        """Return a new chat that tells the model the day.

        Args:
            template: ID of a chat template to begin with; an empty chat when None.

        Raises:
            UnknownNameError: There is no such template.
        """
        if template is None:
            return ChatThread(include_date=True)
        check_text(template, "The chat template", "the ID (str) of a configured one, or None")
        known = self._configuration.chat_templates
        if template not in known:
            raise UnknownNameError("chat template", template, known)
        return chat_from_template(known[template], self.registry)

    async def _kept(self, chat_id: str) -> ChatThread:
        check_text(chat_id, "The ID of the chat")
        chat = await self.store.load(chat_id)
        if chat is None:
            raise UnknownNameError("chat", chat_id, [row.id for row in await self.store.list_chats(_CHATS_NAMED)])
        return chat

    async def fork(self, chat_id: str, messages: int | None = None) -> ChatThread:
        """Keep a new chat that goes on from a kept one, with everything that one demands.

        Args:
            chat_id: The chat.
            messages: How many messages are kept, from the first; all when None.

        Raises:
            UnknownNameError: There is no such chat.
            UsageError: It has fewer messages.
        """
        check_count(messages, "The number of messages")
        chat = await self._kept(chat_id)
        try:
            forked = chat.forked(messages)
        except ValueError as error:
            raise UsageError(str(error)) from None
        await self.store.save(forked)
        return forked

    async def export_chat(self, chat_id: str) -> str:
        """Return a kept chat as JSON text; see `import_chat`.

        Raises:
            UnknownNameError: There is no such chat.
        """
        return chat_to_json(await self._kept(chat_id))

    async def import_chat(self, text: str) -> ChatThread:
        """Keep a chat out of what `export_chat` wrote, under a new ID. What it demands is kept.

        Raises:
            UsageError: The text is no exported chat; the message says where.
        """
        check_text(text, "The exported chat", "the text (str) that export_chat returned")
        chat = chat_from_json(text)
        chat = replace(chat, messages=tuple([await self._guarded(message) for message in chat.messages]))
        await self.store.save(chat)
        return chat

    async def _guarded(self, message: Message) -> Message:
        """Pass the documents of an imported message through the guard, as those of a file are when it is attached."""
        if not message.attachments:
            return message
        texts = [
            GuardText(part, GuardSource(SourceKind.CHAT_ATTACHMENT, item.name))
            for item in message.attachments for part in (item.name, item.text)
        ]
        clean = await self._guard.scope().clean(texts)
        pairs = zip(message.attachments, clean[::2], clean[1::2], strict=True)
        return replace(message, attachments=tuple(
            replace(item, name=name, text=text, addresses=keys_in(text)) for item, name, text in pairs
        ))  # fmt: skip

    # Asking

    def assistant(self, assistant_id: str) -> Assistant:
        """Return a configured assistant.

        Raises:
            UnknownNameError: There is no such assistant.
        """
        check_text(assistant_id, "The assistant", "the ID (str) of a configured one")
        known = self._configuration.assistants
        if assistant_id not in known:
            raise UnknownNameError("assistant", assistant_id, known)
        return known[assistant_id]

    def ask(
        self,
        chat: ChatThread | None,
        text: str,
        *,
        provider: str | ProviderConfig | Provider | None = None,
        model: str = "",
        component: Components | None = None,
        selected: Iterable[str] | None = None,
        assistant: str | None = None,
        attachments: Sequence[Attachment] = (),
        observers: Sequence[Observer] = (),
    ) -> Run:
        """Ask a question.

        Args:
            chat: The chat so far; a new and empty one when None, which unlike that of `new_chat` tells no day.
            text: The user's message; not blank.
            provider: Whom to ask; that of the assistant, or the default, when left out. See `provider`.
            model: Another model than the configured one.
            component: Where the question comes from; that of the assistant, or CHAT, when left out.
            selected: IDs of tools or collections, empty for none; the chat's own selection, or the defaults, when None.
                It is kept with the chat.
            assistant: ID of the assistant whose prompt and rules hold. A chat that was begun with one stays with it.
            attachments: Documents that go with the message.
            observers: Who else is told what happens.

        Returns:
            A run; nothing happens before it is entered.

        Raises:
            UsageError: The message is blank, something has the wrong type, the provider cannot be used, or the rules of
                an assistant do not let the chat or the selection be.
            UnknownNameError: There is no such assistant.
        """
        self._check_entered()
        check_whom(chat, provider, model)
        check_text(text, "The question")
        attachments, observers = checked_attachments(attachments), checked_observers(observers)
        if not text.strip() and not attachments:
            raise UsageError("The question is empty.")
        chat = chat_of_assistant(chat, self.assistant(assistant)) if assistant is not None else chat or ChatThread()
        asked = _identifiers(selected)
        provider = self._by_assistant(chat, provider, asked)
        ready = provider if isinstance(provider, Provider) else self.provider(provider, model=model)
        chat = _asked_in(chat, Message(Role.USER, text, attachments), self.registry, asked)
        place = self.component_of(chat, component)
        question = Question(ready, place, lambda now: self.selection(now, place, asked))

        async def begun(run: Run) -> tuple[Job, Executor]:
            self._check_entered()
            self._runs.add(run)
            return await begin(run, question, lambda: self.assembly, self.store, self._transport)

        async def saved(answered: ChatThread) -> None:
            self._runs.discard(run)
            await self.store.save_answer(answered)

        run = Run(chat, begun, self._driver().run, saved, [*self.assembly.observers, *observers])
        return run

    def _by_assistant(
        self, chat: ChatThread, provider: str | ProviderConfig | Provider | None, asked: tuple[str, ...] | None
    ) -> str | ProviderConfig | Provider | None:
        """Return whom to ask in a chat, by its assistant's rules where nobody is named."""
        rules = self._configuration.assistants.get(chat.assistant)
        if rules is None:
            if chat.assistant and asked:
                raise UsageError(
                    f"This chat was begun with the assistant {chat.assistant!r}, which is no longer configured; "
                    "no tools can be selected in it. Begin a new chat."
                )
            return provider
        if rules.tool_ids is not None and asked is not None:
            raise UsageError(f"The rules of the assistant {rules.id!r} name its tools; none can be selected beside.")
        return provider if provider is not None else rules.provider or None

    def component_of(self, chat: ChatThread, component: Components | None = None) -> Components:
        """Return where a question comes from: what was said, else the assistant's component, else CHAT."""
        if component is not None:
            if not isinstance(component, Components):
                raise UsageError(f"The component is {component!r}; right is a member of Components.")
            return component
        if not chat.assistant:
            return Components.CHAT
        rules = self._configuration.assistants.get(chat.assistant)
        return Components.META_ASSISTANT if rules is None else rules.component

    def selection(
        self, chat: ChatThread, component: Components = Components.CHAT, asked: tuple[str, ...] | None = None
    ) -> Selection:
        """Return what is selected for a request of a chat, and who chose it.

        Args:
            chat: The chat.
            component: Where the question comes from.
            asked: What whoever asks names; None for nothing.
        """
        return selection_for(chat, component, self.registry, self._configuration.assistants, asked)

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
        model: str = "",
        chat: ChatThread | None = None,
        component: Components | None = None,
        selected: Iterable[str] | None = None,
    ) -> Explanation:
        """Say why a tool is offered or not, check by check, with who set each rule: what a request now would do.

        Args:
            tool_id: The tool; one that nobody registered is explained, too.
            provider: Whom to ask; that of the chat's assistant, or the default, when left out.
            model: Another model than the configured one.
            chat: The chat; a new one when left out. What is demanded of it where it is kept counts as well.
            component: Where the question comes from; that of the chat's assistant, or CHAT, when left out.
            selected: As if this were selected; what the chat selects when None.

        Raises:
            UsageError: As `ask` raises it.
        """
        check_text(tool_id, "The tool", "its ID (str)")
        check_whom(chat, provider, model)
        chat = chat or ChatThread()
        asked = _identifiers(selected)
        provider = self._by_assistant(chat, provider, asked)
        chat = chat.require(await self.store.raise_requirements(chat.id, NOTHING))
        now, place = self.assembly, self.component_of(chat, component)
        rules = now.registry.rules
        if isinstance(provider, Provider):
            standing = now.directory.standing_now(provider, rules)
        else:
            standing = now.directory.standing(self._named(provider, model), rules)
        others = [other for other in now.directory.standings(rules) if other.id != standing.id]
        return await explain(
            now.registry, now.preparation, tool_id, chat, standing, place, self.selection(chat, place, asked), others
        )


def _identifiers(selected: Iterable[str] | None) -> tuple[str, ...] | None:
    """Return the IDs that somebody selects; a text alone would be taken apart into its letters."""
    if selected is None:
        return None
    return checked_texts(selected, "The selection")


def _asked_in(chat: ChatThread, message: Message, registry: Registry, asked: tuple[str, ...] | None) -> ChatThread:
    """Return the chat with the question in it, titled, and with its selection as it is kept."""
    if not chat.title and not chat.messages:
        chat = replace(chat, title=" ".join(message.text.split())[:_TITLE_CHARACTERS])
    kept = normalized(registry, chat.selected_tools if asked is None else asked)
    return replace(chat, selected_tools=kept).with_message(message)
