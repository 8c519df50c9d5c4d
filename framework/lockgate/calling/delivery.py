"""What a tool returned, copied into plain values of our own: nothing of a stranger's object is looked at twice."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeVar

from lockgate.chat.values import Source, SourceOrigin
from lockgate.errors import ToolFailed
from lockgate.policy import (
    BUILT_IN,
    ChatRequirements,
    ConfidenceLevel,
    DataSourceSecurity,
    OutboundDataRestriction,
    SetBy,
    SetByKind,
)
from lockgate.registry.calls import describe
from lockgate.tools.result import ToolResult, to_compact_json

MAX_RESULT_CHARACTERS = 2_000_000
"""Longest result of one call that is taken at all. A tool cuts its text to the budget its context names."""

MAX_DEMANDER_CHARACTERS = 200
"""Longest name of a data source that demands something of a chat; the rest is cut."""

E = TypeVar("E", bound=Enum)


@dataclass(frozen=True, slots=True)
class Delivered:
    """A result, checked.

    Attributes:
        content: The text for the model.
        is_json: Whether the tool gave JSON.
        sources: What a person may want to check.
        requires: What the content demands of the chat.
    """

    content: str
    is_json: bool
    sources: tuple[Source, ...]
    requires: ChatRequirements

    def value(self) -> object:
        """Return the content as a JSON value where it is JSON, else the text."""
        return json.loads(self.content) if self.is_json else self.content


def delivered(result: ToolResult) -> Delivered:
    """Check and copy a result. Reading sources and requirements may raise whatever a stranger's object raises.

    Raises:
        ToolFailed: A part of it is not what it should be; the message says which.
    """
    given: Any = result.content
    is_json = not isinstance(given, str)
    try:
        content = to_compact_json(given) if is_json else plain(given)
    except Exception as error:  # noqa: BLE001 - a stranger's mapping may raise anything while it is read
        raise ToolFailed(f"it returned what is no JSON ({describe(error).error})") from None
    if is_json and not isinstance(given, Mapping | list | tuple):
        raise ToolFailed(f"it returned a ToolResult whose content is a {type(given).__name__}")
    if len(content) > MAX_RESULT_CHARACTERS:
        raise ToolFailed(f"it returned {len(content)} characters; at most {MAX_RESULT_CHARACTERS} are taken.")
    return Delivered(content, is_json, _sources(result.sources), _requirements(result.requires))


def plain(text: str) -> str:
    """Return a text as an exact `str`; a subclass may behave in ways of its own."""
    return str.__str__(text)


def _sources(given: Any) -> tuple[Source, ...]:
    if not isinstance(given, tuple | list):
        raise ToolFailed("it returned a ToolResult whose sources are no sources")
    copied = []
    for item in given:
        texts: tuple[object, ...] = (item.title, item.url) if isinstance(item, Source) else (None,)
        if not all(isinstance(text, str) for text in texts):
            raise ToolFailed("it returned a ToolResult whose sources are no sources")
        origin = item.origin if isinstance(item.origin, SourceOrigin) else SourceOrigin.TOOL
        copied.append(Source(plain(item.title), plain(item.url), origin))
    return tuple(copied)


def _requirements(given: Any) -> ChatRequirements:
    if not isinstance(given, ChatRequirements):
        raise ToolFailed("it returned a ToolResult whose requires are no ChatRequirements")
    return ChatRequirements(
        _member(given.confidence, ConfidenceLevel), _member(given.data_security, DataSourceSecurity),
        _member(given.outbound, OutboundDataRestriction), *map(_demander, (
            given.confidence_by, given.data_security_by, given.outbound_by
        )),
    )  # fmt: skip


def _member(value: object, kind: type[E]) -> E:
    """Return a member of an enum. One that was forged has the type, and a name or a number of its own."""
    for member in kind:
        if value is member:
            return member
    raise ToolFailed("it returned a ToolResult whose requires hold a value nobody knows")


def _demander(given: Any) -> SetBy:
    """Return who demands it: a data source by its name. A tool cannot speak for the user or the organization."""
    if type(given) is not SetBy or not any(given.kind is kind for kind in SetByKind) or type(given.name) is not str:
        raise ToolFailed("it returned a ToolResult whose requires name nobody who could demand them")
    name = " ".join("".join(mark if mark.isprintable() else " " for mark in given.name).split())
    if len(name) > MAX_DEMANDER_CHARACTERS:
        name = name[: MAX_DEMANDER_CHARACTERS - 1] + "…"
    if given.kind is SetByKind.BUILT_IN and not name:
        return BUILT_IN
    return SetBy(SetByKind.DATA_SOURCE, name)
