"""Chat templates and assistants: system prompts that come with tools."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from lockgate.chat.values import ChatThread
from lockgate.errors import UsageError
from lockgate.policy import BY_USER, SetBy
from lockgate.registry.registry import Registry
from lockgate.registry.selection import Selection, SelectionOrigin, is_selection_visible
from lockgate.settings.typed import Fields
from lockgate.tools.definition import Components


@dataclass(frozen=True, slots=True)
class ChatTemplate:
    """What a new chat can begin with.

    Attributes:
        id: Unique among templates.
        name: What people call it.
        system_prompt: The chat's system prompt.
        tool_ids: The selection of the chat, IDs of tools or collections; None leaves it to the defaults.
        set_by: Who configured it.
    """

    id: str
    name: str = ""
    system_prompt: str = ""
    tool_ids: tuple[str, ...] | None = None
    set_by: SetBy = BY_USER

    def __post_init__(self) -> None:
        check = Fields(self)
        check.ids("id")
        check.texts("name", "system_prompt")
        check.tuple_of_texts("tool_ids", optional=True)
        check.set_by("set_by")


@dataclass(frozen=True, slots=True)
class Assistant:
    """A named prompt for one kind of work, with rules of its own about tools.

    Attributes:
        id: Unique among assistants.
        name: What people call it.
        system_prompt: What it is told.
        component: The component it counts as; decides which tools may appear.
        tool_ids: The tools its rules name, and none at all when empty, not even one that offers itself; None when it
            has no such rule, so that the user's selection counts.
        provider: The provider it asks; the default one when empty.
        description: What it is for, in a sentence.
        set_by: Who configured it.
    """

    id: str
    name: str = ""
    system_prompt: str = ""
    component: Components = Components.META_ASSISTANT
    tool_ids: tuple[str, ...] | None = None
    provider: str = ""
    description: str = ""
    set_by: SetBy = BY_USER

    def __post_init__(self) -> None:
        check = Fields(self)
        check.ids("id")
        check.texts("name", "system_prompt", "provider", "description")
        check.member("component", Components)
        check.tuple_of_texts("tool_ids", optional=True)
        check.set_by("set_by")


def chat_from_template(template: ChatTemplate, registry: Registry) -> ChatThread:
    """Return a new chat that begins with a template; its selection is stored normalized."""
    return ChatThread(
        system_prompt=template.system_prompt, selected_tools=normalized(registry, template.tool_ids), include_date=True
    )


def chat_of_assistant(chat: ChatThread | None, assistant: Assistant) -> ChatThread:
    """Return a chat that is under an assistant's rules: a new one, or the one it was asked in.

    Raises:
        UsageError: The chat goes on under other rules already.
    """
    if chat is None:
        return ChatThread(system_prompt=assistant.system_prompt, assistant=assistant.id, include_date=True)
    if chat.assistant == assistant.id:
        return chat
    if chat.assistant or chat.messages:
        under = f"the assistant {chat.assistant!r}" if chat.assistant else "no assistant"
        raise UsageError(
            f"This chat was begun with {under}; it cannot go on with {assistant.id!r}. Begin a new chat for it."
        )
    if chat.system_prompt not in ("", assistant.system_prompt):
        raise UsageError(f"This chat has a system prompt of its own; it cannot take that of {assistant.id!r} as well.")
    return replace(chat, system_prompt=assistant.system_prompt, assistant=assistant.id)


def normalized(registry: Registry, identifiers: Iterable[str] | None) -> tuple[str, ...] | None:
    """Return a selection as it is stored: collections, in order; None stays None, since nobody chose."""
    return None if identifiers is None else tuple(sorted(registry.normalize_selection(identifiers)))


def selection_for(
    chat: ChatThread,
    component: Components,
    registry: Registry,
    assistants: Mapping[str, Assistant],
    asked: tuple[str, ...] | None = None,
) -> Selection:
    """Return what is selected for a request, and who chose it.

    An assistant's own rules come first, then what whoever asks names, then what the chat chose, then the defaults. A
    chat of an assistant that is no longer configured selects nothing. Where the component shows no selection, none
    but an assistant's rules counts, whoever names it.
    """
    if chat.assistant:
        assistant = assistants.get(chat.assistant)
        if assistant is None:
            return Selection((), SelectionOrigin.GONE, name=chat.assistant, hidden=True)
        if assistant.tool_ids is not None:
            named, by = assistant.tool_ids, assistant.set_by
            return Selection(named, SelectionOrigin.ASSISTANT, by, assistant.id, hidden=not named)
    if asked is not None:
        hidden = not is_selection_visible(registry.rules, component)
        return Selection(asked, SelectionOrigin.CALLER, BY_USER, component.value, hidden)
    return registry.selection_of(chat, component)
