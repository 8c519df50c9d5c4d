"""Checks of what callers hand to a ``Lockgate``, so that a mix-up is named and ends in no raw error."""

from collections.abc import Iterable
from typing import Any

from lockgate.app.configuration import ProviderConfig
from lockgate.app.providers import Provider
from lockgate.calling.run import Observer
from lockgate.chat.values import Attachment, ChatThread
from lockgate.errors import UsageError
from lockgate.settings.typed import is_a, shown


def check_text(value: object, what: str, right: str = "a text (str)") -> None:
    """Refuse what is no text, such as a chat where its ID belongs.

    Raises:
        UsageError: It is none.
    """
    if not is_a(value, str):
        hint = "; its ID is chat.id" if is_a(value, ChatThread) else ""
        raise UsageError(f"{what} is {_named(value)}; right is {right}{hint}.")


def check_count(value: object, what: str) -> None:
    """Refuse what is neither None nor a whole number.

    Raises:
        UsageError: It is something else, such as True.
    """
    if value is not None and type(value) is not int:
        raise UsageError(f"{what} is {_named(value)}; right is a whole number (int), or None for all.")


def check_whom(chat: object, provider: object, model: object) -> None:
    """Refuse a chat, a provider or a model of a wrong type, and a model for a provider that is bound to another one.

    Raises:
        UsageError: One of them is wrong.
    """
    if chat is not None and not is_a(chat, ChatThread):
        raise UsageError(
            f"The chat is {_named(chat)}; right is a ChatThread, such as that of new_chat or store.load, or None."
        )
    if provider is not None and not any(is_a(provider, kind) for kind in (str, ProviderConfig, Provider)):
        raise UsageError(
            f"The provider is {_named(provider)}; right is an ID (str), a ProviderConfig, a Provider, or None."
        )
    check_text(model, "The model", "its name (str), empty for the configured one")
    if isinstance(provider, Provider) and model and model != provider.model:
        raise UsageError(
            f"The provider {provider.config.id!r} is ready to ask {provider.model!r} and cannot ask {model!r}; "
            f"right is provider=gate.provider({provider.config.id!r}, model={model!r})."
        )


def checked_attachments(given: Iterable[Attachment]) -> tuple[Attachment, ...]:
    """Return documents that go with a message.

    Raises:
        UsageError: They are no list of Attachment.
    """
    return _all_of(given, "attachments", "a list of Attachment", lambda item: is_a(item, Attachment))


def checked_observers(given: Iterable[Observer]) -> tuple[Observer, ...]:
    """Return who else is told what happens.

    Raises:
        UsageError: They are no list of observers.
    """
    return _all_of(given, "observers", "a list of observers, which have a method on(event)", _observes)


def _observes(item: object) -> bool:
    return callable(getattr(type(item), "on", None)) or callable(getattr(item, "on", None))


def _all_of(given: Any, what: str, right: str, fits: Any) -> tuple[Any, ...]:
    if is_a(given, str) or not is_a(given, Iterable):
        raise UsageError(f"{what} is {_named(given)}; right is {right}.")
    found = tuple(given)
    for item in found:
        if not fits(item):
            raise UsageError(f"{what} holds {_named(item)}; right is {right}.")
    return found


def _named(value: object) -> str:
    return "a ChatThread" if is_a(value, ChatThread) else shown(value)
