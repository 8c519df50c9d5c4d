"""Why a tool is there or not: the table of checks with each verdict, and what lies beyond the table."""

from collections.abc import Iterable
from dataclasses import dataclass

from lockgate.chat.values import ChatThread
from lockgate.policy import ProviderStanding
from lockgate.registry.checks import CHECKS, Block
from lockgate.registry.preparation import Preparation
from lockgate.registry.registry import Registry
from lockgate.tools.definition import Components, ToolActivation


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
        verdicts: Every check in order.
        selected: Whether the chat selects it; None where it offers itself.
        beyond: What lies outside the table, in a sentence; empty when there is nothing to say.
        offered: Whether a request now would offer it.
    """

    tool_id: str
    verdicts: tuple[Verdict, ...]
    selected: bool | None
    beyond: str
    offered: bool


async def explain(  # noqa: PLR0917 - the question has that many parts
    registry: Registry,
    preparation: Preparation,
    tool_id: str,
    chat: ChatThread,
    standing: ProviderStanding,
    component: Components,
    selected: Iterable[str],
) -> Explanation:
    """Explain a tool in a chat, for a provider, in a component."""
    situation = await registry.situation(tool_id, standing, component, chat.requirements)
    verdicts = tuple(Verdict(name, check(situation)) for name, check in CHECKS)
    passes = all(verdict.block is None for verdict in verdicts)
    registered = situation.registered
    chosen = tuple(selected)
    if registered is None:
        return Explanation(tool_id, verdicts, None, "", offered=False)
    is_context = registered.definition.activation is ToolActivation.CONTEXT
    is_selected = None if is_context else tool_id in registry.expand_selection(chosen)
    if is_selected is False:
        text = f"It is not selected: select {registry.get_collection_id(tool_id)!r}."
        return Explanation(tool_id, verdicts, is_selected, text, offered=False)
    if not passes:
        return Explanation(tool_id, verdicts, is_selected, "", offered=False)
    offer = await preparation.prepare(chat, standing, component, chosen)
    left_out = offer.left_out.get(tool_id)
    beyond = left_out.why if left_out else ""
    return Explanation(tool_id, verdicts, is_selected, beyond, offered=offer.find(tool_id) is not None)
