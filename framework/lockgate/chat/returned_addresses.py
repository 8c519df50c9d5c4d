"""Addresses that a tool gave to the model, echoes of the call left out.

Many tools repeat what they were asked, or build addresses out of it. Without this rule a model could turn any address
it makes up into one that a tool returned: it would only have to search for it.

The rule. A returned address is an echo when the arguments name its host and anything else in it stems from them too:

* The host is named when its registered name (``example.org``) stands in the arguments: as it is, with other marks
  between or left out, over several arguments, or with its labels in different ones. An IP address is named as soon as
  they hold anything that can be read as one, a host of one label when it stands alone or behind a slash.
* Anything else: labels in front of the registered name, the port, path and query. A word of them stems from the
  arguments when it is one of theirs, is put together from theirs, or shares five characters in a row with them; two
  in scripts that write words or syllables. Marks between words, case, accents and escapes count for nothing. A single
  customary label (``www``, ``docs``) says no more than the choice of a registered name does, and is passed over.
* A registered host can carry nothing, so a search for ``example.org`` may find it and ``example.org/about``; alone it
  is an echo only when it stood in the arguments as an address with its scheme, or in a chat that restricts where its
  data goes.
* In such a chat what the model wrote in earlier calls of the run counts like arguments, too: a tool may have kept it.
* An argument that is an address given to the model before carries nothing either: the links of a page that was given
  are given, whatever words they share with its address. It names its host, though, for all other arguments.
* What cannot be known is an echo: arguments or addresses escaped more than six times, IP addresses and hosts of one
  label once they are named, everything on a named host once comparing has cost more than its bound.

What it costs. ``site:docs.python.org asyncio`` gives no page of that host with ``asyncio`` in its address; nor does the
name of another subdomain any page below it. The model has to be given these in another way; likewise links of a page
that the model chose itself, where they share words with the address of that page.

What it leaves. Text in an address on a host that the arguments do not name (a hit for ``python asyncio`` is one), a
host whose ending only the tool knew; text that the tool enciphered, turned round or wrote in another script; shreds of
under five letters glued to letters of the tool's own; the choice among addresses given before, up to eight a call; what
a tool kept from a run before this one.
"""

import re
from collections.abc import Container, Iterable, Sequence
from itertools import chain, islice
from typing import NamedTuple, TypeVar

from lockgate.addresses import AddressError, WebAddress, find_addresses
from lockgate.chat.plain_text import (
    LETTERS,
    is_made_of,
    pieces,
    plain,
    strings_of,
    texts_of_arguments,
    variants,
    words,
)

__all__ = ["returned_addresses", "strings_of"]

T = TypeVar("T")

_MAX_FOUND = 20_000
"""Addresses of one result that are looked at; further ones are not given."""
_MAX_COMPARED = 100_000
"""Characters of arguments that are compared closely. In longer ones naming the host is enough to make an echo."""
_MAX_SEARCHED = 60_000_000  # characters searched for hosts and addresses, over all addresses of a result
_MAX_STEPS = 200_000  # places at which the parts of a host are tried, likewise
_MAX_FALSE_HITS = 50
_MAX_GIVEN_BEFORE = 8

_CUSTOMARY = frozenset({
    "www", "api", "blog", "community", "de", "dev", "developer", "developers", "doc", "docs", "en", "es", "forum", "fr",
    "help", "it", "ja", "learn", "news", "pt", "ru", "shop", "support", "wiki", "zh",
})  # fmt: skip
"""Labels that many hosts have in front of their registered name."""

_SHORT_LENGTHS = range(1, LETTERS)
_MARKS = re.compile(r"[!\"#$%'()*+,\-.:;<>@\[\]^_`{|}~]{3,}")
_IP_FORM = re.compile(r"[0-9]+(?:\.(?:0x)?[0-9a-f]+)+|0x[0-9a-f]|[0-9]{6}|(?:[0-9a-f]{0,4}:){2,}[0-9a-f]?")

_TWO_PART_SUFFIXES = frozenset({
    "ac.at", "co.at", "or.at", "com.au", "net.au", "org.au", "com.br", "ac.jp", "co.jp", "ne.jp", "or.jp", "co.in",
    "co.kr", "com.mx", "co.nz", "com.cn", "com.tr", "ac.uk", "co.uk", "gov.uk", "org.uk", "co.za",
})  # fmt: skip
"""Endings under which names are registered one part further left; the frequent ones. A missing one errs safely."""


def returned_addresses(
    result_strings: Iterable[str],
    arguments: object,
    given: Container[object] = frozenset(),
    *,
    earlier: Sequence[str] = (),
    strict: bool = False,
) -> frozenset[str]:
    """Return the request keys of the addresses that a tool gave to the model; the rule stands above.

    Takes time in proportion to the result and the arguments.

    Args:
        result_strings: Every text of the result, texts inside JSON included.
        arguments: The arguments of the call as a JSON value.
        given: Tells with ``in`` whether an address was given to the model before the call.
        earlier: Texts that the model wrote in earlier calls, which a tool may have kept: they count like arguments.
        strict: A host that the arguments name is an echo even with nothing behind it: looking it up would tell it.
    """
    found: dict[str, None] = {}
    for text in result_strings:
        if "://" in text:
            found.update(dict.fromkeys(find_addresses(text)))
    if not found:
        return frozenset()
    echoes = _Echoes([*texts_of_arguments(arguments), *earlier], given, strict=strict)
    gifts: set[str] = set()
    for written in islice(found, _MAX_FOUND):
        try:
            address = WebAddress.parse(written)
        except AddressError:
            continue
        if not echoes.has(address):
            gifts.add(address.request_key)
    return frozenset(gifts)


class _Host(NamedTuple):
    """What is known of a host of the result.

    Attributes:
        verdict: Whether all its addresses are echoes, or None where the rest of each decides.
        front: The labels in front of the registered name that may carry something.
        names: The words of the registered name, and those of its ending.
        whole: All its words without anything between them.
        may_stand_alone: Whether the host with nothing behind it is no echo.
    """

    verdict: bool | None
    front: str = ""
    names: tuple[list[str], ...] = ()
    whole: str = ""
    may_stand_alone: bool = False


class _Echoes:
    """The arguments of one call, ready for telling whether an address was made of them."""

    def __init__(self, written: Iterable[str], given: Container[object], *, strict: bool) -> None:
        self._strict = strict
        order = list(written)
        texts = list(dict.fromkeys(order))
        forms = [plain(text) for text in texts]
        plain_order = _in_order(order, texts, [form.text for form in forms])
        before = _given_before(texts, given)
        self._hosts: dict[str, _Host] = {}
        self._own_hosts = {address.host for address in before.values()}
        self._unknown = not all(form.settled for form in forms)
        self._hidden = any(form.hidden for form in forms)
        self._too_long = sum(len(form.text) for form in forms) > _MAX_COMPARED
        searching = _Bound(_MAX_SEARCHED)
        self._names = _HostNames([form.text for form in forms], plain_order, searching)
        data = [
            plain(before[text].fragment).text if text in before else form.text
            for text, form in zip(texts, forms, strict=True)
        ]
        self._marks = any(_MARKS.search(text) for text in data)
        cut = [words(text) for text in data]
        self._runs = _runs(_in_order(order, texts, cut), searching)
        cut += [words(variant) for text in data for variant in variants(text)]
        self._words = frozenset(chain.from_iterable(cut))
        self._short_words = frozenset(word for word in self._words if len(word) < LETTERS)
        self._pieces = frozenset(chain.from_iterable(pieces("".join(row)) for row in cut if not self._too_long))
        self._lone_hosts = frozenset(_lone_hosts(texts)) if not self._too_long else frozenset[str]()

    def has(self, address: WebAddress) -> bool:
        """Tell whether an address of the result is an echo of the arguments."""
        host = self._hosts.get(address.host)
        if host is None:
            host = self._hosts[address.host] = self._host(address)
        if host.verdict is not None:
            return host.verdict
        path, query, port = address.path, address.query, address.port
        rest = plain(f"{host.front} {port or ''} {path} {query or ''}")
        if not rest.settled or (rest.hidden and self._hidden):
            return True
        if self._marks and _MARKS.search(rest.text):
            return True
        row = words(rest.text)
        if not row:
            return path != "/" or query is not None or not host.may_stand_alone
        whole = host.whole + "".join(words(rest.text.partition(" ")[2]))
        for name in host.names:
            row = _without(row, name)
        return self._holds(row) or any(run.holds(whole) for run in self._runs)

    def _host(self, address: WebAddress) -> "_Host":
        """Look at the host of an address: each one once."""
        own = address.host in self._own_hosts
        if self._unknown:
            return _Host(True)
        if not own and not self._names.name(address):
            return _Host(False)
        labels = _labels(address.host)
        if self._too_long or (not own and (address.ip is not None or len(labels) == 1)):
            return _Host(True)
        site = _registered(labels)
        front = labels[: len(labels) - len(site)]
        may_stand_alone = own or (not front and not self._strict and address.host not in self._lone_hosts)
        if own or (len(front) == 1 and front[0] in _CUSTOMARY):
            front = []
        names = (words(site[0]), words(".".join(site[1:])))
        return _Host(None, ".".join(front), names, "".join(words(".".join(labels))), may_stand_alone)

    def _holds(self, row: list[str]) -> bool:
        """Tell whether any of the words stems from the arguments."""
        if not self._words.isdisjoint(row) or not self._pieces.isdisjoint(pieces("".join(row))):
            return True
        short = self._short_words
        return bool(short) and any(len(word) > 1 and is_made_of(word, short, _SHORT_LENGTHS) for word in row)


class _HostNames:
    """Which hosts the arguments of a call name."""

    def __init__(self, texts: list[str], order: list[str], searching: "_Bound") -> None:
        cut = [words(text) for text in texts]
        self._texts = texts
        self._words = frozenset(chain.from_iterable(cut))
        self._heads = frozenset(row[0] for row in cut if row)
        self._lengths = sorted({len(word) for word in self._words if len(word) <= 63})  # a label has no more
        self._runs = _runs([words(text) for text in order] if len(order) > len(texts) else cut, searching)
        self._ip = any(_IP_FORM.search(text) for text in texts)
        self._named: dict[str, bool] = {}
        self._trying = _Bound(_MAX_STEPS)

    def name(self, address: WebAddress) -> bool:
        """Tell whether the arguments name the host of an address."""
        labels = _labels(address.host)
        key = ".".join(labels if address.ip is not None else _registered(labels))
        named = self._named.get(key)
        if named is None:
            named = self._named[key] = self._find(address, key)
        return named

    def _find(self, address: WebAddress, key: str) -> bool:
        row = words(key)
        if address.ip is not None:
            return self._ip or self._words.issuperset(row)
        name, dot, ending = key.partition(".")
        if not dot:
            slashed = f"/{name}"
            return any(text.strip() == name or slashed in text.replace("\\", "/") for text in self._texts)
        last = words(ending)
        if not last:
            return True
        if not self._is_made(last[-1]):
            return False
        if any(run.holds("".join(row), whole=True) for run in self._runs):
            return True
        return last[0] in self._heads and self._words.issuperset(last) and all(map(self._is_made, words(name)))

    def _is_made(self, word: str) -> bool:
        """Tell whether a part of a host is one word of the arguments, or several in a row."""
        if word in self._words:
            return True
        if not self._trying.allows(len(word) * len(self._lengths)):
            return True
        return is_made_of(word, self._words, self._lengths)


class _Bound:
    """How much work may still be done."""

    def __init__(self, work: int) -> None:
        self._left = work

    def allows(self, work: int) -> bool:
        """Count some work; tell whether it is still within the bound."""
        self._left -= work
        return self._left >= 0


class _Run:
    """The words of all arguments without anything between them."""

    def __init__(self, cut: list[list[str]], searching: _Bound) -> None:
        self._text = "".join(chain.from_iterable(cut))
        self._searching = searching
        starts = range(len(self._text) - LETTERS, -1, -1) if len(self._text) <= _MAX_COMPARED else ()
        self._first = {self._text[start : start + LETTERS]: start for start in starts}
        self._ends: set[int] = set()
        end = 0
        for word in chain.from_iterable(cut):
            end += len(word)
            self._ends.add(end)

    def holds(self, text: str, *, whole: bool = False) -> bool:
        """Tell whether a text stands here; a whole one ends where a word does (not ``githubcom`` in "GitHub commits").

        True, too, for what is no longer worth the search.
        """
        at = -1
        if self._first and len(text) >= LETTERS:
            first = self._first.get(text[:LETTERS])
            if first is None or text[-LETTERS:] not in self._first:
                return False
            at = first - 1
        for _ in range(_MAX_FALSE_HITS):
            start, at = at, self._text.find(text, at + 1)
            if not self._searching.allows(len(self._text) if at < 0 else at - start):
                return True
            if at < 0 or not whole or at + len(text) in self._ends:
                return at >= 0
        return True


def _in_order(order: list[str], texts: list[str], of_texts: list[T]) -> list[T]:
    """Return what was made of the texts in the order in which they were written, those that stand there twice as well.

    A tool may put an address together out of pieces, of which some are the same.
    """
    if len(order) == len(texts):
        return of_texts
    by_text = dict(zip(texts, of_texts, strict=True))
    return [by_text[text] for text in order]


def _runs(cut: list[list[str]], searching: _Bound) -> list[_Run]:
    """Return the words of the arguments in their order, and with the last argument first."""
    return [_Run(order, searching) for order in ((cut, cut[::-1]) if len(cut) > 1 else (cut,))]


def _given_before(texts: list[str], given: Container[object]) -> dict[str, WebAddress]:
    """Return the arguments that are addresses given before and say nothing else; none where there are many."""
    whole: dict[str, WebAddress] = {}
    for text in texts:
        if text.lstrip()[:4].lower() == "http":
            try:
                whole[text] = WebAddress.parse(text.strip())
            except AddressError:
                continue
    if len(whole) > _MAX_GIVEN_BEFORE:
        return {}
    return {text: address for text, address in whole.items() if _says(text, address) and address.text in given}


def _says(text: str, address: WebAddress) -> bool:
    """Tell whether a text says no more than its request key and a fragment."""
    said = plain(text.strip().partition("#")[0])
    return said.settled and not said.hidden and words(said.text) == words(plain(address.text).text)


def _lone_hosts(texts: list[str]) -> Iterable[str]:
    """Yield the hosts of addresses in the arguments, or put together out of them, that are a scheme and a host only."""
    joined = ["".join(texts), "".join(reversed(texts))] if len(texts) > 1 else []
    for text in (*texts, *joined):
        for written in find_addresses(text):
            try:
                address = WebAddress.parse(written)
            except AddressError:
                continue
            if address.path == "/" and address.query is None:
                yield address.host


def _labels(host: str) -> list[str]:
    """Return the parts of a host, plain, without the ``www`` that may stand in front of any."""
    labels = plain(host).text.split(".")
    return labels[1:] if len(labels) > 2 and labels[0] == "www" else labels


def _registered(labels: list[str]) -> list[str]:
    """Return the parts that somebody has to have registered: a name and its public ending."""
    return labels[-3:] if ".".join(labels[-2:]) in _TWO_PART_SUFFIXES else labels[-2:]


def _without(row: list[str], name: list[str]) -> list[str]:
    """Leave out a part of the host's own name once: a page about its own site says nothing by that."""
    if not name or name[0] not in row:
        return row
    for start in range(len(row) - len(name) + 1):
        if row[start : start + len(name)] == name:
            return row[:start] + row[start + len(name) :]
    return row
