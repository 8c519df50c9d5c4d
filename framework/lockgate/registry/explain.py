"""Why a tool is there or not: the table of checks with each verdict, and what lies beyond the table."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from lockgate.chat.values import ChatThread
from lockgate.policy import Denial, ProviderStanding
from lockgate.registry.beyond import Beyond, BeyondKind
from lockgate.registry.checks import CHECKS, Block, Situation, choose, first_block
from lockgate.registry.preparation import Preparation, hidden_by, not_selected
from lockgate.registry.registry import Registry
from lockgate.registry.selection import Selection, SelectionOrigin
from lockgate.tools.definition import Components, ToolActivation

ONLY_A_REQUEST = "Whether it has something to offer, only a request can tell."
"""The end of every answer for which the tool itself was not asked."""

ASKED_NOW = "The tool was asked with this chat as it is now; each request asks again."
"""The end of every answer for which it was."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """One row: the check, and the block where it does not pass. `block` is None for a check that passes."""

    check: str
    block: Block | None


@dataclass(frozen=True, slots=True)
class Explanation:
    """The whole answer.

    Attributes:
        tool_id: The tool asked about.
        standing: The provider it was asked for.
        component: The component it was asked for.
        verdicts: Every check in order.
        selected: Whether it is selected; None where it offers itself.
        selected_by: Who selects, in words, and for a companion which tool brought it along.
        beyond: What lies outside the table and is in the way.
        offered: Whether a request now would offer it.
        also_with: IDs of other configured providers with which every check would pass.
        ending: What remains open.
    """

    tool_id: str
    standing: ProviderStanding
    component: Components
    verdicts: tuple[Verdict, ...]
    selected: bool | None
    selected_by: str
    beyond: tuple[Beyond, ...]
    offered: bool
    also_with: tuple[str, ...] = ()
    ending: str = ONLY_A_REQUEST

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The blocks of all checks that do not pass, in order; the first one decides."""
        return tuple(verdict.block for verdict in self.verdicts if verdict.block is not None)

    @property
    def why(self) -> str:
        """The first thing in the way, in a sentence with who set it; empty when it is offered."""
        in_the_way: tuple[Block | Beyond, ...] = (*self.blocks, *self.beyond)
        return f"{in_the_way[0].why} ({in_the_way[0].set_by.phrase})" if in_the_way else ""


async def explain(  # noqa: PLR0917 - the question has that many parts
    registry: Registry,
    preparation: Preparation,
    tool_id: str,
    chat: ChatThread,
    standing: ProviderStanding,
    component: Components,
    selected: Iterable[str] | Selection,
    others: Iterable[ProviderStanding] = (),
) -> Explanation:
    """Explain a tool in a chat, for a provider, in a component.

    Args:
        registry: The tools under the rules in force.
        preparation: Asks the tool what it offers, once every check has passed.
        tool_id: The tool.
        chat: The chat as of now.
        standing: The provider.
        component: Where a question would come from.
        selected: What is selected.
        others: Further configured providers, to name those with which it would be offered.
    """
    selection = Selection.of(selected)
    situation = await registry.situation(tool_id, standing, component, chat.requirements)
    verdicts = tuple(Verdict(name, check(situation)) for name, check in CHECKS)
    beyond = list(_beyond(registry, situation, selection, registry.rules.admission(chat.requirements, standing)))
    denied = any(item.kind is BeyondKind.PROVIDER_DENIED for item in beyond)
    passes = not denied and all(verdict.block is None for verdict in verdicts)
    is_context = situation.registered is not None and (
        situation.registered.definition.activation is ToolActivation.CONTEXT
    )
    is_selected = None if is_context else tool_id in registry.expand_selection(selection.identifiers)
    offered, ending = False, ONLY_A_REQUEST
    if passes:
        answer, ending = await preparation.resolve(situation, chat), ASKED_NOW
        if isinstance(answer, Beyond):
            beyond.append(answer)
        offered = not beyond
    return Explanation(
        tool_id, standing, component, verdicts, is_selected, _selected_by(registry, tool_id, selection), tuple(beyond),
        offered, _also_with(registry, situation, chat, others) if not offered else (), ending,
    )


def _beyond(
    registry: Registry, situation: Situation, selection: Selection, denial: Denial | None
) -> Iterable[Beyond]:
    if denial is not None:
        why = f"The provider may not have this chat at all. {denial.why}"
        change = choose("provider", "a provider that may have it")
        yield Beyond(BeyondKind.PROVIDER_DENIED, why, denial.set_by, change)
    if situation.registered is None:
        return
    if (hidden := hidden_by(selection)) is not None:
        yield hidden
        if selection.origin in (SelectionOrigin.ASSISTANT, SelectionOrigin.GONE):
            return  # nothing can be selected there
    if (unselected := not_selected(registry, situation.registered, selection)) is not None:
        yield unselected


def _selected_by(registry: Registry, tool_id: str, selection: Selection) -> str:
    registered = registry.get(tool_id)
    if registered is not None and registered.definition.activation is ToolActivation.CONTEXT:
        return "it offers itself"
    if tool_id not in registry.expand_selection(selection.identifiers):
        return ""
    collection = registry.get_collection_id(tool_id)
    brought_by = registry.companions(selection.identifiers).get(collection)
    if brought_by is None and selection.origin is SelectionOrigin.CHAT:  # what came along once is kept by name
        rest = [item for item in selection.identifiers if registry.get_collection_id(item) != collection]
        brought_by = registry.companions(rest).get(collection)
    if brought_by is None:
        return str(selection)
    bringer = registry.get(brought_by)
    owner = f" of {bringer.owner}" if bringer is not None else ""
    return f"{selection}, along with {brought_by!r}{owner}"


def _also_with(
    registry: Registry, situation: Situation, chat: ChatThread, others: Iterable[ProviderStanding]
) -> tuple[str, ...]:
    """Return the providers with which every check would pass; none when the provider is not in the way."""
    denied = registry.rules.admission(chat.requirements, situation.standing) is not None
    if not denied and first_block(situation) is None:
        return ()
    return tuple(
        standing.id for standing in others
        if registry.rules.admission(chat.requirements, standing) is None
        and first_block(replace(situation, standing=standing)) is None
    )

