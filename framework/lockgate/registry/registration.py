"""Registration in phases over all plugins: option sources, then tools, then collections.

Within a phase contributions are taken in the order of distribution and entry point. On a collision the first stays,
unless a rule pins the other; both owners are shown. What is rejected is kept as a record, never raised.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from lockgate.registry.contribution import FRAMEWORK, Contribution, Owner
from lockgate.registry.validation import definition_problem, on_the_safe_side
from lockgate.settings.options import BUILT_IN_OPTION_SOURCES, OptionSource
from lockgate.tools.base import Tool
from lockgate.tools.collection import ToolCollection
from lockgate.tools.definition import ToolActivation, ToolDefinition


@dataclass(frozen=True, slots=True)
class Registered:
    """A registered tool: itself, its definition read on the safe side, and its owner."""

    tool: Tool
    definition: ToolDefinition
    owner: Owner

    @property
    def id(self) -> str:
        """The tool's ID."""
        return self.definition.id


@dataclass(frozen=True, slots=True)
class RegisteredCollection:
    """A collection with the tools it really holds, in its order."""

    collection: ToolCollection
    tools: tuple[str, ...]
    owner: Owner


@dataclass(frozen=True, slots=True)
class Rejection:
    """Something that was not registered, or only in part: what, whose, why, and who has the name instead."""

    kind: str
    id: str
    owner: Owner
    reason: str
    other: Owner | None = None

    def __str__(self) -> str:
        """Words for a person."""
        other = f" It belongs to {self.other}." if self.other else ""
        return f"The {self.kind} {self.id!r} of {self.owner} was not taken: {self.reason}.{other}"


@dataclass(slots=True)
class Registrations:
    """All that was registered, by ID."""

    sources: dict[str, OptionSource] = field(default_factory=dict)
    tools: dict[str, Registered] = field(default_factory=dict)
    collections: dict[str, RegisteredCollection] = field(default_factory=dict)
    collection_of: dict[str, str] = field(default_factory=dict)
    rejections: list[Rejection] = field(default_factory=list)


def _ordered(contributions: Iterable[Contribution], kind: str, pins: Mapping[str, str]) -> list[Contribution]:
    """Return the contributions of a kind in the order they are taken, a pinned owner's items before all others."""
    pinned = {name: distribution.lower() for name, distribution in pins.items()}

    def rank(contribution: Contribution) -> tuple[bool, tuple[str, str]]:
        wanted = pinned.get(_id_of(contribution.value))
        return (wanted != contribution.owner.distribution.lower(), contribution.owner.order)

    return sorted((item for item in contributions if item.kind == kind), key=rank)


def _id_of(value: object) -> str:
    found = getattr(getattr(value, "definition", value), "id", "")
    return found if isinstance(found, str) else ""


def register(contributions: Sequence[Contribution], pins: Mapping[str, str]) -> Registrations:
    """Register everything that can be registered."""
    result = Registrations()
    _register_sources(contributions, pins, result)
    _register_tools(contributions, pins, result)
    _register_collections(contributions, pins, result)
    for tool_id in result.tools:
        result.collection_of.setdefault(tool_id, tool_id)
    return result


def _register_sources(contributions: Sequence[Contribution], pins: Mapping[str, str], result: Registrations) -> None:
    owners = dict.fromkeys((source.id for source in BUILT_IN_OPTION_SOURCES), FRAMEWORK)
    result.sources.update({source.id: source for source in BUILT_IN_OPTION_SOURCES})
    for item in _ordered(contributions, "option_sources", pins):
        name = _id_of(item.value)
        if not name.strip() or not callable(getattr(item.value, "options", None)):
            reason = "it needs a non-blank id and a method options(locale)"
            result.rejections.append(Rejection("option source", name, item.owner, reason))
        elif name in owners:
            reason = "there is an option source of that name already"
            result.rejections.append(Rejection("option source", name, item.owner, reason, owners[name]))
        else:
            owners[name] = item.owner
            result.sources[name] = item.value


def _register_tools(contributions: Sequence[Contribution], pins: Mapping[str, str], result: Registrations) -> None:
    for item in _ordered(contributions, "tools", pins):
        name = _id_of(item.value)
        try:
            problem = definition_problem(item.value, result.sources)
        except Exception as error:  # noqa: BLE001 - a stranger's definition may raise anything while it is read
            problem = f"reading its definition raised {type(error).__name__}"
        if problem:
            result.rejections.append(Rejection("tool", name, item.owner, problem))
        elif name in result.tools:
            reason = "there is a tool of that name already"
            result.rejections.append(Rejection("tool", name, item.owner, reason, result.tools[name].owner))
        else:
            definition = on_the_safe_side(item.value.definition)
            result.tools[name] = Registered(item.value, definition, item.owner)


def _register_collections(
    contributions: Sequence[Contribution], pins: Mapping[str, str], result: Registrations
) -> None:
    for item in _ordered(contributions, "collections", pins):
        name = _id_of(item.value)
        if not isinstance(item.value, ToolCollection) or not name.strip():
            reason = "it is no ToolCollection with a non-blank ID"
            result.rejections.append(Rejection("collection", name, item.owner, reason))
        elif name in result.tools:
            reason = "its ID is the ID of a tool"
            result.rejections.append(Rejection("collection", name, item.owner, reason, result.tools[name].owner))
        elif name in result.collections:
            reason = "there is a collection of that name already"
            other = result.collections[name].owner
            result.rejections.append(Rejection("collection", name, item.owner, reason, other))
        else:
            _take_collection(item.value, item.owner, result)


def _take_collection(collection: ToolCollection, owner: Owner, result: Registrations) -> None:
    taken: list[str] = []
    for tool_id in dict.fromkeys(collection.tools):
        registered = result.tools.get(tool_id)
        if registered is None:
            reason, other = "it is not registered", None
        elif registered.owner.distribution != owner.distribution:
            reason, other = f"the collection {collection.id!r} may claim tools of its own distribution only", None
            other = registered.owner
        elif registered.definition.activation is not ToolActivation.SELECTION:
            reason, other = "it offers itself from the context of a chat, so it cannot be selected", None
        elif tool_id in result.collection_of:
            reason, other = f"the collection {result.collection_of[tool_id]!r} has claimed it first", None
        else:
            taken.append(tool_id)
            continue
        result.rejections.append(Rejection(f"tool in collection {collection.id!r}", tool_id, owner, reason, other))
    if not taken:
        result.rejections.append(Rejection("collection", collection.id, owner, "no tool is left in it"))
        return
    result.collections[collection.id] = RegisteredCollection(collection, tuple(taken), owner)
    result.collection_of.update(dict.fromkeys(taken, collection.id))
