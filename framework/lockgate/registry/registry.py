"""The registry: the one place that answers which tools there are, which may run, and why others may not.

A registry is made of contributions and rules, all values, and never changes; new rules make a new registry. It keeps
nothing of a chat, and it imports no plugin machinery.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

from lockgate.policy import BUILT_IN, ChatRequirements, ConfidenceLevel, ProviderStanding, SetBy
from lockgate.registry.beside import guarded_beside
from lockgate.registry.calls import guarded_acall
from lockgate.registry.checks import Block, Situation, ToolState, first_block
from lockgate.registry.contribution import Contribution
from lockgate.registry.incidents import IncidentLog
from lockgate.registry.registration import Registered, Rejection, register
from lockgate.registry.rules import Rules
from lockgate.settings.effective import Effective, effective_settings
from lockgate.settings.options import OptionSource
from lockgate.tools.base import Tool
from lockgate.tools.definition import Components, ToolActivation
from lockgate.tools.texts import DEFAULT_LOCALE, ToolTexts, readable_name

PLUGIN_DEADLINE = 2.0
"""Seconds a plugin has for each question asked while tools are listed or a request is prepared."""


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


class Registry:
    """Answers every question about tools.

    Args:
        contributions: What plugins brought.
        rules: The rules in force.
        incidents: Where failures of plugins are kept.
    """

    def __init__(
        self, contributions: Sequence[Contribution], rules: Rules, incidents: IncidentLog | None = None
    ) -> None:
        self.rules = rules
        self.incidents = incidents if incidents is not None else IncidentLog()
        found = register(contributions, rules.pins)
        self._tools, self._collections = found.tools, found.collections
        self._collection_of, self._sources = found.collection_of, found.sources
        self.rejections: tuple[Rejection, ...] = tuple(found.rejections)
        self._members: dict[str, tuple[str, ...]] = {key: item.tools for key, item in found.collections.items()}
        self._effective: dict[str, Effective] = {}
        self._texts: dict[tuple[str, str], ToolTexts] = {}

    # What there is

    def get(self, tool_id: str) -> Registered | None:
        """Return a registered tool, or None."""
        return self._tools.get(tool_id)

    @property
    def tools(self) -> Sequence[Registered]:
        """All registered tools, in order of registration."""
        return list(self._tools.values())

    @property
    def option_sources(self) -> dict[str, OptionSource]:
        """All option sources by ID."""
        return dict(self._sources)

    def is_known(self, identifier: str) -> bool:
        """Tell whether an ID names a registered tool or collection."""
        return identifier in self._tools or identifier in self._collections

    def get_collection_id(self, identifier: str) -> str:
        """Return the collection of a tool; any other ID passes through."""
        return self._collection_of.get(identifier, identifier)

    def _tool_ids(self, collection_id: str) -> tuple[str, ...]:
        return self._members.get(collection_id, (collection_id,))

    def _settings_ids(self, collection_id: str) -> tuple[str, ...]:
        """Return every ID that stands for a collection in rules: its own first, then those of its tools."""
        return tuple(dict.fromkeys((collection_id, *self._tool_ids(collection_id))))

    # Selections

    def normalize_selection(self, identifiers: Iterable[str]) -> frozenset[str]:
        """Turn a selection into the collections that run, companions added. Unknown IDs stay; idempotent."""
        selected = {self.get_collection_id(identifier) for identifier in identifiers}
        queue = list(selected)
        while queue:
            for tool_id in self._tool_ids(queue.pop()):
                registered = self._tools.get(tool_id)
                for companion in registered.definition.companions if registered else ():
                    collection = self.get_collection_id(companion)
                    if collection not in selected:
                        selected.add(collection)
                        queue.append(collection)
        return frozenset(item for item in selected if not self._is_context(item))

    def _is_context(self, identifier: str) -> bool:
        registered = self._tools.get(identifier)
        return registered is not None and registered.definition.activation is ToolActivation.CONTEXT

    def expand_selection(self, identifiers: Iterable[str]) -> frozenset[str]:
        """Turn a selection into the tools that run. Unknown IDs stay."""
        return frozenset(
            tool_id for item in self.normalize_selection(identifiers) for tool_id in self._tool_ids(item)
        )

    def default_selection(self, component: Components) -> frozenset[str]:
        """Return the collections selected by default in a component."""
        return self.normalize_selection(self.rules.default_tools.get(component.value, ()))

    # Rules

    def switched_off_by(self, identifier: str) -> SetBy | None:
        """Return who switched a collection off, under its own ID or that of one of its tools; None while it is on."""
        for name in self._settings_ids(self.get_collection_id(identifier)):
            if name in self.rules.disabled:
                return self.rules.disabled[name]
        return None

    def minimum_confidence(self, identifier: str) -> tuple[ConfidenceLevel, SetBy]:
        """Return the confidence a provider needs for a collection, and who says so.

        Of several levels set for a collection and its tools the highest counts; where none is set, what the
        collection declares, or its only tool.
        """
        collection_id = self.get_collection_id(identifier)
        found = [self.rules.minimums[n] for n in self._settings_ids(collection_id) if n in self.rules.minimums]
        if found:
            highest = max(found, key=lambda minimum: minimum.level)
            return highest.level, highest.set_by
        if collection_id in self._collections:
            return self._collections[collection_id].collection.minimum_confidence, BUILT_IN
        registered = self._tools.get(collection_id)
        return (registered.definition.minimum_confidence if registered else ConfidenceLevel.NONE), BUILT_IN

    def effective(self, tool_id: str) -> Effective:
        """Return the effective settings of a registered tool; worked out once."""
        known = self._effective.get(tool_id)
        if known is None:
            model = self._tools[tool_id].tool.settings_model
            known = effective_settings(tool_id, model, self.rules.layers, self._sources)
            self._effective[tool_id] = known
        return known

    def texts(self, tool_id: str, locale: str = DEFAULT_LOCALE) -> ToolTexts:
        """Return a tool's names for people; made of its ID where the tool cannot say."""
        key = (tool_id, locale)
        if key not in self._texts:
            fallback = ToolTexts(readable_name(tool_id))
            try:
                found: object = self._tools[tool_id].tool.texts(locale)
            except Exception:  # noqa: BLE001 - a display name is not worth a failure
                found = fallback
            self._texts[key] = found if isinstance(found, ToolTexts) else fallback
        return self._texts[key]

    # Checks

    async def state(self, tool_id: str) -> ToolState:
        """Gather what the rules and the tool itself say right now. Plugins are asked under a deadline."""
        registered = self._tools.get(tool_id)
        minimum, minimum_by = self.minimum_confidence(tool_id)
        available, why = await self._availability(registered) if registered else (False, "")
        problem, problem_by = await self._configuration(registered) if registered and available else ("", BUILT_IN)
        return ToolState(
            self.rules.tools_enabled, self.rules.tools_enabled_by, self.switched_off_by(tool_id), available, why,
            problem, problem_by, minimum, minimum_by,
        )

    async def _availability(self, registered: Registered) -> tuple[bool, str]:
        preview = registered.definition.preview
        if preview is not None and preview in self.rules.previews_off:
            return False, f"It belongs to the preview {preview}, which is switched off."
        if type(registered.tool).is_available is Tool.is_available:
            return True, ""
        answer = await guarded_acall(
            registered.owner, f"is_available of {registered.id}", registered.tool.is_available,
            deadline=PLUGIN_DEADLINE, fallback=None, incidents=self.incidents,
        )
        if answer is None:
            return False, f"Asking the tool whether it is available failed; see {registered.owner} in plugins doctor."
        return bool(answer), "The tool says it is not available right now."

    async def _configuration(self, registered: Registered) -> tuple[str, SetBy]:
        effective = self.effective(registered.id)
        if effective.settings is None:
            first = next(iter(effective.problems.values()))
            return effective.problem_text, first.set_by
        if type(registered.tool).validate_settings is Tool.validate_settings:
            return "", BUILT_IN
        failed = f"checking them failed; see {registered.owner} in plugins doctor"
        problem: object = await guarded_beside(
            registered.owner, f"validate_settings of {registered.id}", registered.tool.validate_settings,
            effective.settings, deadline=PLUGIN_DEADLINE, fallback=failed, incidents=self.incidents,
        )
        return ("" if problem is None else str(problem)), BUILT_IN

    async def situation(
        self, tool_id: str, standing: ProviderStanding, component: Components, requirements: ChatRequirements
    ) -> Situation:
        """Gather everything the checks look at."""
        return Situation(
            self._tools.get(tool_id), tool_id, self.get_collection_id(tool_id), standing, component, requirements,
            await self.state(tool_id),
        )

    async def check(
        self, tool_id: str, standing: ProviderStanding, component: Components, requirements: ChatRequirements
    ) -> Block | None:
        """Say why a tool cannot be offered, or None. The same answer for a request, a person, and a call."""
        return first_block(await self.situation(tool_id, standing, component, requirements))

    # Lists

    async def catalog(
        self, component: Components | None, locale: str = DEFAULT_LOCALE, *, context_tools: bool = False
    ) -> list[CatalogItem]:
        """List what can be selected in a component, by collection, ordered by display name.

        Args:
            component: The component; None for all.
            locale: Language of names.
            context_tools: List the tools that offer themselves, too; nobody can select them.
        """
        shown: dict[str, list[CatalogTool]] = {}
        for registered in self._tools.values():
            definition = registered.definition
            if component is not None and not definition.visible_in.includes(component):
                continue
            if definition.activation is ToolActivation.CONTEXT and not context_tools:
                continue
            state = await self.state(registered.id)
            if state.available:
                entry = CatalogTool(registered, self.texts(registered.id, locale), state.configuration_problem)
                shown.setdefault(self.get_collection_id(registered.id), []).append(entry)
        items = [self._catalog_item(key, entries, locale) for key, entries in shown.items()]
        return sorted(items, key=lambda item: (item.texts.name.casefold(), item.id))

    def _catalog_item(self, collection_id: str, entries: list[CatalogTool], locale: str) -> CatalogItem:
        order = {tool_id: index for index, tool_id in enumerate(self._tool_ids(collection_id))}
        entries.sort(key=lambda entry: order[entry.registered.id])
        declared = self._collections.get(collection_id)
        texts = declared.collection.texts(locale) if declared else entries[0].texts
        description = declared.collection.description if declared else entries[0].registered.definition.description
        minimum, minimum_by = self.minimum_confidence(collection_id)
        unconfigured = any(entry.problem for entry in entries)
        state = ConfigurationState.NOT_CONFIGURED if unconfigured else ConfigurationState.CONFIGURED
        return CatalogItem(
            collection_id, texts, description, tuple(entries), state,
            self.switched_off_by(collection_id) is None, minimum, minimum_by,
        )
