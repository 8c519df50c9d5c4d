"""What a run does while its chat restricts where data goes: how often, and what the model wrote meanwhile."""

from collections.abc import Callable, Container, Mapping
from typing import Any

from lockgate.chat.addresses import key_of, written_by_model
from lockgate.chat.plain_text import texts_of_arguments
from lockgate.chat.values import ChatThread
from lockgate.policy import ChatRequirements, OutboundDataRestriction, ToolOutboundData
from lockgate.registry.preparation import Offered

MAX_WRITTEN = 10_000
"""Characters of arguments that are kept of the calls of one run. After more, results give no address any more."""


class RestrictedCalls:
    """The calls of one run that were made under a restriction.

    Args:
        most: Returns how many may leave the configured services.
        demanded: Returns what counts for the chat now.
    """

    def __init__(self, most: Callable[[], int], demanded: Callable[[], ChatRequirements]) -> None:
        self._most, self._demanded = most, demanded
        self._made = 0
        self._made_up: frozenset[str] | None = None
        self.written: tuple[str, ...] = ()
        """Texts of arguments so far, addresses that were given left out: a tool may have kept them."""
        self.has_written_too_much = False
        """Whether the model wrote more than is kept, so that nobody can tell what a result gives."""

    @property
    def is_restricted(self) -> bool:
        """Whether the chat restricts where its data goes, now."""
        return self._demanded().outbound is not OutboundDataRestriction.UNRESTRICTED

    def _counts(self, offered: Offered) -> bool:
        leaves = offered.registered.definition.outbound_data > ToolOutboundData.CONFIGURED_SERVICE
        return leaves and self.is_restricted

    def too_many(self, offered: Offered) -> str | None:
        """Say that no further call may choose an address, or None: each choice among given ones tells a little."""
        if self._made < self._most() or not self._counts(offered):
            return None
        return (
            f"The tool {offered.id!r} cannot be called again in this answer: {self._most()} calls are the limit for "
            f"tools that leave the configured services while the chat restricts where its data goes (demanded by "
            f"{self._demanded().outbound_by}). Answer with what you have."
        )

    def begins(self, offered: Offered, arguments: Mapping[str, Any], given: Container[object]) -> None:
        """Count a call that is about to run, and keep what the model wrote for it."""
        if not self.is_restricted:
            return
        self._made += self._counts(offered)
        if self.has_written_too_much:
            return
        written = (text for text in texts_of_arguments(arguments) if not _says_nothing(text.strip(), given))
        self.written = tuple(dict.fromkeys((*self.written, *written)))
        if sum(map(len, self.written)) > MAX_WRITTEN:
            self.written, self.has_written_too_much = (), True

    def made_up(self, chat: ChatThread) -> frozenset[str]:
        """Return the request keys of addresses that the model wrote in earlier turns; worked out once a run.

        A tool may have kept them, or read them in the chat. Those that the sources of a turn name came from tools.
        """
        if self._made_up is None:
            self._made_up = written_by_model(chat)
        return self._made_up


def _says_nothing(text: str, given: Container[object]) -> bool:
    """Tell whether a text is a given address in its plainest spelling: a detour in it would say something."""
    return key_of(text) == text and text in given
