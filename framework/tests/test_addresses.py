"""The strict parser of web addresses, request keys, finding addresses in text."""

import ipaddress
from urllib.parse import urlsplit

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockgate.addresses import MAX_ADDRESS_LENGTH, AddressError, WebAddress, find_addresses, request_key

CANONICAL = {
    "https://Bücher.Example:443/a": "https://xn--bcher-kva.example/a",
    "HTTP://EXAMPLE.org": "http://example.org/",
    "http://example.org:80/": "http://example.org/",
    "http://example.org:443/": "http://example.org:443/",
    "https://example.org.": "https://example.org/",
    "https://example.org?x": "https://example.org/?x",
    "https://example.org/?": "https://example.org/?",
    "https://example.org/a/./b/../c": "https://example.org/a/c",
    "https://example.org/a/%2E%2e/b": "https://example.org/b",
    "https://example.org/a/..": "https://example.org/",
    "https://example.org/../../a//b": "https://example.org/a//b",
    "https://example.org/ü?ü='": "https://example.org/%C3%BC?%C3%BC=%27",
    "https://example.org/100%": "https://example.org/100%25",
    "https://example.org/%41": "https://example.org/%41",
    "https://ｅｘａｍｐｌｅ．org/": "https://example.org/",
    "https://例え。テスト/": "https://xn--r8jz45g.xn--zckzah/",
    "https://ex\u00adample.org/": "https://example.org/",
    "https://straße.de/": "https://xn--strae-oqa.de/",
    "https://r3---sn.example/": "https://r3---sn.example/",
    "https://under_score.example/": "https://under_score.example/",
    "http://127.0.0.1/": "http://127.0.0.1/",
    "http://[::1]:8080/": "http://[::1]:8080/",
    "http://[0:0::FFFF:127.0.0.1]/": "http://[::ffff:7f00:1]/",
    "http://intranet/": "http://intranet/",
}


@pytest.mark.parametrize(("written", "text"), CANONICAL.items())
def test_an_address_has_one_spelling(written: str, text: str) -> None:
    """Whatever the spelling, the parser gives the one that is requested; and that one parses to itself."""
    address = WebAddress.parse(written)
    assert address.text == text
    assert WebAddress.parse(address.text) == address


REFUSED = {
    "scheme": ("ftp://example.org/", "javascript:alert(1)", "http:/example.org/", "http:example.org", "//example.org",
               "example.org", "", " https://example.org/"),
    "no host": ("http:///x", "http://", "https://?x", "http://:80/"),
    "user name": ("http://user@example.org/", "http://user:pw@example.org/", "http://@example.org/"),
    "blanks": ("http://exa mple.org/", "http://example.org/a b", "http://example.org/\n", "http://exam\tple.org/",
               "http://example.org/\x00", "http://example.org/\x7f", "http://example.org/\x85",
               "http://example.org/\u2028", "http://example.org/\ud800"),
    "backslash": ("http:\\\\example.org/", "http://example.org\\@evil.example/", "http://example.org/a\\b"),
    "percent": ("http://ex%61mple.org/", "http://127.0.0.%31/"),
    "numbers": ("http://127.1/", "http://2130706433/", "http://0x7f000001/", "http://0x7f.0.0.1/", "http://0177.0.0.1/",
                "http://1.2.3.08/", "http://0/", "http://256.1.1.1/", "http://1.2.3.4.5/", "http://127.0.0.1./",
                "http://a.0x1/", "http://a.0x/", "http://１２７.0.0.1/", "http://127。0。0。1/", "http://①.1.1.1/"),
    "zones": ("http://[fe80::1%25eth0]/", "http://[fe80::1%eth0]/"),
    "brackets": ("http://[::1/", "http://::1/", "http://[example.org]/", "http://[::1]x/", "http://[1.2.3.4]/",
                 "http://[]/", "http://a[::1]/", "http://[：：1]/"),
    "ports": ("http://example.org:0/", "http://example.org:65536/", "http://example.org:-1/", "http://example.org:/",
              "http://example.org:８０/", "http://example.org:+80/", "http://example.org:8 0/", "http://a:1:2/",
              "http://example.org:99999999999999999999/"),
    "labels": ("http://a..b/", "http://./", "http://.a/", "http://a../", f"http://{'a' * 64}.org/",
               f"http://{'a.' * 130}org/", "http://-a.org/", "http://a-.org/", "http://a!b.org/", "http://a<b.org/"),
    "punycode": ("http://xn--/", "http://xn--a/", "http://xn--zzzzzzz99999.org/", "http://xn--ls8h.org/"),
    "names": ("http://☃.net/", "http://a\u2100b.org/", "http://a／b.org/", "http://\u200d.org/", "http://a＠b.org/"),
}  # fmt: skip


@pytest.mark.parametrize("written", [text for texts in REFUSED.values() for text in texts])
def test_what_parsers_could_read_differently_is_refused(written: str) -> None:
    """Each is refused with a reason, and the refusal does not repeat the address."""
    with pytest.raises(AddressError) as caught:
        WebAddress.parse(written)
    assert caught.value.reason
    host = written.partition("//")[2].strip("/")
    assert len(host) < 4 or host not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_an_address_has_a_greatest_length() -> None:
    """8,192 characters are the most, whatever they are."""
    longest = "https://example.org/".ljust(MAX_ADDRESS_LENGTH, "a")
    assert WebAddress.parse(longest).text == longest
    with pytest.raises(AddressError, match="8192"):
        WebAddress.parse(longest + "a")


def test_parts_of_an_address() -> None:
    """Scheme, host, port, path and query stand on their own; the fragment is for showing only."""
    address = WebAddress.parse("HTTPS://Example.org:8443/a/b?x=1&y#part")
    assert (address.scheme, address.host, address.port) == ("https", "example.org", 8443)
    assert (address.path, address.query, address.fragment) == ("/a/b", "x=1&y", "part")
    assert address.text == "https://example.org:8443/a/b?x=1&y"
    assert address.origin == "https://example.org:8443"
    assert WebAddress.parse("http://example.org").effective_port == 80


def test_a_literal_is_told_from_a_name() -> None:
    """`ip` is there exactly for literals."""
    assert WebAddress.parse("http://10.0.0.1/").ip == ipaddress.ip_address("10.0.0.1")
    assert WebAddress.parse("http://[fd00::1]/").ip == ipaddress.ip_address("fd00::1")
    assert WebAddress.parse("http://a10.example/").ip is None


def test_request_keys_compare_what_the_server_is_asked_for() -> None:
    """Case of scheme and host, default port and fragment make no difference; scheme, path and query do."""
    same = {"https://example.org/a?b", "HTTPS://EXAMPLE.ORG/a?b", "https://example.org:443/a?b#c"}
    assert len({request_key(address) for address in same}) == 1
    others = [
        "http://example.org/a?b",
        "https://example.org/A?b",
        "https://example.org/a?B",
        "https://example.org/a",
        "https://example.org:444/a?b",
        "https://www.example.org/a?b",
        "https://example.org/a/?b",
    ]
    assert len({request_key(address) for address in (*others, *same)}) == len(others) + 1


PARTS = st.sampled_from([
    "http://", "https://", "HTTP:", "//", "/", "\\", "@", ":", "::", "[", "]", "[::1]", "%", "%25", "%2e", "..", ".",
    "?", "#", "a", "xn--", "0x7f", "127", "1", "0", "80", "-", "_", "ü", "ß", "。", "．", "①", "／", "＠", "\u00ad",
    "\u200b", " ", "\t", "\n", "&", "|", "'", "example.org",
])  # fmt: skip


@given(st.lists(PARTS, max_size=8))
def test_where_an_address_is_accepted_other_parsers_see_the_same_host(parts: list[str]) -> None:
    """For the text that is requested, the standard library and httpx agree on scheme, host and port."""
    try:
        address = WebAddress.parse("http://" + "".join(parts))
    except AddressError:
        return
    split = urlsplit(address.text)
    assert (split.scheme, split.hostname, split.port) == (address.scheme, address.host.strip("[]"), address.port)
    url = httpx.URL(address.text)
    assert (url.scheme, url.raw_host.decode(), url.port) == (address.scheme, address.host.strip("[]"), address.port)
    assert url.raw_path.decode() == address.path + ("" if address.query is None else f"?{address.query}")
    assert address.ip is not None or not address.host.rpartition(".")[2].isdigit()


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_text_is_parsed_or_refused(host: str, rest: str) -> None:
    """Nothing but AddressError is raised, and what is accepted is ASCII and its own canonical form."""
    for text in (host, f"http://{host}/{rest}", f"https://example.org/{rest}"):
        try:
            address = WebAddress.parse(text)
        except AddressError:
            continue
        assert address.text.isascii()
        assert WebAddress.parse(address.text).text == address.text
        assert "@" not in address.host
        assert "\\" not in address.text


FOUND = {
    "See https://a.example/x.": ["https://a.example/x"],
    "(https://a.example/b_(c))": ["https://a.example/b_(c)"],
    "[https://a.example/x](https://a.example/x)": ["https://a.example/x"],
    "[1](https://a.example/1)[2](https://a.example/2)": [
        "https://a.example/1)[2",
        "https://a.example/1",
        "https://a.example/2",
    ],
    "**https://a.example/** _https://b.example/_": ["https://a.example/", "https://b.example/"],
    "<a href='https://a.example/x'>": ["https://a.example/x"],
    'HTTPS://A.example/"x': ["HTTPS://A.example/"],
    "https://a.example/?x=1&amp;y=2": ["https://a.example/?x=1&amp;y=2", "https://a.example/?x=1&y=2"],
    "https://a.example/x&quot;&gt;y": ["https://a.example/x&quot;&gt;y", "https://a.example/x"],
    "见https://a.example/文。然后": ["https://a.example/文。然后", "https://a.example/文"],
    "https://a.example/x，https": ["https://a.example/x，https", "https://a.example/x"],
    "https://a.example/x。": ["https://a.example/x"],
    "https:// http://... https:///": [],
    "no address, only example.org and ftp://a.example/": [],
    "https://a.example/x https://a.example/x": ["https://a.example/x"],
    "https://a.example/?u=https://b.example/": ["https://a.example/?u=https://b.example/"],
}


@pytest.mark.parametrize(("text", "addresses"), FOUND.items())
def test_addresses_are_found_as_a_reader_would(text: str, addresses: list[str]) -> None:
    """Punctuation of the sentence and brackets around are cut; two readings are both returned."""
    found = find_addresses(text)
    usable = []
    for item in found:
        try:
            WebAddress.parse(item)
        except AddressError:
            continue
        usable.append(item)
    assert usable == addresses


def test_items_of_a_list_without_blanks_are_found() -> None:
    """A comma before the next scheme ends an address, too."""
    assert {"https://a.example/1", "https://b.example/2"} <= set(
        find_addresses("https://a.example/1,https://b.example/2")
    )


@pytest.mark.parametrize("unit", [")", "](", "https://", "https://a.example/,", "&amp;", "。", "(", "[]", "."])
def test_finding_works_in_proportion_to_the_text(unit: str) -> None:
    """Twice the text calls the same functions about twice as often, for whatever is repeated."""
    import sys

    def work(count: int) -> int:
        steps = 0

        def step(*_: object) -> None:
            nonlocal steps
            steps += 1

        text = "https://a.example/" + unit * count
        sys.setprofile(step)
        try:
            find_addresses(text)
        finally:
            sys.setprofile(None)
        return steps

    assert work(4000) <= 2.5 * work(2000) + 100
