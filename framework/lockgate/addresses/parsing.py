"""The strict parser: an address is refused where two programs could see different hosts in it.

Everything that fetches, compares or shows an address works on the parser's result, never on the text that arrived.
"""

import re
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address

from lockgate.addresses.hosts import AddressError, canonical_host

MAX_ADDRESS_LENGTH = 8192
"""Characters an address may have."""

_HEAD = re.compile(r"(https?)://([^/?#]*)", re.IGNORECASE)
_FORBIDDEN = re.compile(r"[\x00-\x20\x7f-\x9f\\]|\s|[\ud800-\udfff]")
_PORT = re.compile(r"[0-9]{1,5}")
_DEFAULT_PORTS = {"http": 80, "https": 443}
_TO_ESCAPE_IN_PATH = re.compile(r"%(?![0-9A-Fa-f]{2})|[\"<>^`{|}]|[^\x00-\x7f]+")
_TO_ESCAPE_IN_QUERY = re.compile(r"%(?![0-9A-Fa-f]{2})|[\"'<>^`{|}]|[^\x00-\x7f]+")
_ONE_DOT = frozenset({".", "%2e"})
_TWO_DOTS = frozenset({"..", ".%2e", "%2e.", "%2e%2e"})


@dataclass(frozen=True, slots=True)
class WebAddress:
    """A web address in its one spelling. Made by :meth:`parse` only.

    Attributes:
        scheme: ``http`` or ``https``.
        host: Lower-case punycode name, dotted IPv4, or IPv6 in brackets.
        port: None for the scheme's own port.
        path: Escaped, without dot segments; at least ``/``.
        query: Escaped, without the question mark; None where there is none.
        text: The whole address as it is requested; without fragment, which no server ever sees.
        fragment: What stood behind ``#``, escaped; for showing only.
    """

    scheme: str
    host: str
    port: int | None
    path: str
    query: str | None
    text: str
    fragment: str = ""

    @classmethod
    def parse(cls, text: str) -> "WebAddress":
        """Read an address.

        Args:
            text: Exactly the address; blanks around it are refused, too.

        Raises:
            AddressError: With a reason that does not repeat the address.
        """
        if len(text) > MAX_ADDRESS_LENGTH:
            raise AddressError(f"it has more than {MAX_ADDRESS_LENGTH} characters")
        if _FORBIDDEN.search(text):
            raise AddressError("it holds a blank, a control character or a backslash")
        head = _HEAD.match(text)
        if head is None:
            raise AddressError("it does not begin with http:// or https://")
        scheme = head[1].lower()
        host, port = _authority(head[2], scheme)
        before, _, fragment = text[head.end() :].partition("#")
        path, mark, query_text = before.partition("?")
        path = _without_dot_segments(_TO_ESCAPE_IN_PATH.sub(_escape, path))
        query = _TO_ESCAPE_IN_QUERY.sub(_escape, query_text) if mark else None
        whole = f"{scheme}://{host}{'' if port is None else f':{port}'}{path}"
        whole = whole if query is None else f"{whole}?{query}"
        return cls(scheme, host, port, path, query, whole, _TO_ESCAPE_IN_QUERY.sub(_escape, fragment))

    @property
    def ip(self) -> IPv4Address | IPv6Address | None:
        """The address the host is a literal of, or None for a name. A literal is never handed to a resolver."""
        try:
            return ip_address(self.host.strip("[]"))
        except ValueError:
            return None

    @property
    def effective_port(self) -> int:
        """The port to connect to."""
        return _DEFAULT_PORTS[self.scheme] if self.port is None else self.port

    @property
    def origin(self) -> str:
        """Scheme, host and port: what a browser calls the origin."""
        return f"{self.scheme}://{self.host}:{self.effective_port}"

    @property
    def request_key(self) -> str:
        """What the server is asked for: two addresses with the same key are the same address."""
        return self.text


def request_key(address: str | WebAddress) -> str:
    """Return what two addresses have in common exactly when they ask a server for the same.

    Scheme, host and default port count regardless of spelling, path and query exactly, the fragment not at all.

    Raises:
        AddressError: The text is no usable address.
    """
    return (WebAddress.parse(address) if isinstance(address, str) else address).request_key


def _authority(written: str, scheme: str) -> tuple[str, int | None]:
    if "@" in written:
        raise AddressError("it carries a user name")
    if written.startswith("["):
        host, bracket, rest = written.partition("]")
        host += bracket
    else:
        host, colon, port_text = written.partition(":")
        rest = colon + port_text
    if not rest:
        return canonical_host(host), None
    if not rest.startswith(":") or not _PORT.fullmatch(rest[1:]) or not 1 <= int(rest[1:]) <= 65535:
        raise AddressError("its port is no number from 1 to 65535")
    port = int(rest[1:])
    return canonical_host(host), None if port == _DEFAULT_PORTS[scheme] else port


def _escape(found: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in found[0].encode())


def _without_dot_segments(path: str) -> str:
    """Remove ``.`` and ``..`` as RFC 3986 (5.2.4) and the WHATWG standard do, escaped dots included."""
    if "." not in path and "%2" not in path:
        return path or "/"
    segments = path.split("/")[1:]
    kept: list[str] = []
    for segment in segments:
        low = segment.lower()
        if low in _TWO_DOTS:
            if kept:
                kept.pop()
        elif low not in _ONE_DOT:
            kept.append(segment)
    if segments and segments[-1].lower() in _ONE_DOT | _TWO_DOTS:
        kept.append("")
    return "/" + "/".join(kept)
