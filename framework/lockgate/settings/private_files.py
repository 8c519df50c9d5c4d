"""Files for the user alone, replaced whole: a reader sees the old text or the new one, never half of it.

What is no regular file is neither read nor written: a device or a pipe is not replaced by a file.
"""

import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path

from lockgate.errors import ConfigurationError

MAX_FILE_BYTES = 4 * 1024 * 1024
"""What a settings file may have; far beyond anything written by hand."""

PRIVATE = 0o600
"""The mode of a file that nobody else may read."""


def read_text(path: Path) -> str | None:
    """Return the text of a file, or None where there is none.

    Raises:
        ConfigurationError: It cannot be read, is no regular file, is too long, or is no UTF-8.
    """
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # a pipe would be waited for
            raise ConfigurationError(f"The file {path} cannot be read: it is no regular file.")
        with path.open("rb") as file:
            content = file.read(MAX_FILE_BYTES + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ConfigurationError(f"The file {path} cannot be read: {error.strerror or error}.") from error
    if len(content) > MAX_FILE_BYTES:
        raise ConfigurationError(f"The file {path} has more than {MAX_FILE_BYTES} bytes and is not read.")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise ConfigurationError(f"The file {path} is no UTF-8 text (line {line}). Save it as UTF-8.") from error


def replace_text(path: Path, text: str, mode: int | None = None) -> None:
    """Replace a file as a whole. Its folder is made with mode 0700. A link stays a link.

    Args:
        path: The file.
        text: What it is to hold.
        mode: Its mode then; that of the file that was there, or `PRIVATE`, when None.

    Raises:
        ConfigurationError: It cannot be written, is read-only, or is no regular file; what was there is still there.
    """
    target = Path(os.path.realpath(path))
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(6)}")
    try:
        before = mode_of(target)
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            _write(temporary, text)
            if (wanted := before if mode is None else mode) not in (None, PRIVATE):
                temporary.chmod(wanted)
            temporary.replace(target)
        except BaseException:
            with suppress(OSError):
                temporary.unlink()
            raise
    except OSError as error:
        raise ConfigurationError(f"The file {path} cannot be written: {error.strerror or error}.") from error


def write_new(path: Path, text: str) -> None:
    """Write a file that is not there yet, with mode `PRIVATE`. Nothing that is there is touched, no folder is made.

    Raises:
        ConfigurationError: It cannot be written, or something is there; nothing is left of it.
    """
    try:
        try:
            _write(path, text)
        except FileExistsError:
            raise  # somebody else's
        except BaseException:
            with suppress(OSError):
                path.unlink()
            raise
    except OSError as error:
        raise ConfigurationError(f"The file {path} cannot be written: {error.strerror or error}.") from error


def mode_of(path: Path) -> int | None:
    """Return the mode of a file that may be replaced; None where there is none.

    Raises:
        ConfigurationError: It is no regular file, or read-only. Renaming over it would work all the same, and is
            nothing that whoever set it up so has asked for.
        OSError: It cannot be looked at.
    """
    try:
        found = path.lstat()
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(found.st_mode):
        raise ConfigurationError(f"The file {path} cannot be written: it is no regular file.")
    mode = stat.S_IMODE(found.st_mode) & 0o777
    if not mode & 0o222 or not os.access(path, os.W_OK):
        raise ConfigurationError(f"The file {path} is read-only (mode {mode:04o}) and is left as it is.")
    return mode


def _write(path: Path, text: str) -> None:
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE), "wb") as file:
        file.write(text.encode())
        file.flush()
        os.fsync(file.fileno())
