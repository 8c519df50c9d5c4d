"""Finds the entry points of installed distributions. Nothing is imported here."""

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import Distribution, EntryPoint, PackageNotFoundError, distribution, distributions

from lockgate.plugin_host.policy import normalized
from lockgate.plugin_host.versions import fits, split_requirement
from lockgate.registry.contribution import Owner

GROUP = "lockgate"
"""The group of entry points that plugins are announced in."""

FRAMEWORK_NAMES = ("lockgate-framework", "lockgate")
"""The distributions whose version is the framework's: both are released together, under one number."""


@dataclass(frozen=True, slots=True)
class Found:
    """An entry point that names a plugin.

    Attributes:
        owner: Distribution, version and name of the entry point.
        entry_point: What to load.
        unsupported: Why this framework does not suit it, in one sentence; empty when it does.
    """

    owner: Owner
    entry_point: EntryPoint
    unsupported: str = ""


@dataclass(frozen=True, slots=True)
class Discovery:
    """All entry points, by distribution and name, and what could not be read, one sentence each."""

    found: tuple[Found, ...]
    problems: tuple[str, ...] = ()


def discover(framework_version: str) -> Discovery:
    """Look through the installed distributions.

    A distribution that is installed twice, editable and as a wheel for example, counts once: the one that
    Python would import stands first on the path.

    Args:
        framework_version: The version that the plugins' requirements are compared with.
    """
    found: list[Found] = []
    problems: list[str] = []
    seen: set[str] = set()
    for candidate in distributions():
        label = "a distribution without a name"
        try:
            if f"[{GROUP}]" not in (candidate.read_text("entry_points.txt") or ""):
                continue
            label = str(getattr(candidate, "_path", label))
            name = _field(candidate, "Name")
            if not name:
                raise ValueError("its metadata has no Name")
            if normalized(name) in seen or _is_shadowed(candidate, name):
                continue
            seen.add(normalized(name))
            found.extend(_plugins_of(candidate, name, framework_version))
        except Exception as error:  # noqa: BLE001 - one distribution's broken metadata hides no other
            problems.append(f"The entry points of {label} cannot be read: {type(error).__name__}: {error}")
    return Discovery(tuple(sorted(found, key=lambda item: item.owner.order)), tuple(problems))


def _plugins_of(candidate: Distribution, name: str, framework_version: str) -> list[Found]:
    unsupported = _why_unsupported(candidate.requires or (), framework_version)
    version = _field(candidate, "Version")
    return [
        Found(Owner(name, version, entry_point.name), entry_point, unsupported)
        for entry_point in candidate.entry_points
        if entry_point.group == GROUP
    ]


def _field(candidate: Distribution, name: str) -> str:
    """Return a field of the metadata, empty where it is missing: some readers of metadata raise then, some do not."""
    metadata = candidate.metadata
    return (metadata[name] or "") if name in metadata else ""


def _is_shadowed(candidate: Distribution, name: str) -> bool:
    try:
        first = distribution(name)
    except PackageNotFoundError:  # the name inside the metadata is not the one of its folder
        return False
    return str(first.locate_file("")) != str(candidate.locate_file(""))


def _why_unsupported(requires: "list[str] | tuple[str, ...]", framework_version: str) -> str:
    for line, specifiers in _framework_requirements(requires):
        if specifiers.startswith("@"):  # an address, as in a clone: says nothing of versions
            continue
        try:
            if fits(framework_version, specifiers):
                continue
        except ValueError as error:
            return f"It states the requirement {line[:80]!r}, which cannot be read: {error}."
        return f"It needs {line[:80]!r}, and the framework's version is {framework_version}."
    return ""


def _framework_requirements(requires: "list[str] | tuple[str, ...]") -> Iterator[tuple[str, str]]:
    """Yield the lines that always concern the framework. One with a marker may not hold here; pip has judged it."""
    for line in requires:
        try:
            name, specifiers, marker = split_requirement(line)
        except ValueError:  # it begins with no name, so not with ours
            continue
        if normalized(name) in FRAMEWORK_NAMES and not marker:
            yield line.strip(), specifiers
