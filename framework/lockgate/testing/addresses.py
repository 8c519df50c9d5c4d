"""Addresses given to the model, for tests that make a tool's context by hand."""

from lockgate.chat.addresses import ChatAddresses, key_of
from lockgate.chat.values import ChatThread


def addresses_given(*addresses: str) -> ChatAddresses:
    """Return what a tool sees as ``context.addresses`` in a chat in which exactly these were given to the model.

    Raises:
        ValueError: One of them is no web address.
    """
    keys = {address: key_of(address) for address in addresses}
    wrong = [address for address, key in keys.items() if key is None]
    if wrong:
        raise ValueError(f"{wrong[0]!r} is no web address; right is one such as https://example.org/page.")
    return ChatAddresses(ChatThread().with_tool_addresses(key for key in keys.values() if key is not None))
