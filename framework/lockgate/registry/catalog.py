"""The list a person selects from: one entry a collection, with the state of its tools."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from lockgate.policy import ConfidenceLevel, SetBy
from lockgate.registry.registration import Registered
from lockgate.registry.registry import Registry
from lockgate.tools.definition import Components, ToolActivation
from lockgate.tools.texts import DEFAULT_LOCALE, ToolTexts


class ConfigurationState(Enum):
    """Whether a tool can work with its settings."""

    CONFIGURED = "CONFIGURED"
    NOT_CONFIGURED = "NOT_CONFIGURED"


@dataclass(frozen=True, slots=True)
class CatalogTool:
    """A tool inside a catalog item: itself, and what is wrong with its settings (empty when configured)."""

    registered: Registered
    texts: ToolTexts
    problem: str


@dataclass(frozen=True, slots=True)
class CatalogItem:
    """One entry of the list a person selects from: a collection.

    Attributes:
        id: ID of the collection.
        texts: Names for people.
        description: For a model that picks tools.
        tools: Its tools, in order.
        state: The state of the first unconfigured tool, else CONFIGURED.
        is_active: Nobody switched it off.
        minimum, minimum_by: The confidence a provider needs, and who says so.
    """

    id: str
    texts: ToolTexts
    description: str
    tools: tuple[CatalogTool, ...]
    state: ConfigurationState
    is_active: bool
    minimum: ConfidenceLevel
    minimum_by: SetBy

    @property
    def is_selectable(self) -> bool:
        """Whether selecting it can bring anything: one of its tools is configured."""
        return any(not tool.problem for tool in self.tools)


async def catalog(
    registry: Registry,
    component: Components | None,
    locale: str = DEFAULT_LOCALE,
    *,
    context_tools: bool = False,
) -> list[CatalogItem]:
    """List what can be selected in a component, by collection, ordered by display name.

    Args:
        registry: The tools under the rules in force.
        component: The component; None for all.
        locale: Language of names.
        context_tools: List the tools that offer themselves, too; nobody can select them.
    """
    shown: dict[str, list[CatalogTool]] = {}
    for registered in registry.tools:
        definition = registered.definition
        if component is not None and not definition.visible_in.includes(component):
            continue
        if definition.activation is ToolActivation.CONTEXT and not context_tools:
            continue
        state = await registry.state(registered.id)
        if state.unavailable is None:
            texts = await registry.texts_in(registered.id, locale)
            entry = CatalogTool(registered, texts, state.configuration_problem)
            shown.setdefault(registry.get_collection_id(registered.id), []).append(entry)
    items = [_item(registry, key, entries, locale) for key, entries in shown.items()]
    return sorted(items, key=lambda item: (item.texts.name.casefold(), item.id))


def _item(registry: Registry, collection_id: str, entries: list[CatalogTool], locale: str) -> CatalogItem:
    order = {tool_id: index for index, tool_id in enumerate(registry.tool_ids_of(collection_id))}
    entries.sort(key=lambda entry: order[entry.registered.id])
    declared = registry.collection(collection_id)
    texts = declared.texts(locale) if declared else entries[0].texts
    description = declared.description if declared else entries[0].registered.definition.description
    minimum, minimum_by = registry.minimum_confidence(collection_id)
    unconfigured = any(entry.problem for entry in entries)
    state = ConfigurationState.NOT_CONFIGURED if unconfigured else ConfigurationState.CONFIGURED
    return CatalogItem(
        collection_id, texts, description, tuple(entries), state,
        registry.switched_off_by(collection_id) is None, minimum, minimum_by,
    )


async def catalog_item(registry: Registry, identifier: str, locale: str = DEFAULT_LOCALE) -> CatalogItem | None:
    """Return the entry of the collection of a tool or collection; None for one that is not there."""
    collection_id = registry.get_collection_id(identifier)
    items = await catalog(registry, None, locale, context_tools=True)
    return next((item for item in items if item.id == collection_id), None)


async def filter_selectable(registry: Registry, component: Components, identifiers: Iterable[str]) -> frozenset[str]:
    """Return what of a selection can be preselected in a component: active, with a tool that is configured.

    The provider is not looked at, since it may still be chosen.
    """
    wanted = registry.normalize_selection(identifiers)
    if not wanted or not registry.rules.tools_enabled:
        return frozenset()
    items = await catalog(registry, component)
    return wanted & {item.id for item in items if item.is_active and item.is_selectable}
