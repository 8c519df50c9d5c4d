"""The registry: the one place that answers which tools there are, which may run, and why others may not.

A registry is made of contributions and rules, all values, and never changes; new rules make a new registry. It keeps
nothing of a chat, and it imports no plugin machinery.
"""

import inspect
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, cast

from lockgate.chat.values import ChatThread
from lockgate.policy import BUILT_IN, ChatRequirements, ConfidenceLevel, Minimum, ProviderStanding, SetBy
from lockgate.registry import copies
from lockgate.registry.asking import PASSING, ask_beside
from lockgate.registry.calls import describe, guarded_acall, guarded_call
from lockgate.registry.checks import (
    Block,
    Change,
    Situation,
    ToolState,
    Unavailable,
    available,
    confidence_reached,
    first_block,
    outbound_allowed,
    switched_on,
)
from lockgate.registry.contribution import Contribution, Owner
from lockgate.registry.incidents import IncidentLog
from lockgate.registry.previews import Previews
from lockgate.registry.registration import Doubt, Registered, Rejection, register
from lockgate.registry.rules import Rules
from lockgate.registry.selection import Selection, Selections, selection_of_chat
from lockgate.settings.effective import NO_SETTINGS, Effective, Problem, effective_settings
from lockgate.settings.model import NoSettings
from lockgate.settings.options import FixedOptions, OptionSource
from lockgate.tools.base import Tool, overrides
from lockgate.tools.collection import ToolCollection
from lockgate.tools.definition import Components
from lockgate.tools.texts import DEFAULT_LOCALE, ToolTexts, readable_name

PLUGIN_DEADLINE = 2.0
"""Seconds a plugin has for each question asked while tools are listed or a request is prepared."""


@dataclass(frozen=True, slots=True)
class _Configuration:
    """What is wrong with a tool's settings, who set the value, and its name; empty texts where nothing is."""

    problem: str = ""
    set_by: SetBy = BUILT_IN
    field: str = ""


_CONFIGURED = _Configuration()


class Registry:
    """Answers every question about tools.

    Args:
        contributions: What plugins brought.
        rules: The rules in force.
        incidents: Where failures of plugins are kept.

    Making one reads everything that was contributed, and so runs plugins' code: it may block for as long as their
    deadlines. Keep it off an event loop.
    """

    def __init__(
        self, contributions: Sequence[Contribution], rules: Rules, incidents: IncidentLog | None = None
    ) -> None:
        self.rules = rules
        self.incidents = incidents if incidents is not None else IncidentLog()
        self.incidents.hide(rules.layers.secrets.values())  # tools that were there before may know them already
        found = register(contributions, rules.pins)
        self._tools, self._collections = found.tools, found.collections
        self.rejections: tuple[Rejection, ...] = tuple(found.rejections)
        self.doubts: tuple[Doubt, ...] = tuple(found.doubts)
        self.previews = Previews(found.previews.values(), rules.previews)
        self._sources, self._selections = found.sources, Selections(found, self._is_off)
        self._off: dict[str, dict[str, SetBy]] = {}
        self._minimums: dict[str, tuple[ConfidenceLevel, SetBy]] = {}
        self._effective: dict[str, Effective] = {}
        self._settled: dict[str, ToolState] = {}  # what follows from the rules alone; never what a tool says of itself
        self._texts: dict[tuple[str, str], ToolTexts] = {}
        self._ask_texts()

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
        return self._selections.collection_id(identifier)

    def collection(self, identifier: str) -> ToolCollection | None:
        """Return a declared collection, or None."""
        found = self._collections.get(identifier)
        return None if found is None else found.collection

    def tool_ids_of(self, collection_id: str) -> tuple[str, ...]:
        """Return the tools of a collection, in its order; an unknown ID stands for itself."""
        return self._selections.tool_ids(collection_id)

    # Selections

    def normalize_selection(self, identifiers: Iterable[str]) -> frozenset[str]:
        """Turn a selection into the collections that run, companions added. Unknown IDs stay; idempotent."""
        return self._selections.normalized(identifiers)

    def expand_selection(self, identifiers: Iterable[str]) -> frozenset[str]:
        """Turn a selection into the tools that run. Unknown IDs stay."""
        return self._selections.expanded(identifiers)

    def companions(self, identifiers: Iterable[str]) -> dict[str, str]:
        """Return the collections that nobody selected → the tool that brought each along."""
        return self._selections.companions(identifiers)

    def selection_of(self, chat: ChatThread, component: Components) -> Selection:
        """Return what a chat selects in a component: what was chosen for it, else the defaults."""
        return selection_of_chat(self.rules, component, chat.selected_tools)

    # Rules

    def switched_off(self, identifier: str) -> dict[str, SetBy]:
        """Return the IDs that switch a collection off (its own, its tools') → who did; empty while it is on."""
        collection_id = self.get_collection_id(identifier)
        known = self._off.get(collection_id)
        if known is None:
            off = self.rules.disabled
            known = {name: off[name] for name in self._selections.settings_ids(identifier) if name in off}
            if self.is_known(collection_id):
                self._off[collection_id] = known
        return known

    def _is_off(self, registered: Registered) -> bool:
        """Tell whether a tool is switched off, or belongs to a preview that is."""
        preview = registered.definition.preview
        preview_off = preview is not None and self.previews.off(preview) is not None
        return preview_off or bool(self.switched_off(registered.id))

    def switched_off_by(self, identifier: str) -> SetBy | None:
        """Return who switched a collection off; None while it is on."""
        return next(iter(self.switched_off(identifier).values()), None)

    def minimum_confidence(self, identifier: str) -> tuple[ConfidenceLevel, SetBy]:
        """Return the confidence a provider needs for a collection, and who says so.

        Of several levels set for a collection and its tools the highest counts; where none is set, what the
        collection declares, or its only tool. A ceiling of the organization raises what is below it.
        """
        collection_id = self.get_collection_id(identifier)
        if collection_id in self._minimums:
            return self._minimums[collection_id]
        names = self._selections.settings_ids(identifier)
        found = [self.rules.minimums[name] for name in names if name in self.rules.minimums]
        if not found:
            found = [Minimum(self._declared_minimum(collection_id), BUILT_IN)]
        bounds = self.rules.ceilings.minimums
        found += [bounds[name] for name in names if name in bounds]
        highest = max(found, key=lambda minimum: minimum.level)
        if self.is_known(collection_id):
            self._minimums[collection_id] = highest.level, highest.set_by
        return highest.level, highest.set_by

    def _declared_minimum(self, collection_id: str) -> ConfidenceLevel:
        lost = self._selections.lost_minimum(collection_id)
        if collection_id in self._collections:
            return max(lost, self._collections[collection_id].collection.minimum_confidence)
        registered = self._tools.get(collection_id)
        return max(lost, registered.definition.minimum_confidence if registered else ConfidenceLevel.NONE)

    def effective(self, tool_id: str) -> Effective:
        """Return the effective settings of a registered tool; worked out once."""
        known = self._effective.get(tool_id)
        if known is None:
            registered = self._tools[tool_id]
            known = self._worked_out(registered, guarded_call(
                registered.owner, f"settings of {tool_id}", self._read_settings, registered,
                deadline=PLUGIN_DEADLINE, fallback=None, incidents=self.incidents,
            ))  # fmt: skip
        return known

    async def _effective_now(self, registered: Registered) -> Effective:
        """Return the effective settings as `effective` does, without holding up the event loop."""
        known = self._effective.get(registered.id)
        if known is not None:
            return known
        if registered.settings_model is NoSettings:
            return self._worked_out(registered, NO_SETTINGS)
        return self._worked_out(registered, await guarded_acall(
            registered.owner, f"settings of {registered.id}", self._read_settings, registered,
            deadline=PLUGIN_DEADLINE, fallback=None, incidents=self.incidents,
        ))  # fmt: skip

    def _read_settings(self, registered: Registered) -> Effective:
        """Run the validators and defaults of a settings model, which are a plugin's code."""
        return effective_settings(registered.id, registered.settings_model, self.rules.layers, self._sources)

    def _worked_out(self, registered: Registered, found: Effective | None) -> Effective:
        """Keep what was worked out: no failure, and nothing that depends on options which may be others next time."""
        if found is None:
            text = f"failed; see {registered.owner} in plugins doctor"
            return Effective(None, {}, {"reading them": Problem(text, BUILT_IN)})
        if found.settings is not None:
            self.incidents.hide(found.settings.secret_values())
        if not self._depends_on_options(registered):
            self._effective[registered.id] = found
        return found

    def _depends_on_options(self, registered: Registered) -> bool:
        """Tell whether a setting takes its value from an option source that is more than a fixed list."""
        model = registered.settings_model
        sources = (self._sources.get(model.setting_of(name).options or "") for name in model.outside_names())
        return any(source is not None and type(source) is not FixedOptions for source in sources)

    def texts(self, tool_id: str, locale: str = DEFAULT_LOCALE) -> ToolTexts:
        """Return a tool's names for people; made of its ID where the tool cannot say.

        The tool is asked once a language. The default language is asked for when the registry is made; the first
        question for another one blocks, for at most a deadline. On an event loop use `texts_in`.
        """
        known = self._texts.get((tool_id, locale))
        if known is not None:
            return known
        registered = self._tools.get(tool_id)
        if registered is None:
            return ToolTexts(readable_name(tool_id))
        return self._known_texts(registered, locale, guarded_call(
            registered.owner, f"texts of {tool_id}", _texts_of, registered, locale,
            deadline=PLUGIN_DEADLINE, fallback=None, incidents=self.incidents,
        ))  # fmt: skip

    async def texts_in(self, tool_id: str, locale: str) -> ToolTexts:
        """Return a tool's names for people as `texts` does, without holding up the event loop."""
        registered = self._tools.get(tool_id)
        if registered is None or (tool_id, locale) in self._texts:
            return self.texts(tool_id, locale)
        return self._known_texts(registered, locale, await guarded_acall(
            registered.owner, f"texts of {tool_id}", _texts_of, registered, locale,
            deadline=PLUGIN_DEADLINE, fallback=None, incidents=self.incidents,
        ))  # fmt: skip

    def _known_texts(self, registered: Registered, locale: str, found: ToolTexts | None) -> ToolTexts:
        if found is not None and self.incidents.holds(
            [found.name, found.description, found.fields, found.groups, found.options]
        ):
            self.incidents.add(registered.owner, f"texts of {registered.id}", "they hold a secret, and are not used")
            found = None
        texts = found or ToolTexts(readable_name(registered.id), registered.definition.description)
        return self._texts.setdefault((registered.id, locale), texts)

    def _ask_texts(self) -> None:
        """Ask every tool for its names in the default language. An owner that is late once is not asked again."""
        late: set[Owner] = set()
        for registered in self._tools.values():
            if registered.owner in late:
                self._known_texts(registered, DEFAULT_LOCALE, None)
                continue
            self.texts(registered.id)
            if self.incidents.is_left(registered.owner, f"texts of {registered.id}"):
                late.add(registered.owner)

    # Checks

    async def state(self, tool_id: str) -> ToolState:
        """Gather what the rules and the tool itself say right now. Plugins are asked under a deadline."""
        registered = self._tools.get(tool_id)
        known = self._settled.get(tool_id)
        if known is not None and registered is not None and self._is_settled(registered):
            return known
        minimum, minimum_by = self.minimum_confidence(tool_id)
        unavailable: Unavailable | None = None
        found = _CONFIGURED
        if registered is not None:
            try:
                unavailable = await self._unavailable(registered)
                found = await self._configuration(registered) if unavailable is None else _CONFIGURED
            except PASSING:
                raise
            except BaseException as error:  # noqa: BLE001 - whatever it is, it costs this tool alone
                unavailable = Unavailable(self.note_failure(registered, "looking at", error))
        gathered = ToolState(
            self.rules.tools_enabled, self.rules.tools_enabled_by, self.switched_off(tool_id), unavailable,
            found.problem, found.set_by, minimum, minimum_by, found.field,
        )
        if registered is not None and self._is_settled(registered):
            self._settled[tool_id] = gathered
        return gathered

    def _is_settled(self, registered: Registered) -> bool:
        """Tell whether the state of a tool follows from the rules alone: nothing is asked, settings are kept."""
        tool = registered.tool
        if overrides(tool, "is_available") or overrides(tool, "validate_settings"):
            return False
        return registered.id in self._effective

    def order_of(self, tool_id: str) -> tuple[str, str]:
        """Return what tools are ordered by in every list: display name, then ID."""
        return self.texts(tool_id).name.casefold(), tool_id

    async def _unavailable(self, registered: Registered) -> Unavailable | None:
        """Say why a tool is not there right now, or None. Asked at every listing."""
        preview = registered.definition.preview
        if preview is not None and (off := self.previews.off(preview)) is not None:
            return Unavailable(off.why, off.set_by, Change("EnabledPreviewFeatures", "true", item=off.id))
        if not overrides(registered.tool, "is_available"):
            return None
        what = f"is_available of {registered.id}"
        if inspect.iscoroutinefunction(registered.tool.is_available):
            answer = await ask_beside(
                registered.owner, what, lambda: cast("Any", registered.tool.is_available()), bool,
                deadline=PLUGIN_DEADLINE, fallback=None, incidents=self.incidents,
            )
        else:
            answer = await guarded_acall(
                registered.owner, what, _is_available, registered.tool,
                deadline=PLUGIN_DEADLINE, fallback=None, incidents=self.incidents,
            )
        if answer is None:
            return Unavailable(
                f"Asking the tool whether it is available failed; see {registered.owner} in plugins doctor."
            )
        return None if answer else Unavailable("The tool says it is not available right now.")

    async def _configuration(self, registered: Registered) -> "_Configuration":
        effective = await self._effective_now(registered)
        settings = effective.settings
        if settings is None:
            name, first = next(iter(effective.problems.items()))
            return _Configuration(effective.problem_text, first.set_by, name)
        if not overrides(registered.tool, "validate_settings"):
            return _CONFIGURED
        problem = await ask_beside(
            registered.owner, f"validate_settings of {registered.id}",
            lambda: registered.tool.validate_settings(settings), _problem_in_words,
            deadline=PLUGIN_DEADLINE, incidents=self.incidents,
            fallback=f"checking them failed; see {registered.owner} in plugins doctor",
        )
        by_person = next(iter(effective.by_field.values()), None)
        return _Configuration(self.incidents.shown(problem), BUILT_IN if by_person is None else by_person.set_by)

    def note_failure(self, registered: Registered, doing: str, error: BaseException) -> str:
        """Write down that something about one tool was raised where nothing should be; return words for a person."""
        fault = describe(error)
        self.incidents.add(registered.owner, f"{doing} {registered.id}", fault.error, fault.traceback)
        return f"{doing.capitalize()} the tool failed; see {registered.owner} in plugins doctor."

    async def situation(
        self, tool_id: str, standing: ProviderStanding, component: Components, requirements: ChatRequirements
    ) -> Situation:
        """Gather everything the checks look at.

        Args:
            tool_id: The tool's ID, known or not.
            standing: The provider.
            component: Where the question comes from.
            requirements: What the content of the chat demands; what the organization demands of every chat is added.
        """
        return Situation(
            self._tools.get(tool_id), tool_id, self.get_collection_id(tool_id), standing, component,
            self.rules.demanded(requirements), await self.state(tool_id),
        )

    async def check(
        self, tool_id: str, standing: ProviderStanding, component: Components, requirements: ChatRequirements
    ) -> Block | None:
        """Say why a tool cannot be offered, or None. The same answer for a request, a person, and a call."""
        return first_block(await self.situation(tool_id, standing, component, requirements))

    # Lists

    async def filter_for_provider(
        self, standing: ProviderStanding, identifiers: Iterable[str], requirements: ChatRequirements
    ) -> frozenset[str]:
        """Return the tools of a selection that this provider could be offered, for counting and for records.

        Settings and components are not looked at; an ID nobody registered stays.
        """
        if not self.rules.tools_enabled or not standing.can_call_tools:
            return frozenset()
        kept = set()
        for tool_id in self.expand_selection(identifiers):
            situation = await self.situation(tool_id, standing, Components.CHAT, requirements)
            blocked = any(check(situation) is not None for check in (switched_on, confidence_reached))
            known = situation.registered is not None
            if not blocked and not (known and (available(situation) or outbound_allowed(situation))):
                kept.add(tool_id)
        return frozenset(kept)

def _texts_of(registered: Registered, locale: str) -> ToolTexts:
    if type(registered.tool).texts is Tool.texts:  # it would read the definition again
        return ToolTexts(readable_name(registered.id), registered.definition.description)
    return copies.texts(registered.tool.texts(locale))


def _is_available(tool: Tool) -> bool:
    answer: Any = tool.is_available()
    if inspect.isawaitable(answer):
        if inspect.iscoroutine(answer):
            answer.close()
        raise TypeError("it returned something to be awaited; is_available is an ordinary function")
    return bool(answer)


def _problem_in_words(answer: object) -> str:
    return "" if answer is None else copies.text(str(answer), "answer")
