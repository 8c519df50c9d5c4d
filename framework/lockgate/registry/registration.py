"""Registration in phases over all plugins: option sources and previews, then tools, then collections.

Within a phase contributions are taken in the order of distribution and entry point. On a collision the first stays,
unless a rule pins the other; both owners are shown. What is rejected is kept as a record, never raised.

Whatever is read of a contributed value is read once, here, and copied: a tool whose definition changes is held to what
it said first.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lockgate.registry.contribution import FRAMEWORK, Contribution, Owner
from lockgate.registry.previews import BUILT_IN_PREVIEWS, Preview, read_preview
from lockgate.registry.reading import Named, Reader, Reading
from lockgate.registry.validation import read_collection, read_option_source, read_tool
from lockgate.settings.model import NoSettings, ToolSettings
from lockgate.settings.options import BUILT_IN_OPTION_SOURCES, OptionSource
from lockgate.tools.base import Tool
from lockgate.tools.collection import ToolCollection
from lockgate.tools.definition import ToolActivation, ToolDefinition


@dataclass(frozen=True, slots=True)
class Registered:
    """A registered tool: itself, a copy of its definition read on the safe side, its owner, its settings model."""

    tool: Tool
    definition: ToolDefinition
    owner: Owner
    settings_model: type[ToolSettings] = NoSettings

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
        article = "An" if self.kind[:1] in "aeiou" else "A"
        kind, _, place = self.kind.partition(" in ")  # such as: tool in collection 'mail'
        what = f"The {kind} {self.id!r}" if self.id else f"{article} {kind}"
        into = f" into the {place}" if place else ""
        return f"{what} of {self.owner} was not taken{into}: {self.reason}.{other}"


@dataclass(frozen=True, slots=True)
class Doubt:
    """Something that was registered, and of which a part was read as the strictest since nobody knows what it means."""

    kind: str
    id: str
    owner: Owner
    text: str

    def __str__(self) -> str:
        """Words for a person."""
        return f"The {self.kind} {self.id!r} of {self.owner}: {self.text}."


@dataclass(slots=True)
class Registrations:
    """All that was registered, by ID."""

    sources: dict[str, OptionSource] = field(default_factory=dict)
    previews: dict[str, Preview] = field(default_factory=dict)
    tools: dict[str, Registered] = field(default_factory=dict)
    collections: dict[str, RegisteredCollection] = field(default_factory=dict)
    collection_of: dict[str, str] = field(default_factory=dict)
    nameless: dict[str, list[ToolCollection]] = field(default_factory=dict)
    """Tool → collections of its own pack whose name somebody else has; their minimum and rules still hold for it."""
    rejections: list[Rejection] = field(default_factory=list)
    doubts: list[Doubt] = field(default_factory=list)


def _read(
    contributions: Iterable[Contribution], kind: str, pins: Mapping[str, str], reader: Reader,
    copying: Callable[[Any, Named], Any],
) -> list[Reading]:
    """Read the contributions of a kind, each once, and return them in the order they are taken.

    That is by owner, a pinned owner's items before all others.
    """
    pinned = {name: distribution.lower() for name, distribution in pins.items()}

    def rank(reading: Reading) -> tuple[bool, tuple[str, str]]:
        owner = reading.item.owner
        return (pinned.get(reading.name) != owner.distribution.lower(), owner.order)

    return sorted((reader.read(item, copying) for item in contributions if item.kind == kind), key=rank)


def register(contributions: Sequence[Contribution], pins: Mapping[str, str]) -> Registrations:
    """Register everything that can be registered. Runs plugins' code; blocks for at most a deadline per plugin."""
    result, reader = Registrations(), Reader()
    sources = _read(contributions, "option_sources", pins, reader, read_option_source)
    _register_named("option source", sources, BUILT_IN_OPTION_SOURCES, result.sources, result)
    previews = _read(contributions, "previews", pins, reader, read_preview)
    _register_named("preview", previews, BUILT_IN_PREVIEWS, result.previews, result)
    known = frozenset(result.sources)
    _register_tools(
        _read(contributions, "tools", pins, reader, lambda tool, named: read_tool(tool, named, known)), result
    )
    _register_collections(_read(contributions, "collections", pins, reader, read_collection), result)
    for tool_id in result.tools:
        result.collection_of.setdefault(tool_id, tool_id)
    return result


def _rejected(kind: str, reading: Reading, reason: str, other: Owner | None = None) -> Rejection:
    return Rejection(kind, reading.name, reading.item.owner, reason, other)


def _register_named(
    kind: str, readings: Iterable[Reading], built_in: Iterable[Any], taken: dict[str, Any], result: Registrations
) -> None:
    """Take values that have an ID, after those of the framework; of two with one ID the first stays."""
    taken.update({item.id: item for item in built_in})
    owners = dict.fromkeys(taken, FRAMEWORK)
    for reading in readings:
        name = reading.name
        if reading.problem:
            result.rejections.append(_rejected(kind, reading, reading.problem))
        elif name in owners:
            article = "an" if kind[:1] in "aeiou" else "a"
            reason = f"there is {article} {kind} of that name already"
            result.rejections.append(_rejected(kind, reading, reason, owners[name]))
        else:
            owners[name] = reading.item.owner
            taken[name] = reading.copy


def _register_tools(readings: Iterable[Reading], result: Registrations) -> None:
    for reading in readings:
        name, item = reading.name, reading.item
        if reading.problem:
            result.rejections.append(_rejected("tool", reading, reading.problem))
        elif name in result.tools:
            reason = "there is a tool of that name already"
            result.rejections.append(_rejected("tool", reading, reason, result.tools[name].owner))
        else:
            definition, settings_model = reading.copy
            result.tools[name] = Registered(item.value, definition, item.owner, settings_model)
            result.doubts += [Doubt("tool", name, item.owner, text) for text in reading.doubts]


def _register_collections(readings: Iterable[Reading], result: Registrations) -> None:
    for reading in readings:
        name = reading.name
        if reading.problem:
            result.rejections.append(_rejected("collection", reading, reading.problem))
        elif name in result.tools:
            reason = "its ID is the ID of a tool"
            result.rejections.append(_rejected("collection", reading, reason, result.tools[name].owner))
            _bind_nameless(reading, result.tools[name].owner, result)
        elif name in result.collections:
            reason = "there is a collection of that name already"
            result.rejections.append(_rejected("collection", reading, reason, result.collections[name].owner))
            _bind_nameless(reading, result.collections[name].owner, result)
        else:
            _take_collection(reading.copy, reading.item.owner, result)
            result.doubts += [Doubt("collection", name, reading.item.owner, text) for text in reading.doubts]


def _bind_nameless(reading: Reading, other: Owner, result: Registrations) -> None:
    """Keep what a collection demands of its tools although another pack has its name: nobody lowers it by that."""
    owner = reading.item.owner
    if other.is_same_pack(owner):
        return
    for tool_id in dict.fromkeys(reading.copy.tools):
        registered = result.tools.get(tool_id)
        if registered is not None and registered.owner.is_same_pack(owner):
            result.nameless.setdefault(tool_id, []).append(reading.copy)


def _take_collection(collection: ToolCollection, owner: Owner, result: Registrations) -> None:
    taken: list[str] = []
    for tool_id in dict.fromkeys(collection.tools):
        registered = result.tools.get(tool_id)
        if registered is None:
            reason, other = "it is not registered", None
        elif not registered.owner.is_same_pack(owner):
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
