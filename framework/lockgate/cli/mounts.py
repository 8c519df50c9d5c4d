"""One folder in two places: what of which file system lies at a path and below, whatever the path is called (Linux).

A folder that is mounted at a second place (``mount --bind``) has two paths, and no link leads from one to the other.
The list of mounts says of each which part of which file system it shows.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

TABLE: Final = Path("/proc/self/mountinfo")
"""The mounts this process sees: https://www.man7.org/linux/man-pages/man5/proc_pid_mountinfo.5.html"""

_ESCAPED = re.compile(r"\\([0-7]{3})")


@dataclass(frozen=True, slots=True)
class Part:
    """A folder or file within a file system.

    Attributes:
        device: Which file system.
        path: From its own root.
    """

    device: str
    path: Path

    def shares(self, other: "Part") -> bool:
        """Tell whether one of the two lies in the other, or is it."""
        return self.device == other.device and (
            self.path.is_relative_to(other.path) or other.path.is_relative_to(self.path)
        )


@dataclass(frozen=True, slots=True)
class Mount:
    """A part of a file system that is shown at a place."""

    shown: Part
    at: Path


def mounts(table: Path = TABLE) -> tuple[Mount, ...]:
    """Return all mounts; none where the system has no such list. Lines of another form are passed over."""
    try:
        text = table.read_bytes().decode("utf-8", "surrogateescape")
    except OSError:
        return ()
    found = []
    for line in text.split("\n"):
        fields = line.split(" ")
        if len(fields) > 4 and fields[4].startswith("/"):
            device, root, at = fields[2:5]  # behind the mount's ID and its parent's
            found.append(Mount(Part(device, Path(_plain(root))), Path(_plain(at))))
    return tuple(found)


def parts_at(place: Path, known: Sequence[Mount]) -> frozenset[Part]:
    """Return what lies at a place and below.

    Of mounts one upon the other, which hide each other, all count: rather too much than too little.

    Args:
        place: A file or folder, links resolved.
        known: All mounts.
    """
    found = set()
    for mount in known:
        if place.is_relative_to(mount.at):
            found.add(Part(mount.shown.device, mount.shown.path / place.relative_to(mount.at)))
        elif mount.at.is_relative_to(place):
            found.add(mount.shown)
    return frozenset(found)


def share(one: frozenset[Part], other: frozenset[Part]) -> bool:
    """Tell whether two places have anything in common."""
    return any(part.shares(another) for part in one for another in other)


def _plain(field: str) -> str:
    """Return a path without the escapes of the list: blanks and backslashes stand there as octal numbers."""
    return _ESCAPED.sub(lambda found: chr(int(found[1], 8)), field)
