"""Does an installed version fit a requirement? Versions and specifiers as PEP 440 has them.

An installed pre-release counts like any other version: it is already there, nobody has to choose it.
"""

import re
from typing import NamedTuple

_VERSION = re.compile(
    r"""v?(?:(?P<epoch>\d+)!)?(?P<release>\d+(?:\.\d+)*)
    (?:[-_.]?(?P<pre>alpha|a|beta|b|preview|pre|c|rc)[-_.]?(?P<pre_number>\d*))?
    (?P<post>-(?P<post_bare>\d+)|[-_.]?(?:post|rev|r)[-_.]?(?P<post_number>\d*))?
    (?P<dev>[-_.]?dev[-_.]?(?P<dev_number>\d*))?
    (?:\+(?P<local>[a-z0-9]+(?:[-_.][a-z0-9]+)*))?""",
    re.VERBOSE | re.IGNORECASE | re.ASCII,
)
_PHASES = {"a": 0, "alpha": 0, "b": 1, "beta": 1, "c": 2, "rc": 2, "pre": 2, "preview": 2}
_CLAUSE = re.compile(r"(~=|===|==|!=|<=|>=|<|>)\s*(\S+)")
_REQUIREMENT = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[[^\]]*\])?\s*([^;]*?)\s*(?:;(.*))?", re.DOTALL)
_FINAL = (3, 0)  # sorts behind every pre-release
_NO_DEV = float("inf")  # and this behind every development release


class Version(NamedTuple):
    """A version, in an order that tuples can be compared by."""

    epoch: int
    release: tuple[int, ...]
    pre: tuple[int, int]
    post: int
    dev: float
    local: tuple[tuple[int, int, str], ...] = ()


def parse_version(text: str) -> Version:
    """Read a version.

    Raises:
        ValueError: It is none by PEP 440.
    """
    match = _VERSION.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text[:40]!r} is not a version")
    release = [int(part) for part in match["release"].split(".")]
    while len(release) > 1 and release[-1] == 0:
        release.pop()
    if match["pre"]:
        pre = (_PHASES[match["pre"].lower()], int(match["pre_number"] or 0))
    else:  # 1.0.dev1 stands before 1.0a1
        pre = (-1, 0) if match["dev"] and not match["post"] else _FINAL
    post = int(match["post_bare"] or match["post_number"] or 0) if match["post"] else -1
    dev = int(match["dev_number"] or 0) if match["dev"] else _NO_DEV
    local = tuple(
        (1, int(part), "") if part.isdigit() else (0, 0, part.lower())
        for part in re.split("[-_.]", match["local"] or "")
        if part
    )
    return Version(int(match["epoch"] or 0), tuple(release), pre, post, dev, local)


def split_requirement(text: str) -> tuple[str, str, str]:
    """Take a line of ``Requires-Dist`` apart: name, specifiers without brackets, environment marker.

    Raises:
        ValueError: It does not begin with a name.
    """
    match = _REQUIREMENT.fullmatch(text)
    if match is None:
        raise ValueError(f"{text[:80]!r} is not a requirement")
    name, specifiers, marker = match[1], match[2], (match[3] or "").strip()
    if specifiers.startswith("(") and specifiers.endswith(")"):
        specifiers = specifiers[1:-1].strip()
    return name, specifiers, marker


def fits(version: str, specifiers: str) -> bool:
    """Tell whether a version meets all of the specifiers, for example ``>=0.1,<0.2``. None at all: it does.

    Raises:
        ValueError: The version or a specifier cannot be read.
    """
    parts = [part.strip() for part in specifiers.split(",")]
    return [_meets(version, part) for part in parts if part].count(False) == 0  # reads them all


def _meets(version: str, specifier: str) -> bool:
    match = _CLAUSE.fullmatch(specifier)
    if match is None:
        raise ValueError(f"{specifier[:40]!r} is not a version specifier")
    operator, wanted = match[1], match[2]
    if operator == "===":
        return version.strip().lower() == wanted.lower()
    have = parse_version(version)
    if operator in ("==", "!="):
        return _equal(have, wanted) == (operator == "==")
    if operator == "~=":
        return _compatible(have, wanted)
    limit = parse_version(wanted)
    have = have._replace(local=())
    if operator == "<=":
        return have <= limit
    if operator == ">=":
        return have >= limit
    if operator == "<":
        return have < (limit if _is_pre(limit) else _first_of(limit))
    # 1.0.post1 is not wanted by >1.0
    is_post_of_limit = have[:3] == limit[:3] and have.post >= 0 and limit.post < 0 and limit.dev == _NO_DEV
    return have > limit and not is_post_of_limit


def _first_of(version: Version) -> Version:
    """Return the first development release of a version: 1.0rc1 and 1.0.dev1 are not wanted by <1.0."""
    return version._replace(dev=0, pre=version.pre if version.post >= 0 else (-1, 0))


def _equal(have: Version, wanted: str) -> bool:
    if wanted.endswith(".*"):
        prefix = wanted[:-2]
        epoch, numbers = _numbers(prefix)
        return have.epoch == epoch and _padded(have.release, len(numbers)) == numbers
    limit = parse_version(wanted)
    return (have if limit.local else have._replace(local=())) == limit


def _compatible(have: Version, wanted: str) -> bool:
    epoch, numbers = _numbers(wanted)
    if len(numbers) < 2:
        raise ValueError(f"'~={wanted[:40]}' needs a version of at least two numbers")
    series = numbers[:-1]
    in_series = have.epoch == epoch and _padded(have.release, len(series)) == series
    return in_series and have._replace(local=()) >= parse_version(wanted)


def _numbers(text: str) -> tuple[int, tuple[int, ...]]:
    """Return epoch and release as written: trailing zeros count in a prefix."""
    match = _VERSION.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text[:40]!r} is not a version")
    return int(match["epoch"] or 0), tuple(int(part) for part in match["release"].split("."))


def _padded(release: tuple[int, ...], length: int) -> tuple[int, ...]:
    return (*release, *[0] * length)[:length]


def _is_pre(version: Version) -> bool:
    return version.pre != _FINAL or version.dev != _NO_DEV
