"""One file to a document: what may be opened, how much of it, and what it says."""

import os
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

from lockgate.documents.decoding import NotTextError, decode
from lockgate.documents.kinds import Document, kind_of
from lockgate.errors import DocumentError

MAX_DOCUMENT_BYTES: Final = 20 * 1024 * 1024
"""The largest file that is read, and the most a compressed file may unpack to, in bytes."""

MAX_GZIP_MEMBERS: Final = 1_000
"""The most members of a gzip file. One in blocks of 64 KiB, the smallest in use, needs 320 for the largest document."""

_GZIP_MAGIC = b"\x1f\x8b"
_GZIP_STEP = 16 * 1024
_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_BINARY", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NOFOLLOW", 0)
    # Should a pipe take the file's place between looking and opening, opening must not wait for its writer.
    | getattr(os, "O_NONBLOCK", 0)
)


def read_document(path: Path, *, root: Path | None = None) -> Document:
    """Read a text file: plain text, Markdown, reStructuredText, source code and the like, gzipped or not.

    Args:
        path: The file.
        root: The folder it has to lie in, symbolic links followed; None lets it lie anywhere.

    Raises:
        NotTextError: It is over :data:`MAX_DOCUMENT_BYTES`, or no text.
        DocumentError: It is missing, no ordinary file, outside `root`, or may not be read.
    """
    with open_document(path, root=root) as file:
        return read_opened(file, path.name)


def open_document(path: Path, *, root: Path | None = None) -> BinaryIO:
    """Open a file as :func:`read_document` does, for who wants to know which one it is that is read.

    Raises:
        DocumentError: As there.
    """
    name = path.name
    with _told(name):
        real = path.resolve(strict=True)
        if root is not None and not real.is_relative_to(root.resolve(strict=True)):
            raise DocumentError(f"{name!r} leads out of its folder; it is not read.")
        _check(real.lstat(), name)
        file = open(os.open(real, _FLAGS), "rb")  # noqa: PTH123, SIM115 -- the flags make it safe; the caller closes it
        try:
            _check(os.fstat(file.fileno()), name)
        except BaseException:
            file.close()
            raise
        return file


def read_opened(file: BinaryIO, name: str) -> Document:
    """Read what :func:`open_document` opened.

    Raises:
        NotTextError: It is over :data:`MAX_DOCUMENT_BYTES`, or no text.
        DocumentError: It may not be read.
    """
    with _told(name):
        data = file.read(MAX_DOCUMENT_BYTES + 1)
    if len(data) > MAX_DOCUMENT_BYTES:
        raise _too_large(name)
    if data.startswith(_GZIP_MAGIC):
        data = _unpack(data, name)
    return Document(name, decode(data, name), kind_of(name))


@contextmanager
def _told(name: str) -> Iterator[None]:
    """Tell what the system says of a file in words for a person."""
    try:
        yield
    except FileNotFoundError:
        raise DocumentError(f"{name!r} does not exist.") from None
    except PermissionError:
        raise DocumentError(f"{name!r} may not be read by this user.") from None
    except (OSError, RuntimeError, ValueError) as error:
        # RuntimeError: a loop of links; ValueError: a NUL in the path.
        reason = getattr(error, "strerror", None) or "its path cannot be followed"
        raise DocumentError(f"{name!r} cannot be read: {reason}.") from None


def _check(status: os.stat_result, name: str) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise DocumentError(f"{name!r} is a folder; a file is needed.")
    if not stat.S_ISREG(status.st_mode):
        raise DocumentError(f"{name!r} is no ordinary file (a pipe, a socket or a device); it is not opened.")
    if status.st_size > MAX_DOCUMENT_BYTES:
        raise _too_large(name)


def _too_large(name: str, *, unpacked: bool = False) -> NotTextError:
    verb = "unpacks to more than" if unpacked else "is larger than"
    return NotTextError(f"{name!r} {verb} {MAX_DOCUMENT_BYTES // (1024 * 1024)} MiB, the most that is read of a file.")


def _unpack(data: bytes, name: str) -> bytes:
    """Unpack gzip (RFC 1952), several members included, never beyond the limits. What follows them is passed over."""
    unpacked = bytearray()
    position = members = 0
    while data.startswith(_GZIP_MAGIC, position):
        if members == MAX_GZIP_MEMBERS:
            raise NotTextError(
                f"{name!r} is a gzip file of more than {MAX_GZIP_MEMBERS:,} members, the most that are read of one."
            )
        members += 1
        position = _unpack_member(data, position, unpacked, name)
    return bytes(unpacked)


def _unpack_member(data: bytes, position: int, unpacked: bytearray, name: str) -> int:
    """Unpack the member that begins at a position, and return where it ends.

    It is read in small steps: an unpacker copies what follows its member, and that has to be little.
    """
    unpacker = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)
    while not unpacker.eof:
        step = data[position : position + _GZIP_STEP]
        if not step:
            raise NotTextError(f"{name!r} is a gzip file that breaks off before its end.")
        try:
            # A limit of 0 would mean none, hence the byte more.
            unpacked += unpacker.decompress(step, MAX_DOCUMENT_BYTES + 1 - len(unpacked))
        except zlib.error:
            raise NotTextError(f"{name!r} is a damaged gzip file.") from None
        if len(unpacked) > MAX_DOCUMENT_BYTES:
            raise _too_large(name, unpacked=True)
        position += len(step)
    return position - len(unpacker.unused_data)
