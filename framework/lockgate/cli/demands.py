"""What configured data sources demand of files that are named on the command line, however they are named."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lockgate.app.configuration import Configuration
from lockgate.app.lockgate import Lockgate
from lockgate.chat.values import ChatThread
from lockgate.cli.attached import Attached
from lockgate.cli.mounts import Mount, mounts, parts_at, share
from lockgate.cli.terminal import note
from lockgate.errors import ConfigurationError
from lockgate.policy import ChatRequirements, ConfidenceLevel, DataSourceSecurity, SetBy, SetByKind
from lockgate.settings.file_checks import texts_in
from lockgate.settings.instances import Instance

FAMILY = "data_source"


@dataclass(frozen=True, slots=True)
class Demand:
    """What a configured data source demands of its files.

    Attributes:
        source: Its name.
        level: The least confidence.
        security: Who may see them.
        is_certain: The source could be opened; what is left out because it is wrong demands HIGH.
    """

    source: str
    level: ConfidenceLevel
    security: DataSourceSecurity = DataSourceSecurity.NOT_SPECIFIED
    is_certain: bool = True

    @property
    def requirements(self) -> ChatRequirements:
        """What a chat demands that holds text of such a file."""
        by = SetBy(SetByKind.DATA_SOURCE, self.source)
        return ChatRequirements(self.level, self.security, confidence_by=by, data_security_by=by)

    @property
    def words(self) -> str:
        """What to tell a person, behind the path."""
        told = f"belongs to the data source {self.source!r}"
        if not self.is_certain:
            told += ", which cannot be used as it is configured (`lockgate plugins doctor` says why)"
        told += f", so it requires a provider with confidence {self.level.name}"
        return f"{told} that is self-hosted" if self.security is DataSourceSecurity.SELF_HOSTED else told


@dataclass(frozen=True, slots=True)
class _Named:
    """What was named on the command line: where it lies, and which file was opened, if one was."""

    places: tuple[Path, ...]
    opened: os.stat_result | None
    mounts: Sequence[Mount]

    def shares(self, *configured: str) -> bool:
        """Tell whether it lies in what is configured, is it, or holds it. A text that is no path holds nothing."""
        for text in configured:
            try:
                other = Path(text).expanduser()
                if other.is_absolute() and self._shares_with(other.resolve()):
                    return True
            except (OSError, RuntimeError, ValueError):
                continue
        return False

    def _shares_with(self, other: Path) -> bool:
        if self.opened is not None and _is_of(self.opened, other):
            return True
        there = parts_at(other, self.mounts)
        return any(
            _lies_in(place, other) or _lies_in(other, place) or share(parts_at(place, self.mounts), there)
            for place in self.places
        )


def demands_on(
    gate: Lockgate, configuration: Configuration, *places: Path, opened: os.stat_result | None = None
) -> list[Demand]:
    """Return the demands of all configured data sources that share files with a place, the highest first.

    Links, other ways to write a name, and folders that are mounted at a second place make no difference.

    Args:
        gate: Entered.
        configuration: What it was opened with.
        places: A file or folder, links resolved; several where it is known by several paths.
        opened: The file itself, where it was opened.
    """
    named = _Named(places, opened, mounts())
    instances = {instance.id: instance for instance in gate.assembly.services.instances(FAMILY)}
    found = []
    for entry in (entry for entry in configuration.instances if entry.family == FAMILY):
        if entry.id in instances:
            if named.shares(str(getattr(instances[entry.id].settings, "path", ""))):
                found.append(_of(gate, instances[entry.id]))
        elif named.shares(*texts_in(dict(entry.values))):
            level = ConfidenceLevel.parse(str(entry.values.get("confidence", "")))
            high = ConfidenceLevel.HIGH if level is None else level
            found.append(Demand(entry.name or entry.id, high, is_certain=False))
    found += [
        Demand(source_id, ConfidenceLevel.HIGH, is_certain=False)
        for source_id, texts in configuration.broken_sources.items() if named.shares(*texts)
    ]
    return sorted(found, key=lambda demand: demand.level, reverse=True)


def held_to_its_source(
    gate: Lockgate, configuration: Configuration, chat: ChatThread, path: Path, attached: Attached
) -> ChatThread:
    """Return the chat with what is demanded of a file that goes with a question, and say so.

    Args:
        gate: Entered.
        configuration: What it was opened with.
        chat: The chat so far.
        path: How the file was named.
        attached: Which one was read.
    """
    for demand in demands_on(gate, configuration, *attached.places, opened=attached.status):
        held = chat.require(demand.requirements)
        if held is not chat:
            note(f"{path} {demand.words}")
        chat = held
    return chat


def _of(gate: Lockgate, instance: Instance) -> Demand:
    """Return what a source that can be opened demands; one that says no level demands HIGH."""
    level = getattr(instance.settings, "confidence", None)
    try:
        security = getattr(gate.assembly.services.opened(instance), "security", None)
    except ConfigurationError:
        security = DataSourceSecurity.SELF_HOSTED
    return Demand(
        instance.name,
        level if isinstance(level, ConfidenceLevel) else ConfidenceLevel.HIGH,
        security if isinstance(security, DataSourceSecurity) else DataSourceSecurity.NOT_SPECIFIED,
    )


def _lies_in(inner: Path, outer: Path) -> bool:
    """Tell whether a path is another or lies below it, also where names are the same in another case."""
    return inner.is_relative_to(outer) or any(_is_same(part, outer) for part in (inner, *inner.parents))


def _is_same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except (OSError, ValueError):
        return False


def _is_of(opened: os.stat_result, other: Path) -> bool:
    try:
        return os.path.samestat(opened, other.stat())
    except OSError:
        return False
