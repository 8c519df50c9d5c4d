"""A file that goes with a question: opened once, so that what is read is what the demands are asked for."""

import os
from dataclasses import dataclass
from pathlib import Path

from lockgate.documents import Document
from lockgate.documents.reading import open_document, read_opened
from lockgate.errors import DocumentError

_OPENED = "/proc/self/fd/{}"
_DELETED = " (deleted)"


@dataclass(frozen=True, slots=True)
class Attached:
    """What was opened.

    Attributes:
        document: What it says.
        places: Where it lay while it was open, links resolved; at least one.
        status: Of the opened file itself.
    """

    document: Document
    places: tuple[Path, ...]
    status: os.stat_result


def read_attached(path: Path) -> Attached:
    """Read a file, and find out which one it was. The path may lead to another one before and after.

    Raises:
        DocumentError: It cannot be read as text, or nobody can tell where it lies.
    """
    with open_document(path) as file:
        status = os.fstat(file.fileno())
        return Attached(read_opened(file, path.name), _places_of(file.fileno(), status, path), status)


def _places_of(descriptor: int, status: os.stat_result, path: Path) -> tuple[Path, ...]:
    """Return the paths of an opened file: as the system tells it, and by following the path once more."""
    places = []
    told = _told(descriptor)
    if told.startswith("/"):  # anything else is not reached by a path here
        places.append(Path(told))
        if told.endswith(_DELETED):
            places.append(Path(told.removesuffix(_DELETED)))
    try:
        followed = path.resolve(strict=True)
        if os.path.samestat(followed.stat(), status):
            places.append(followed)
    except (OSError, RuntimeError, ValueError):
        pass  # it leads nowhere by now
    if not places:
        raise DocumentError(f"{path.name!r} was exchanged while it was read; it is not sent. Try again.")
    return tuple(dict.fromkeys(places))


def _told(descriptor: int) -> str:
    """Return the path of an opened file as Linux tells it; empty elsewhere."""
    try:
        return os.readlink(_OPENED.format(descriptor))  # noqa: PTH115 - the text itself: no path may be made of it yet
    except OSError:
        return ""
