"""Files for the user alone, replaced whole: a reader sees the old text or the new one, never half of it."""

import os
import secrets
from contextlib import suppress
from pathlib import Path

from lockgate.errors import ConfigurationError

MAX_FILE_BYTES = 4 * 1024 * 1024
"""What a settings file may have; far beyond anything written by hand."""


def read_text(path: Path) -> str | None:
    """Return the text of a file, or None where there is none.

    Raises:
        ConfigurationError: It cannot be read, is too long, or is no UTF-8.
    """
    try:
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


def replace_text(path: Path, text: str) -> None:
    """Replace a file as a whole, with mode 0600. Its folder is made with mode 0700. A link stays a link.

    Raises:
        ConfigurationError: It cannot be written; the old file is still there.
    """
    target = Path(os.path.realpath(path))
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(6)}")
    try:
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(text.encode())
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(target)
        except BaseException:
            with suppress(OSError):
                temporary.unlink()
            raise
    except OSError as error:
        raise ConfigurationError(f"The file {path} cannot be written: {error.strerror or error}.") from error
