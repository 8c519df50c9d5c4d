"""The files of a folder: everything below it, links not followed, and a word for what was passed over."""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from lockgate.errors import DocumentError

MAX_FILES: Final = 200_000
"""The most files that are listed of one folder."""


@dataclass(frozen=True, slots=True)
class ListedFile:
    """A file found in a folder.

    Attributes:
        path: Its path below the folder, with ``/`` between its parts.
        size: In bytes.
        mtime_ns: When it was last changed, in nanoseconds since 1970.
    """

    path: str
    size: int
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class FolderListing:
    """What a folder holds, in the order of the paths.

    Attributes:
        files: The ordinary files.
        skipped: Path below the folder and why it is passed over.
        unknown: Folders (paths below the folder) whose content could not be listed: what is known of them stays true.
    """

    files: tuple[ListedFile, ...]
    skipped: tuple[tuple[str, str], ...] = ()
    unknown: tuple[str, ...] = ()


def list_folder(root: Path) -> FolderListing:
    """List all ordinary files below a folder.

    Hidden entries (a name that begins with a dot) and Office's lock files (``~$``) are passed over. Links are never
    followed: what they lead to is listed where it lies, if that is below the folder, and reported if not.

    Raises:
        DocumentError: The folder does not exist, is none, or cannot be listed.
    """
    try:
        real_root = root.resolve(strict=True)
        entries = _entries(real_root)
    except NotADirectoryError:
        raise DocumentError(f"{root.name!r} is no folder.") from None
    except FileNotFoundError:
        raise DocumentError(f"The folder {root.name!r} does not exist.") from None
    except (OSError, RuntimeError) as error:
        raise DocumentError(f"The folder {root.name!r} cannot be listed: {_reason(error)}.") from None
    walk = _Walk(real_root)
    walk.run(entries)
    return FolderListing(
        tuple(sorted(walk.files, key=lambda file: file.path)), tuple(sorted(walk.skipped)), tuple(sorted(walk.unknown))
    )


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    with os.scandir(folder) as entries:
        return list(entries)


def _reason(error: BaseException) -> str:
    return getattr(error, "strerror", None) or "its path cannot be followed"


class _Walk:
    """One pass over a tree of folders, without recursion: a tree can be deeper than Python's stack."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.files: list[ListedFile] = []
        self.skipped: list[tuple[str, str]] = []
        self.unknown: list[str] = []

    def run(self, entries: list[os.DirEntry[str]]) -> None:
        waiting = [("", entries)]
        while waiting:
            prefix, found = waiting.pop()
            for path, folder in self._visit(prefix, found):
                if len(self.files) >= MAX_FILES:
                    self.skipped.append((path, f"the folder holds more than {MAX_FILES:,} files"))
                    self.unknown.append(path)
                    continue
                try:
                    waiting.append((f"{path}/", _entries(folder)))
                except OSError as error:
                    self.skipped.append((path, f"the folder cannot be listed: {_reason(error)}"))
                    self.unknown.append(path)

    def _visit(self, prefix: str, entries: list[os.DirEntry[str]]) -> Iterator[tuple[str, Path]]:
        """Note files and what is passed over; yield the folders."""
        for entry in entries:
            path = prefix + entry.name
            if _unwritable(path):
                self.skipped.append((_printable(path), "its name is no valid text"))
            elif entry.name.startswith((".", "~$")):
                self.skipped.append((path, "hidden or temporary"))
            elif entry.is_symlink():
                if not self._leads_inside(Path(entry.path)):
                    self.skipped.append((path, "a link that leads out of the folder or nowhere"))
            else:
                try:
                    status = entry.stat(follow_symlinks=False)
                except OSError as error:
                    self.skipped.append((path, f"it cannot be looked at: {_reason(error)}"))
                    self.unknown.append(path)
                    continue
                if stat.S_ISDIR(status.st_mode):
                    yield path, Path(entry.path)
                elif not stat.S_ISREG(status.st_mode):
                    self.skipped.append((path, "a pipe, a socket or a device"))
                else:
                    self.files.append(ListedFile(path, status.st_size, status.st_mtime_ns))

    def _leads_inside(self, link: Path) -> bool:
        try:
            return link.resolve(strict=True).is_relative_to(self.root)
        except (OSError, RuntimeError):
            return False


def _unwritable(path: str) -> bool:
    """Whether a name holds bytes that are no text (surrogates stand for them); no store and no JSON takes those."""
    return not path.isascii() and any("\ud800" <= character <= "\udfff" for character in path)


def _printable(path: str) -> str:
    return path.encode("utf-8", "replace").decode("utf-8")
