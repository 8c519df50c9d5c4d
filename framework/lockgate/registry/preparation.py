"""Preparing a request: which tools are offered, in which words, and why the others are not.

Candidates are the selected tools and those that offer themselves from the context of the chat. Each passes the same
checks; then it is asked what it offers in this request. A tool that fails while it is asked costs itself alone.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from lockgate.chat.prompt import tool_policy
from lockgate.chat.values import ChatThread
from lockgate.errors import ToolBlocked
from lockgate.policy import ProviderStanding
from lockgate.providers.contract import OfferedFunction
from lockgate.registry import copies
from lockgate.registry.asking import PASSING, ask_beside
from lockgate.registry.beyond import NOTHING_TO_OFFER, Beyond, BeyondKind, LeftOut
from lockgate.registry.checks import Change, Situation, choose, first_block
from lockgate.registry.registration import Registered
from lockgate.registry.registry import PLUGIN_DEADLINE, Registry
from lockgate.registry.selection import Selection, SelectionOrigin
from lockgate.settings.model import ToolSettings
from lockgate.tools.base import Tool, overrides
from lockgate.tools.context import RequestContext, ToolServices
from lockgate.tools.definition import Components, ToolActivation


@dataclass(frozen=True, slots=True)
class Offered:
    """A tool as it is offered in one request."""

    registered: Registered
    function: OfferedFunction
    choices: Mapping[str, tuple[str, ...]]
    instructions: str
    settings: ToolSettings

    @property
    def id(self) -> str:
        """The tool's ID."""
        return self.registered.id


@dataclass(frozen=True, slots=True)
class Offer:
    """The tools of a request.

    Attributes:
        tools: What is offered, in stable order.
        left_out: ID → why a candidate is not offered.
    """

    tools: tuple[Offered, ...] = ()
    left_out: Mapping[str, LeftOut] = field(default_factory=dict)

    @property
    def functions(self) -> tuple[OfferedFunction, ...]:
        """The functions as an adapter takes them."""
        return tuple(offered.function for offered in self.tools)

    @property
    def instructions(self) -> str:
        """The tool policy for the system prompt; empty when no tool has instructions."""
        return tool_policy((offered.id, offered.instructions) for offered in self.tools)

    def find(self, name: str) -> Offered | None:
        """Return the offered tool of that exact function name."""
        return next((offered for offered in self.tools if offered.function.name == name), None)


def hidden_by(selection: Selection) -> Beyond | None:
    """Say why a selection lets no tool run, or None when it does."""
    if not selection.hidden:
        return None
    kind, name = BeyondKind.SELECTION_HIDDEN, selection.name
    if selection.origin is SelectionOrigin.ASSISTANT:
        change = Change(f"assistants.{name}.tool_ids", "a list of tools")
        return Beyond(kind, f"The rules of the assistant {name!r} allow no tools.", selection.set_by, change)
    if selection.origin is SelectionOrigin.GONE:
        why = f"This chat was begun with the assistant {name!r}, which is no longer configured: nobody knows its rules."
        return Beyond(kind, why, change=choose("chat", "a new chat"))
    why = f"The component {name} shows no selection, and no rule of an assistant names the tools."
    return Beyond(kind, why, change=Change("VisibleToolSelectionComponents", f"a list with {name!r}"))


def not_selected(registry: Registry, registered: Registered, selection: Selection) -> Beyond | None:
    """Say that a selection does not name a tool, or None when it does or when the tool offers itself."""
    if registered.definition.activation is ToolActivation.CONTEXT:
        return None
    if registered.id in registry.expand_selection(selection.identifiers):
        return None
    collection = registry.get_collection_id(registered.id)
    why, change = f"It is not selected by {selection}.", choose("selection", f"a selection that names {collection!r}")
    if selection.origin is SelectionOrigin.ASSISTANT:
        change = Change(f"assistants.{selection.name}.tool_ids", f"a list with {collection!r}")
    elif selection.origin is SelectionOrigin.CHAT and not selection.identifiers:
        why = "All tools that can be selected are switched off in this chat."
    return Beyond(BeyondKind.NOT_SELECTED, why, selection.set_by, change)


LONGEST_WHY = 1_000
"""Characters of the words in which a tool says why it has nothing to offer."""

_TELLING = "its answer holds a secret of the settings"


class Preparation:
    """Prepares requests against one registry. Shared; keeps nothing of a chat."""

    def __init__(self, registry: Registry, services: ToolServices) -> None:
        self._registry, self._services = registry, services
        self._registered: dict[str, OfferedFunction] = {}

    async def prepare(
        self,
        chat: ChatThread,
        standing: ProviderStanding,
        component: Components,
        selected: Iterable[str] | Selection,
    ) -> Offer:
        """Work out the offer of a request.

        Args:
            chat: The chat, the user's new message last.
            standing: The provider that will be asked.
            component: Where the question comes from.
            selected: What is selected, in IDs of collections or tools. Of a selection that is hidden nothing is
                offered, not even a tool that offers itself.
        """
        registry, selection = self._registry, Selection.of(selected)
        wanted = registry.expand_selection(selection.identifiers)
        offered: list[Offered] = []
        left_out: dict[str, LeftOut] = {}
        for registered in registry.tools:
            is_context = registered.definition.activation is ToolActivation.CONTEXT
            if not is_context and registered.id not in wanted:
                continue
            situation = await registry.situation(registered.id, standing, component, chat.requirements)
            result = first_block(situation) or hidden_by(selection) or await self.resolve(situation, chat)
            if isinstance(result, Offered):
                offered.append(result)
            else:
                left_out[registered.id] = result
        for unknown in sorted(item for item in wanted if registry.get(item) is None):
            situation = await registry.situation(unknown, standing, component, chat.requirements)
            if (block := first_block(situation)) is not None:
                left_out[unknown] = block
        offered.sort(key=lambda item: registry.order_of(item.id))
        return Offer(tuple(offered), left_out)

    def registered_policy(self, tool_ids: Iterable[str]) -> str:
        """Return the tool policy that these tools would have with their registered instructions.

        Asks no tool and changes nothing, so that a surface can count with it while somebody types. What a request
        sends may be shorter or longer by what tools word anew.
        """
        registry = self._registry
        known = [registered for tool_id in tool_ids if (registered := registry.get(tool_id)) is not None]
        known.sort(key=lambda item: registry.order_of(item.id))
        return tool_policy((item.id, item.definition.instructions) for item in known)

    async def resolve(self, situation: Situation, chat: ChatThread) -> Offered | Beyond:
        """Ask a tool that passed every check what it offers in a chat. A failure costs this tool alone."""
        registered = situation.registered
        assert registered is not None  # noqa: S101 - the checks passed, so the tool is registered
        try:
            return await self._resolved(situation, registered, chat)
        except PASSING:
            raise
        except BaseException as error:  # noqa: BLE001 - whatever it is, it costs this tool alone
            why = self._registry.note_failure(registered, "preparing", error)
            return Beyond(BeyondKind.RESOLUTION_FAILED, why)

    async def _resolved(
        self, situation: Situation, registered: Registered, chat: ChatThread
    ) -> Offered | Beyond:
        settings = self._registry.effective(registered.id).settings
        assert settings is not None  # noqa: S101 - likewise, it is configured
        context = RequestContext(
            chat, situation.standing, situation.component, settings, self._services, demanded=situation.requirements
        )
        tool = registered.tool
        function = self._as_registered(registered)
        choices: Mapping[str, tuple[str, ...]] = {}
        if overrides(tool, "resolve_function"):
            parameters = registered.definition.parameters
            answer = await self._ask(
                registered, "resolve_function", lambda: _or_blocked(tool, context),
                lambda found: found if isinstance(found, _Blocked) else copies.function(found, parameters),
            )
            if isinstance(answer, _Failed):
                return self._failed(registered, "resolve_function", answer.why)
            if isinstance(answer, _Blocked):
                return Beyond(BeyondKind.NOTHING_TO_OFFER, self._registry.incidents.shown(answer.why))
            resolved, fell_back = answer
            if resolved is None:
                return NOTHING_TO_OFFER
            if self._registry.incidents.holds([resolved.description, resolved.parameters, resolved.choices]):
                return self._failed(registered, "resolve_function", _TELLING)
            if fell_back:
                self._registry.incidents.add(
                    registered.owner, f"resolve_function of {registered.id}",
                    "its parameters are no schema of an object; the registered ones are used",
                )
            function = replace(function, description=resolved.description, parameters=resolved.parameters)
            choices = resolved.choices
        instructions: Any = registered.definition.instructions
        if overrides(tool, "resolve_instructions"):
            instructions = await self._ask(
                registered, "resolve_instructions", lambda: tool.resolve_instructions(context),
                lambda found: copies.text(found, "answer"),
            )
            if isinstance(instructions, _Failed):
                return self._failed(registered, "resolve_instructions", instructions.why)
            if self._registry.incidents.holds(instructions):
                return self._failed(registered, "resolve_instructions", _TELLING)
        return Offered(registered, function, choices, instructions, settings)

    async def _ask(
        self, registered: Registered, what: str, function: Callable[[], Any], copying: Callable[[Any], Any]
    ) -> Any:
        """Ask a tool and copy its answer, both away from this event loop and under one deadline."""
        return await ask_beside(
            registered.owner, f"{what} of {registered.id}", function, copying,
            deadline=PLUGIN_DEADLINE, fallback=_Failed("it raised, was late, or gave something that does not fit"),
            incidents=self._registry.incidents,
        )

    def _failed(self, registered: Registered, what: str, why: str) -> Beyond:
        text = f"Its {what} failed ({why}); see {registered.owner} in plugins doctor."
        return Beyond(BeyondKind.RESOLUTION_FAILED, text)

    def _as_registered(self, registered: Registered) -> OfferedFunction:
        """Return the function as registered; the same object every time, so that its encoding can be kept."""
        known = self._registered.get(registered.id)
        if known is None:
            definition = registered.definition
            known = OfferedFunction(definition.id, definition.description, definition.parameters, definition.strict)
            self._registered[registered.id] = known
        return known


@dataclass(frozen=True, slots=True)
class _Failed:
    """A question to a tool that failed, and why."""

    why: str


@dataclass(frozen=True, slots=True)
class _Blocked:
    """A tool that says why it has nothing to offer."""

    why: str


async def _or_blocked(tool: Tool, context: RequestContext) -> Any:
    """Ask a tool for its function; a block is an answer like another, in the tool's words."""
    try:
        found: Any = tool.resolve_function(context)
        return await found if inspect.isawaitable(found) else found
    except ToolBlocked as blocked:
        return _Blocked(copies.text(str(blocked), "block")[:LONGEST_WHY])
