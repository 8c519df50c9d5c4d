"""Addresses that a tool gave to the model, echoes of the call left out.

Many tools repeat what they were asked. Without this rule a model could turn any address it makes up into one that a
tool returned: it would only have to search for it.
"""

import html
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import unquote

from lockgate.addresses import AddressError, WebAddress, find_addresses

_ROUNDS = 6  # how often a text is unescaped; each way of escaping that is put round another one takes a round
_JSON_ESCAPE = re.compile(r"\\u([0-9A-Fa-f]{4})|\\([\"\\/])")
_SURROGATES = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_PUNYCODE = re.compile(r"xn--([a-z0-9-]{1,59})")
_WORD_END = re.compile(r"[\s<>\"'`{}|\\^()\[\],;]+")
_WORD = re.compile(r"\w+")
_ESCAPED = re.compile(r"[%&\\+]")
_GOES_ON = re.compile(r"[&;)*=]|,(?!_)")  # not "Paris,_Texas" behind "Paris"
_MAX_MARKS = 200
_MAX_COMPARED = 8_000
"""Characters of arguments that are compared closely. In longer ones naming the host is enough to make an echo."""
_GLUE = ("", " ", "/", ".", "?", "&", "=", "-", "_")  # what a tool may put between two arguments

_TWO_PART_SUFFIXES = frozenset({
    "ac.at", "co.at", "or.at", "com.au", "net.au", "org.au", "com.br", "ac.jp", "co.jp", "ne.jp", "or.jp", "co.in",
    "co.kr", "com.mx", "co.nz", "com.cn", "com.tr", "ac.uk", "co.uk", "gov.uk", "org.uk", "co.za",
})  # fmt: skip
"""Endings under which names are registered one part further left; the frequent ones."""


def strings_of(value: object, *, names: bool = True) -> Iterator[str]:
    """Yield every text inside a JSON value. Depth is no limit.

    Args:
        value: The JSON value.
        names: Whether names of members count as texts, too.
    """
    waiting: list[object] = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, Mapping):
            for name, inside in list(item.items())[::-1]:
                waiting += (inside, name) if names else (inside,)
        elif isinstance(item, list | tuple):
            waiting += reversed(item)


def _texts_of_arguments(arguments: object) -> Iterator[str]:
    """Yield all that the model chose: texts, numbers, names of members below the schema's own."""
    waiting: list[object] = list(arguments.values())[::-1] if isinstance(arguments, Mapping) else [arguments]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, int | float) and not isinstance(item, bool):
            yield repr(item)
        elif isinstance(item, Mapping):
            for name, inside in list(item.items())[::-1]:
                waiting += (inside, name)
        elif isinstance(item, list | tuple):
            waiting += reversed(item)


def returned_addresses(result_strings: Iterable[str], arguments: object) -> frozenset[str]:
    """Return the request keys of the addresses that a tool gave to the model.

    An address that stands in the arguments of the call is no gift: whole or as a part, with or without its scheme,
    put together from several arguments, escaped (JSON, HTML, percent), in another case, in punycode. A host alone
    that somebody has to have registered (``example.org``) cannot carry anything, so a search for it may find it.

    Args:
        result_strings: Every text of the result, texts inside JSON included.
        arguments: The arguments of the call as a JSON value.
    """
    found: dict[str, None] = {}
    for text in result_strings:
        if "://" in text:
            found.update(dict.fromkeys(find_addresses(text)))
    if not found:
        return frozenset()
    echoes = _Echoes(arguments)
    gifts: set[str] = set()
    for written in found:
        try:
            address = WebAddress.parse(written)
        except AddressError:
            continue
        if not echoes.has(written, address):
            gifts.add(address.request_key)
    return frozenset(gifts)


class _Echoes:
    """The arguments of one call in all the forms in which an address may hide there."""

    def __init__(self, arguments: object) -> None:
        given = list(dict.fromkeys(_texts_of_arguments(arguments)))
        plain = [_plain(text) for text in given]
        joined = set(plain)
        self._too_long = sum(map(len, plain)) > _MAX_COMPARED
        if len(plain) > 1:
            glues = ("",) if self._too_long else _GLUE
            joined.update(glue.join(order) for order in (plain, plain[::-1]) for glue in glues)
        self._plain = plain
        self._words = [_words(text) for text in plain]
        self._text = "\n".join(joined)
        self._bodies = _bodies((*given, *joined))
        self._hosts: dict[str, bool] = {}

    def has(self, written: str, address: WebAddress) -> bool:
        """Tell whether an address of the result stands in the arguments."""
        host = _plain(address.host)
        named = self._hosts.get(host)
        if named is None:
            named = self._hosts[host] = host in self._text
        if named and self._too_long:
            return True
        if not named and not self._bodies:
            return False
        body = _body(address)
        if body in self._bodies or self._goes_on_behind(body):
            return True
        if not named:
            return False
        if _plain(written) in self._text:
            return True
        if _is_registered_host_alone(address):
            return False
        return body in self._text or self._is_put_together(host, address)

    def _goes_on_behind(self, body: str) -> bool:
        """Tell whether an argument is followed by what stood around it, as in ``query=ADDRESS&page=1``."""
        for count, mark in enumerate(_GOES_ON.finditer(body)):
            before = body[: mark.start()]
            if count == _MAX_MARKS:
                return True
            if before.rstrip("/") in self._bodies and not (mark[0] in "&;=" and "?" in before):
                return True
        return False

    def _is_put_together(self, host: str, address: WebAddress) -> bool:
        """Tell whether one argument holds an address of this host, and others all the words of the rest."""
        rest = _words(_plain(f"{address.path} {address.query or ''}"))
        for index, text in enumerate(self._plain):
            if not any(f"{scheme}://{host}" in text for scheme in ("http", "https")):
                continue
            own = self._words[index]
            others = set[str]().union(*self._words[:index], *self._words[index + 1 :])
            if rest - own and rest <= own | others:
                return True
        return False


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text))


def _bodies(texts: Iterable[str]) -> set[str]:
    """Return the bodies of all addresses of some texts, those written without a scheme too."""
    bodies: set[str] = set()
    written: dict[str, None] = {}
    bare: dict[str, None] = {}
    for text in texts:
        written.update(dict.fromkeys(find_addresses(text)))
        words = _WORD_END.split(text)
        bare.update((f"https://{word.rstrip('.:!?*_~')}", None) for word in words if "." in word and "://" not in word)
    for candidates, any_host in ((written, True), (bare, False)):
        for candidate in candidates:
            try:
                address = WebAddress.parse(candidate)
            except AddressError:
                continue
            if any_host or not _is_registered_host_alone(address):
                bodies.add(_body(address))
    return bodies


def _body(address: WebAddress) -> str:
    """Return an address without scheme, plain, for comparing."""
    return _plain(address.text.partition("://")[2]).rstrip("/")


def _is_registered_host_alone(address: WebAddress) -> bool:
    if address.path != "/" or address.query is not None or address.ip is not None:
        return False
    labels = address.host.removeprefix("www.").split(".")
    return len(labels) <= (3 if ".".join(labels[-2:]) in _TWO_PART_SUFFIXES else 2)


def _plain(text: str) -> str:
    """Undo every way of escaping, fold case, widths and punycode, and drop what cannot be seen."""
    if text.isascii() and not _ESCAPED.search(text):
        return _PUNYCODE.sub(_unicode_label, text.lower()).casefold()
    for _ in range(_ROUNDS):
        before = text
        text = html.unescape(unquote(_SURROGATES.sub(_joined_pair, _JSON_ESCAPE.sub(_unescaped, text))))
        if text == before:
            break
    text = unicodedata.normalize("NFKC", text).casefold().replace("\u3002", ".").replace("+", " ")
    if not text.isascii():
        text = "".join(mark for mark in text if unicodedata.category(mark) != "Cf")
    return _PUNYCODE.sub(_unicode_label, text).casefold()


def _unescaped(found: re.Match[str]) -> str:
    return chr(int(found[1], 16)) if found[1] else found[2]


def _joined_pair(found: re.Match[str]) -> str:
    return found[0].encode("utf-16", "surrogatepass").decode("utf-16")


def _unicode_label(found: re.Match[str]) -> str:
    try:
        return found[1].encode().decode("punycode")
    except (UnicodeError, ValueError, OverflowError):
        return found[0]
