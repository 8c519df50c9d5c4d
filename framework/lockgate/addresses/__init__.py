"""Web addresses: the one strict parser, request keys, finding addresses in text. Nothing here resolves or connects."""

from lockgate.addresses.finding import find_addresses
from lockgate.addresses.hosts import AddressError
from lockgate.addresses.parsing import MAX_ADDRESS_LENGTH, WebAddress, request_key

__all__ = ["MAX_ADDRESS_LENGTH", "AddressError", "WebAddress", "find_addresses", "request_key"]
