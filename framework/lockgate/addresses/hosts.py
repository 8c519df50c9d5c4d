"""Hosts in one spelling: lower case, punycode, no root dot; refused wherever two parsers would see different hosts.

The rules are those of the WHATWG URL standard, narrowed: numbers that only some resolvers take for IPv4 addresses,
percent signs, zone identifiers and foreign digits are refused instead of read.
"""

import re
from ipaddress import AddressValueError, IPv4Address, IPv6Address

from lockgate.errors import UsageError


class AddressError(UsageError):
    """A web address that cannot be used.

    The message never repeats the address: it may be shown to a model, for which a repeated address would count as
    one that was given to it.

    Args:
        reason: What is wrong, as the end of a sentence.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(f"This web address cannot be used: {reason}.")
        self.reason = reason


_MAX_WRITTEN = 255  # more than a name may have (RFC 1035); keeps the cost of mapping a name small
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_STRICT_IPV4 = re.compile(r"(?:(?:0|[1-9][0-9]{0,2})\.){3}(?:0|[1-9][0-9]{0,2})")
_DOTS = re.compile("[.\u3002\uff0e\uff61]")  # the full stops that UTS 46 takes for one


def canonical_host(written: str) -> str:
    """Return the one spelling of a host.

    Args:
        written: The host as it stands in an address, an IPv6 literal in its brackets.

    Returns:
        A lower-case name in punycode, a dotted IPv4 address, or an IPv6 address in its brackets.

    Raises:
        AddressError: The host is empty, wrong, or one that parsers read differently.
    """
    if not written:
        raise AddressError("it names no host")
    if written.startswith("["):
        return _ipv6(written)
    if "[" in written or "]" in written:
        raise AddressError("brackets belong around an IPv6 address only")
    if "%" in written:
        raise AddressError("a percent sign stands in its host")
    if len(written) > _MAX_WRITTEN:
        raise AddressError("its host is too long")
    host = written.lower() if written.isascii() else _mapped(written)
    rooted = host.endswith(".")
    labels = (host[:-1] if rooted else host).split(".")
    if _NUMBER.fullmatch(labels[-1]):
        if rooted or not written.isascii() or not _STRICT_IPV4.fullmatch(host):
            raise AddressError("its host is a number in a form that programs read differently")
        return _ipv4(host)
    for label in labels:
        _check_label(label)
    name = ".".join(labels)
    if len(name) > 253:
        raise AddressError("its host is too long")
    return name


def _ipv6(written: str) -> str:
    if not written.endswith("]") or not written.isascii():
        raise AddressError("its IPv6 address is not closed by a bracket")
    inside = written[1:-1]
    if "%" in inside:
        raise AddressError("its IPv6 address has a zone identifier")
    try:
        address = IPv6Address(inside)
    except (AddressValueError, ValueError):
        raise AddressError("what stands in brackets is no IPv6 address") from None
    mapped = address.ipv4_mapped
    if mapped is not None:  # Python versions print these differently
        number = int(mapped)
        return f"[::ffff:{number >> 16:x}:{number & 0xFFFF:x}]"
    return f"[{address.compressed}]"


def _ipv4(host: str) -> str:
    try:
        return str(IPv4Address(host))
    except ValueError:
        raise AddressError("its host is no IPv4 address") from None


def _mapped(written: str) -> str:
    """Map a name by UTS 46 and IDNA 2008. Full stops of other scripts become dots, fullwidth letters plain ones."""
    import idna  # httpx depends on it; its tables are loaded for the rare name that is not ASCII

    rooted = bool(_DOTS.match(written[-1]))
    try:
        host = idna.encode(written, uts46=True, std3_rules=True).decode("ascii").lower()
    except (UnicodeError, ValueError, IndexError):
        raise AddressError("its host is no valid internationalized name") from None
    return host if host.endswith(".") or not rooted else f"{host}."


def _check_label(label: str) -> None:
    if not label:
        raise AddressError("a part of its host is empty")
    if not _LABEL.fullmatch(label):
        raise AddressError("its host has characters or lengths that no host name has")
    if label.startswith("xn--"):
        _check_punycode(label)


def _check_punycode(label: str) -> None:
    import idna

    try:
        same = idna.alabel(idna.ulabel(label)).decode("ascii") == label
    except (UnicodeError, ValueError, IndexError):
        same = False
    if not same:
        raise AddressError("its host has punycode that stands for nothing")
