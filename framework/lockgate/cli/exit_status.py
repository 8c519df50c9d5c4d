"""What the exit status of a command means. The documentation is made from here."""

from enum import IntEnum

from lockgate.errors import (
    ConfigurationError,
    DocumentError,
    ProviderDenied,
    ProviderError,
    Refusal,
    StorageError,
    UnknownNameError,
    UsageError,
)


class ExitStatus(IntEnum):
    """The statuses of all commands."""

    OK = 0
    """It worked; a question was answered."""
    FAILED = 1
    """Something nobody expected, or `plugins doctor` found something wrong."""
    USAGE = 2
    """The command was not understood: an unknown option or name, a missing argument, an empty question."""
    CONFIGURATION = 3
    """A setting is missing or wrong."""
    PROVIDER = 4
    """The provider gave no usable answer: it cannot be reached, refuses the key, is overloaded, cuts off."""
    DENIED = 5
    """A rule forbids it."""
    DOCUMENT = 6
    """A file or folder cannot be read, is empty, or holds no text."""
    PARTIAL = 7
    """There is an answer, but not a whole one: it was cut off, refused or filtered."""
    INTERRUPTED = 130
    """Ctrl-C."""


def status_of(error: BaseException) -> ExitStatus:
    """Return the status that goes with an error."""
    table: tuple[tuple[type[BaseException], ExitStatus], ...] = (
        (UnknownNameError, ExitStatus.USAGE),
        (ConfigurationError, ExitStatus.CONFIGURATION),
        (UsageError, ExitStatus.USAGE),
        (ProviderError, ExitStatus.PROVIDER),
        (ProviderDenied, ExitStatus.DENIED),
        (Refusal, ExitStatus.DENIED),
        (DocumentError, ExitStatus.DOCUMENT),
        (StorageError, ExitStatus.CONFIGURATION),
    )
    return next((status for kind, status in table if isinstance(error, kind)), ExitStatus.FAILED)
