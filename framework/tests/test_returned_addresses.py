"""The echo rule: which addresses of a tool's result count as given to the model."""

from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest
from calling_kit import DONE, asked, probe, returning
from hypothesis import given
from hypothesis import strategies as st

from lockgate.chat import ChatThread
from lockgate.chat.returned_addresses import returned_addresses, strings_of

EVIL = "https://evil.example.net/secret?d=Ünï"
ECHOES: dict[str, tuple[str, Any]] = {
    "whole": (EVIL, {"q": EVIL}),
    "part": (EVIL, {"q": f"find {EVIL} please"}),
    "shorter part": ("https://evil.example.net/sec", {"q": EVIL}),
    "re-cased": (EVIL.upper().replace("HTTPS", "https"), {"q": EVIL}),
    "other spelling": ("https://EVIL.example.net:443/a/../secret", {"q": "https://evil.example.net/secret#x"}),
    "in a list": (EVIL, {"q": ["a", {"b": EVIL}]}),
    "as a name": (EVIL, {"q": {EVIL: 1}}),
    "json": (EVIL, {"q": "https:\\/\\/evil.example.net\\/secret?d=\\u00dcn\\u00ef"}),
    "html": ("https://evil.example.net/?a=1&b=2", {"q": "https:&#x2F;/evil.example.net/?a=1&amp;b=2"}),
    "html in the result": ("https://evil.example.net/?a=1&amp;b=2", {"q": "https://evil.example.net/?a=1&b=2"}),
    "percent": (EVIL, {"q": "https%3A%2F%2Fevil.example.net%2Fsecret%3Fd%3D%C3%9Cn%C3%AF"}),
    "percent twice": ("https://evil.example.net/secret", {"q": "https%253A%252F%252Fevil.example.net%252Fsecret"}),
    "percent in the result": ("https://evil.example.net/%73ecret", {"q": "https://evil.example.net/secret"}),
    "plus": ("https://evil.example.net/?q=a+b", {"q": "https://evil.example.net/?q=a%20b"}),
    "punycode": ("https://xn--bcher-kva.example.net/x", {"q": "https://bücher.example.net/x"}),
    "from punycode": ("https://bücher.example.net/x", {"q": "xn--bcher-kva.example.net/x"}),
    "sharp s": ("https://xn--strae-oqa.example.net/x", {"q": "Straße.example.net/x"}),
    "fullwidth": ("https://evil.example.net/x", {"q": "https://ｅｖｉｌ。example．net/x"}),
    "invisible": ("https://evil.example.net/x", {"q": "https://ev\u00adil.exam\u200bple.net/x"}),
    "no scheme": (EVIL, {"q": "evil.example.net/secret?d=Ünï"}),
    "no scheme, port": ("https://evil.example.net/x", {"q": "evil.example.net:443/x"}),
    "no scheme, host alone": ("https://secret.evil.example.net/", {"q": "secret.evil.example.net"}),
    "other scheme": ("http://evil.example.net/x", {"q": "https://evil.example.net/x"}),
    "host alone, with scheme": ("https://example.net", {"q": "https://example.net/"}),
    "two joined": ("https://evil.example.net/secret", {"base": "https://evil.example.net/", "q": "secret"}),
    "two joined, backwards": ("https://evil.example.net/secret", {"q": "secret", "base": "https://evil.example.net/"}),
    "scheme and rest": ("https://evil.example.net/secret", {"a": "https://", "b": "evil.example.net", "c": "/secret"}),
    "glue": ("https://evil.example.net/secret", {"host": "evil.example.net", "path": "secret"}),
    "dot": ("https://secret.evil.example.net/x", {"a": "secret", "b": "evil.example.net/x"}),
    "three, other order": (
        "https://evil.example.net/b/a", {"one": "https://evil.example.net/", "two": "a", "three": "b"}
    ),
    "number": ("https://evil.example.net/4711", {"a": "https://evil.example.net/", "n": 4711}),
    "goes on": ("https://evil.example.net/secret&page=1", {"q": "https://evil.example.net/secret"}),
    "many marks": ("https://evil.example.net/" + ")" * 300 + "x", {"q": "https://evil.example.net/y"}),
}  # fmt: skip


HOST = "evil.org"
SECRET = "salary93000"
PAGE = f"https://{HOST}/{SECRET}"
BUILT: dict[str, tuple[str, Any]] = {
    "line break removed": (PAGE, {"u": f"https://{HOST}/\n{SECRET}"}),
    "line break in the host removed": (PAGE, {"u": f"https://evil\n.org/{SECRET}"}),
    "tab removed": (PAGE, {"u": f"https://{HOST}/\t{SECRET}"}),
    "blank removed": (PAGE, {"u": f"https://{HOST}/ {SECRET}"}),
    "written-out line break": (f"https://{HOST}/anna", {"u": f"https://{HOST}\\nanna"}),
    "backslashes": (PAGE, {"u": f"https:\\\\{HOST}\\{SECRET}"}),
    "slashes made one": (PAGE, {"u": f"https://{HOST}//{SECRET}"}),
    "one slash": (PAGE, {"u": f"https:/{HOST}/{SECRET}"}),
    "blank to dash": (f"https://{HOST}/salary-anna", {"u": f"https://{HOST}/salary anna"}),
    "words run together": (f"https://{HOST}/abcd", {"u": f"https://{HOST}/ab cd"}),
    "one word cut up": (f"https://{HOST}/sal/ary/feed", {"u": f"https://{HOST}/salary"}),
    "cut off": (f"https://{HOST}/sal", {"u": f"https://{HOST}/salary"}),
    "part of a word": (f"https://{HOST}/xsalaryx", {"u": f"https://{HOST}", "q": "salary"}),
    "site and query": (f"https://{HOST}/?q={SECRET}", {"site": HOST, "q": SECRET}),
    "site and query under a path": (f"https://{HOST}/search?q={SECRET}", {"site": HOST, "q": SECRET}),
    "an argument between": (f"https://{HOST}/?q={SECRET}", {"site": HOST, "n": 3, "q": SECRET}),
    "subdomain and domain": (f"https://{SECRET}.{HOST}/", {"sub": SECRET, "domain": HOST}),
    "domain, something, subdomain": (f"https://{SECRET}.{HOST}/", {"domain": HOST, "x": "y", "sub": SECRET}),
    "part of a label": (f"https://user-{SECRET}.{HOST}/", {"domain": HOST, "x": "y", "sub": SECRET}),
    "two labels and a page": (f"https://docs.{SECRET}.{HOST}/a", {"domain": HOST, "x": "y", "sub": SECRET}),
    "name and ending apart": (PAGE, {"tld": "org", "q": SECRET, "name": "evil"}),
    "name in two": (PAGE, {"a": "ev", "tld": "org", "q": SECRET, "b": "il"}),
    "mail": (f"https://{SECRET}.{HOST}/", {"to": f"{SECRET}@{HOST}"}),
    "package name": (f"https://{HOST}/app/{SECRET}", {"package": f"org.evil.{SECRET}"}),
    "www added": (f"https://www.{HOST}/{SECRET}", {"u": PAGE}),
    "www removed": (PAGE, {"u": f"https://www.{HOST}/{SECRET}"}),
    "port added": (f"https://{HOST}:8443/{SECRET}", {"u": PAGE}),
    "a port": (f"https://{HOST}:4711/feed.xml", {"host": HOST, "port": 4711}),
    "a port removed": (PAGE, {"u": f"https://{HOST}:8443/{SECRET}"}),
    "feed": (f"{PAGE}/feed.xml", {"u": PAGE}),
    "json": (f"{PAGE}.json", {"u": PAGE}),
    "page": (f"{PAGE}?page=1", {"u": PAGE}),
    "feed of a subdomain": (f"https://{SECRET}.{HOST}/feed.xml", {"u": f"https://{SECRET}.{HOST}/"}),
    "path inserted": (f"https://{HOST}/p/{SECRET}", {"u": PAGE}),
    "moved": (f"https://{HOST}/robots.txt?from={SECRET}", {"u": PAGE}),
    "user name removed": (PAGE, {"u": f"https://u:p@{HOST}/{SECRET}"}),
    "query sorted": (f"https://{HOST}/?a=1&b={SECRET}", {"u": f"https://{HOST}/?b={SECRET}&a=1"}),
    "query cut": (f"https://{HOST}/?b={SECRET}", {"u": f"https://{HOST}/?b={SECRET}&utm=x"}),
    "refanged": (PAGE, {"u": f"hxxps://evil[.]org/{SECRET}"}),
    "root dot": (PAGE, {"u": f"https://{HOST}./{SECRET}"}),
    "a truth value": (f"https://{HOST}/true/all", {"u": HOST, "b": True}),
    "a number": (f"https://{HOST}/id47x", {"u": HOST, "n": 47}),
    "a number without its fraction": (f"https://{HOST}/47", {"u": HOST, "n": 47.0}),
    "a huge number": (f"https://{HOST}/{16**5000:x}", {"u": HOST, "n": 16**5000}),
    "accents removed": (f"https://{HOST}/muller", {"u": HOST, "q": "Müller"}),
    "a name of two signs": (f"https://{HOST}/%E6%9C%AA%E5%AE%89%E5%80%8D%E6%9C%AA", {"u": HOST, "q": "安倍"}),
    "emoji": (f"https://{HOST}/%F0%9F%98%80%F0%9F%98%81/feed", {"u": f"{HOST} 😀😁"}),
    "marks": (f"https://{HOST}/-.-../feed", {"u": f"https://{HOST}/-.-.."}),
    "marks only": (f"https://{HOST}/-.", {"u": f"https://{HOST}/-."}),
    "invisible marks": (f"https://{HOST}/%E2%80%8B%E2%80%8C/feed", {"u": f"https://{HOST}/\u200b\u200c"}),
    "words of its name": ("https://0-1-evil.org/0/1/1/feed", {"u": "https://0-1-evil.org/0/1/1"}),
    "schemes": (f"https://{HOST}/http/https/http/feed", {"u": f"https://{HOST}/http/https/http"}),
    "an IP address as a number": (f"http://203.0.113.7/{SECRET}", {"u": f"http://3405803783/{SECRET}"}),
    "an IP address from numbers": ("http://203.0.113.7/feed", {"u": [203, 0, 113, 7]}),
    "an IP address alone": ("http://203.0.113.7/", {"q": "203.0.113.7"}),
    "an IPv6 address": ("http://[2001:db8::7]/feed", {"q": "2001:db8:0::7"}),
    "a host of one label": (f"http://intranet/{SECRET}", {"host": "intranet", "q": SECRET}),
    "a host of one label in an address": ("http://intranet/feed", {"u": "http:\\\\intranet\\x"}),
    "escaped without end": (PAGE, {"u": f"https%{'25' * 9}3A//{HOST}/{SECRET}"}),
    "escaped without end in the result": (f"https://{HOST}/%{'25' * 9}41", {"u": HOST}),
    "a host with a name of no letters": ("https://_._/x", {"q": "x", "u": "_._"}),
}


@pytest.mark.parametrize(("address", "arguments"), (ECHOES | BUILT).values(), ids=ECHOES | BUILT)
def test_an_echo_is_no_gift(address: str, arguments: Any) -> None:
    """An address that a tool repeats, or makes out of what the model put into the call, is not given by it."""
    assert returned_addresses([f"No hits for {address} today"], arguments) == frozenset()
    assert returned_addresses([address], arguments) == frozenset()


GIFTS: dict[str, tuple[str, Any]] = {
    "no arguments": ("https://docs.example.net/x", {}),
    "a word of it": ("https://docs.example.net/python", {"q": "python"}),
    "words of it": ("https://docs.python.org/3/library/asyncio.html", {"q": "python asyncio"}),
    "words of it, and limits": ("https://docs.python.org/3/asyncio", {"q": "python asyncio", "limit": 3, "safe": True}),
    "German": ("https://de.wikipedia.org/wiki/M%C3%BCnchen", {"q": "Wetter in München de"}),
    "French": ("https://www.lemonde.fr/meteo/paris", {"q": "météo à Paris", "lang": "fr"}),
    "Russian": ("https://ru.wikipedia.org/wiki/Москва", {"q": "погода Москва"}),
    "Japanese": ("https://ja.wikipedia.org/wiki/東京", {"q": "東京 天気"}),
    "Arabic": ("https://ar.wikipedia.org/wiki/القاهرة", {"q": "القاهرة"}),
    "Hindi": ("https://hi.wikipedia.org/wiki/दिल्ली", {"q": "दिल्ली"}),
    "a name before another word": ("https://github.com/git/commits", {"q": "github commits"}),
    "a registered host": ("https://example.net/", {"q": "example.net"}),
    "a registered host under two": ("https://www.example.co.uk/", {"q": "example.co.uk"}),
    "a page of a registered host": ("https://example.org/about", {"q": "example.org"}),
    "a page about its own site": ("https://example.org/example-guide", {"q": "example.org"}),
    "a customary label": ("https://docs.example.net/3/tutorial", {"q": "site:docs.example.net install"}),
    "a link beside the page": ("https://docs.example.net/b", {"url": "https://docs.example.net/a", "limit": 20}),
    "the page's host": ("https://example.net/", {"url": "https://example.net/a"}),
    "a link to another host": ("https://other.net/a", {"url": "https://docs.example.net/a"}),
    "an IP address": ("http://203.0.113.7/printer", {"q": "printer", "limit": 10}),
    "an IPv6 address": ("http://[2001:db8::7]/printer", {"q": "printer"}),
    "a host of one label": ("http://wiki/deployment", {"q": "wiki deployment"}),
}  # fmt: skip


@pytest.mark.parametrize(("address", "arguments"), GIFTS.values(), ids=GIFTS)
def test_what_a_tool_found_is_a_gift(address: str, arguments: Any) -> None:
    """A hit stays one although the search named a word of it, or its host, or the page links to it."""
    assert len(returned_addresses([f"1. {address} (found)"], arguments)) == 1


COSTS: dict[str, tuple[str, Any]] = {
    "a search on one host": ("https://docs.python.org/3/library/asyncio.html", {"q": "site:docs.python.org asyncio"}),
    "a subdomain": ("https://mathematics.example.net/x", {"q": "site:mathematics.example.net"}),
    "a link that shares a word with a page nobody gave": ("https://example.net/a/b", {"url": "https://example.net/a"}),
}  # fmt: skip


@pytest.mark.parametrize(("address", "arguments"), COSTS.values(), ids=COSTS)
def test_what_the_rule_costs(address: str, arguments: Any) -> None:
    """Where a hit cannot be told from an address made of the arguments, it is not given."""
    assert returned_addresses([address], arguments) == frozenset()


START = "https://docs.example.net/guide/a?x=1"
LINKS = {
    "https://docs.example.net/",
    "https://docs.example.net/guide",
    "https://docs.example.net/guide/a/b",
    "https://docs.example.net/guide/a?x=1&page=2",
    "https://docs.example.net/guide/a,_b",
    "https://mail.example.net/guide/a",
}


@pytest.mark.parametrize("written", [START, f" {START}#part", START.replace("docs", "DOCS")])
def test_links_of_a_page_that_was_given_are_given(written: str) -> None:
    """The address of a page carries nothing once it was given, so its links may share any word with it."""
    assert returned_addresses(LINKS, {"url": written}, {START}) == LINKS
    assert "https://docs.example.net/guide/a/b" not in returned_addresses(LINKS, {"url": written})


@pytest.mark.parametrize(
    ("arguments", "address"),
    [
        ({"url": START, "q": "salary"}, "https://docs.example.net/guide/a?x=1&q=salary"),
        ({"url": START, "q": "salary"}, "https://docs.example.net/salary"),
        ({"url": START, "q": "salary"}, "https://salary.example.net/x"),
        ({"url": f"{START}#salary"}, "https://docs.example.net/salary"),
        ({"url": f"{START} salary"}, "https://docs.example.net/salary"),
        ({"url": "https://docs.example.net/salary/../guide/a?x=1"}, "https://docs.example.net/salary"),
        ({"url": "https://docs.example.net/\u200bguide/a?x=1"}, "https://docs.example.net/guide/b"),
        ({"urls": [f"{START}{'#' * n}" for n in range(9)]}, "https://docs.example.net/guide/b"),
    ],
)
def test_an_address_given_before_covers_nothing_else(arguments: Any, address: str) -> None:
    """What stands beside it, or hidden in its spelling, stems from the model; so does a choice among many."""
    assert returned_addresses([address], arguments, {START}) == frozenset()


async def test_in_a_run_the_addresses_given_so_far_decide() -> None:
    """Links of a page that an earlier result gave are given; those of one the model made up are not."""
    link = "https://docs.example.net/guide/a/b"
    for before, expected in (({START}, {START, link}), (set[str](), set[str]())):
        chat = ChatThread().with_tool_addresses(before)
        done = await asked([probe(url=START), DONE], returning(f"See {link} for more."), chat=chat)
        assert done.run.chat.tool_addresses == expected


def test_a_given_ip_address_gives_its_links() -> None:
    """A page on an IP address or a host of one label gives its links like any other."""
    for start in ("http://203.0.113.7/a", "http://wiki/a"):
        assert returned_addresses([f"{start}/b"], {"url": start}, {start}) == {f"{start}/b"}
        assert returned_addresses([f"{start}/b"], {"url": start}) == frozenset()


def test_gifts_are_request_keys_of_usable_addresses() -> None:
    """Keys are canonical; what the parser refuses is left out; fragments fall away."""
    texts = ["HTTPS://Docs.example/x#y", "http://user@docs.example/ http://127.1/", "http://docs.example"]
    assert returned_addresses(texts, {"q": "x"}) == {"https://docs.example/x", "http://docs.example/"}


def test_a_result_without_addresses_costs_nothing() -> None:
    """Arguments are not looked at when the result holds no address."""

    class Untouchable(dict[str, object]):
        def values(self) -> Any:
            raise AssertionError

    assert returned_addresses(["text", "http only"], Untouchable()) == frozenset()


def test_very_long_arguments_make_an_echo_of_every_host_they_name() -> None:
    """Texts too long to be compared closely cost the addresses of the hosts named in them, and no others."""
    text = "see example.net " + "word " * 25_000
    results = ["https://example.net/found", "https://other.net/found"]
    assert returned_addresses(results, {"text": text, "n": 1}) == {"https://other.net/found"}
    assert returned_addresses(results, {"text": text[:500], "n": 1}) == set(results)


def test_what_is_beyond_the_bounds_is_not_given() -> None:
    """Addresses of a result beyond 20,000 are not looked at, and are not given."""
    found = returned_addresses([f"https://example.net/{number}" for number in range(20_010)], {})
    assert len(found) == 20_000
    assert "https://example.net/20009" not in found


def test_work_beyond_the_bound_makes_an_echo_of_a_named_host(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once searching or trying costs too much, the answer is the safe one; hosts that are not named stay free."""
    place = "lockgate.chat.returned_addresses._MAX_"
    cases: dict[str, tuple[str, Any]] = {
        "SEARCHED": ("https://examples.net/codes", {"q": "example codes net"}),
        "STEPS": ("https://example.net/about", {"ending": "net", "q": ["exam", "about"]}),
    }
    for bound, (address, arguments) in cases.items():
        results = [address, "https://found.com/codes"]
        assert returned_addresses(results, arguments) == set(results)
        with monkeypatch.context() as patch:
            patch.setattr(place + bound, 0)
            assert returned_addresses(results, arguments) == set(results[1:])
    monkeypatch.setattr(f"{place}FALSE_HITS", 3)
    results = ["https://example.net/codes"]
    assert returned_addresses(results, {"q": "codes net " + "example.nets " * 5}) == set()
    assert returned_addresses(results, {"q": "codes net " + "example.nets " * 2}) == set(results)


def test_strings_of_a_json_value() -> None:
    """Texts come in order, names of members too unless they are not wanted; depth is no limit."""
    value = {"a": ["b", {"c": "d"}], "e": 1}
    assert list(strings_of(value)) == ["a", "b", "c", "d", "e"]
    assert list(strings_of(value, names=False)) == ["b", "d"]
    deep: list[Any] = ["x"]
    for _ in range(20_000):
        deep = [deep]
    assert list(strings_of(deep)) == ["x"]


@given(st.text(alphabet=st.characters(min_codepoint=33, max_codepoint=126, exclude_characters="\\"), max_size=30))
def test_whatever_the_model_made_up_is_no_gift(secret: str) -> None:
    """An address with any path, repeated word for word by a tool, is never given by it."""
    address = f"https://evil.example.net/{secret}"
    assert returned_addresses([address, f'{{"query":"{address}"}}'], {"query": address}) == frozenset()


LETTERS = st.text(alphabet="bcdfghjkmpqvwxz", min_size=5, max_size=12)
HOSTS = st.builds("{}.{}".format, LETTERS, st.sampled_from(["org", "com", "de", "co.uk", "example"]))
SECRETS = st.lists(st.text(alphabet="aeiou0123456789äöü東京", min_size=5, max_size=12), min_size=1, max_size=3)
ARRANGED: list[Callable[[str, list[str]], Any]] = [
    lambda host, secrets: {"u": f"https://{host}/{'/'.join(secrets)}"},
    lambda host, secrets: {"u": f"https://{host}/ {' '.join(secrets)}"},
    lambda host, secrets: {"u": host, "n": 1, "q": " ".join(secrets)},
    lambda host, secrets: {"q": secrets, "n": {"x": None}, "site": host},
    lambda host, secrets: {"q": dict.fromkeys(secrets, 1), "site": f"http://www.{host}"},
    lambda host, secrets: {"to": f"{'.'.join(secrets)}@{host}"},
    lambda host, secrets: {"name": host.partition(".")[0], "q": secrets, "ending": host.partition(".")[2]},
    lambda host, secrets: {"u": quote(quote(f"https://{host}/{'?'.join(secrets)}", safe=""), safe="")},
    lambda host, secrets: {"u": host.replace(".", "[.]").upper(), "q": "\t".join(secrets)},
]


@given(st.data(), HOSTS, SECRETS, st.sampled_from(ARRANGED))
def test_whatever_a_tool_makes_of_the_arguments_is_no_gift(
    data: st.DataObject, host: str, secrets: list[str], arranged: Callable[[str, list[str]], Any]
) -> None:
    """Joins in any order, escapes, another case, marks in between, and what the tool adds: all of them are echoes."""
    taken = data.draw(st.lists(st.sampled_from(secrets), min_size=1, max_size=3))
    glue = data.draw(st.sampled_from(["", "/", "-", "_", ".", "&x=", "+", "%20", ",", "//", "/./"]))
    rest = glue.join(taken)
    at = data.draw(st.integers(0, len(rest)))
    if data.draw(st.booleans()):
        rest = rest[:at] + data.draw(st.sampled_from(["-", "/", ".", "=", "%2F"])) + rest[at:]
    spellings: list[Callable[[str], str]] = [str, str.upper, str.title, quote, lambda text: quote(quote(text))]
    rest = data.draw(st.sampled_from(spellings))(rest)
    front = data.draw(st.sampled_from(["", "www.", "docs.", "a.b."]))
    before = data.draw(st.sampled_from(["/", ":8443/", "/p/", "/?q=", "/search?n=1&q=", "/x.html?u=%2F"]))
    behind = data.draw(st.sampled_from(["", ".json", "/feed.xml", "?page=1", "&page=1", "#top", "%2Fz", "/-"]))
    address = f"https://{front}{host}{before}{rest}{behind}"
    assert returned_addresses([address, f"see <{address}>"], arranged(host, secrets)) == frozenset()


@given(st.data(), HOSTS, st.from_regex(r"q[a-z0-9]{1,12}", fullmatch=True), SECRETS)
def test_a_label_made_of_the_arguments_is_no_gift(
    data: st.DataObject, host: str, label: str, secrets: list[str]
) -> None:
    """A label in front of a host that the arguments name is an echo when it stands in them, with any page behind it."""
    front = data.draw(st.sampled_from(["", "x-", "www.", "a."]))
    page = data.draw(st.sampled_from(["", "/", "/feed.xml", "/?page=2", ":8080/about"]))
    address = f"https://{front}{label}.{host}{page}"
    assert returned_addresses([address], {"a": host, "b": secrets, "c": label}) == frozenset()


@given(
    st.text(alphabet="bcdfghjkmpqvwxz", min_size=1, max_size=10),
    st.text(alphabet="bcdfghjkmpqvwxz/-?&=", max_size=20),
    st.recursive(
        st.none() | st.booleans() | st.integers(0) | st.text(alphabet="aeiouAEIOUäéß東 .-/:0123456789", max_size=20),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("aeiou"), inner, max_size=3),
    ),
)
def test_an_address_that_shares_nothing_with_the_arguments_is_a_gift(label: str, path: str, value: Any) -> None:
    """Arguments cost no address on a host that they share nothing with."""
    assert len(returned_addresses([f"https://{label}.zz/{path}"], {"value": value})) == 1
