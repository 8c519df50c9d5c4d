"""Every error Lockgate raises, in one tree.

::

    LockgateError
    ├── UsageError                   a mistake of the caller; the text says what would be right
    │   ├── ConfigurationError       a value in a settings file, an instance or an environment variable
    │   └── UnknownNameError         a provider, tool, chat or plugin nobody knows
    ├── Refusal                      words for the model or the person; nothing is broken
    │   ├── ArgumentRefused          the model's arguments are wrong; it can correct itself
    │   ├── ToolBlocked              a rule forbids the call
    │   └── ProviderDenied           the chat may not be sent to this provider
    └── Failure                      something outside did not work
        ├── ProviderError            the model's host; `kind` says which class of failure
        ├── ToolFailed               a tool could not do its work; the text is meant for the model
        ├── DocumentError            a file that cannot be read as text
        └── StorageError             the chat store
"""

import difflib
from collections.abc import Iterable
from enum import Enum


class LockgateError(Exception):
    """The root of all errors raised on purpose."""


class UsageError(LockgateError):
    """A mistake of the caller. The message says what would be right."""


class ConfigurationError(UsageError):
    """A configured value cannot be used. The message names it, what arrived and what is valid."""


class UnknownNameError(UsageError):
    """A name nobody knows.

    Args:
        what: The kind of thing looked for, for example ``provider``.
        name: The name that arrived.
        known: All names there are; the nearest is suggested.
    """

    def __init__(self, what: str, name: str, known: Iterable[str]) -> None:
        names = sorted(known)
        near = difflib.get_close_matches(name, names, n=1)
        if near:
            hint = f" Did you mean {near[0]!r}?"
        elif names:
            hint = f" There are: {', '.join(names)}."
        else:
            hint = f" There is no {what} yet."
        super().__init__(f"There is no {what} {name!r}.{hint}")
        self.what, self.name = what, name


class Refusal(LockgateError):
    """A rule or a wrong argument, in words that may be shown to a model and to a person."""


class ArgumentRefused(Refusal):
    """The arguments of a call are wrong. The model reads the message and can try again.

    Args:
        message: Names the argument, what arrived, what is valid, and that an optional one may be left out.
        argument: The name of the first wrong argument; empty when it concerns all of them.
        trace_message: The same for traces and logs, without sensitive values; `message` where nothing is sensitive.
    """

    def __init__(self, message: str, *, argument: str = "", trace_message: str = "") -> None:
        super().__init__(message)
        self.argument = argument
        self.trace_message = trace_message or message


class ToolBlocked(Refusal):
    """A rule forbids the call. The message goes to the model in the tool's words; the status is BLOCKED."""


class ProviderDenied(Refusal):
    """The chat carries content that this provider may not have."""


class Failure(LockgateError):
    """Something outside did not work."""


class FailureKind(Enum):
    """Why a provider did not answer, in classes a caller can act on."""

    AUTHENTICATION = "authentication"
    QUOTA = "quota"
    RATE_LIMIT = "rate_limit"
    OVERLOADED = "overloaded"
    CONTEXT_TOO_LONG = "context_too_long"
    TOOL_REFUSED = "tool_refused"
    BAD_REQUEST = "bad_request"
    NOT_FOUND = "not_found"
    MALFORMED = "malformed"
    CUT_OFF = "cut_off"
    TIMEOUT = "timeout"
    UNREACHABLE = "unreachable"
    SERVER = "server"


class ProviderError(Failure):
    """The model's host did not give a usable answer.

    Args:
        message: One sentence for a person, secrets removed.
        kind: The class of failure.
        status: The HTTP status, or None where there was none.
        server_message: The host's own words, cut to 2,000 characters, secrets removed.
        retry_after: Seconds the host asked to wait, or None.
    """

    def __init__(
        self,
        message: str,
        *,
        kind: FailureKind,
        status: int | None = None,
        server_message: str = "",
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.kind, self.status = kind, status
        self.server_message, self.retry_after = server_message, retry_after


class ToolFailed(Failure):
    """A tool could not do its work. Unlike any other exception, the tool chose the words."""


class DocumentError(Failure):
    """A file cannot be read as text. The message names the file and the reason."""


class StorageError(Failure):
    """The chat store could not be read or written."""
