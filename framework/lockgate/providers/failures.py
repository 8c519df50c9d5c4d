"""From what a host answers to one clear sentence for a person.

Every form in which hosts write an error is read here: OpenAI's object, Mistral's flat one and its `detail`,
Google's list, Ollama's text, watsonx's `errors`, an HTML page, plain text. Secrets are removed from all
that leaves.
"""

import html
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import quote

from lockgate.errors import FailureKind, ProviderError
from lockgate.providers.endpoint import without_credentials
from lockgate.providers.retry import google_delay, wait_asked_for

LONGEST_SERVER_MESSAGE = 2_000
"""Characters of a host's own words that are kept."""

REMOVED = "*****"
"""What stands in place of a secret."""

_READ_OF_SERVER_MESSAGE = 8 * LONGEST_SERVER_MESSAGE
_SHORTEST_TAIL = 64

_BEARER = re.compile(r"(?i)\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{4,}")
_TITLE = re.compile(r"(?is)<(title|h1)\b[^>]{0,500}>(.{0,500}?)</\1")
_CONTEXT = re.compile(
    r"(?i)context[ _]?(?:length|window|size)|maximum context|prompt is too long|too_many_prompt_tokens|"
    r"(?:input|prompt|messages?) (?:is|are) too (?:long|large)|too many (?:input |prompt )?tokens|"
    r"input token count|reduce the length|exceed_context|request too large|all messages is too long"
)
_TOOLS = re.compile(
    r"(?i)tool_use_failed|failed to call a function|invalid schema for function|does not support tools|"
    r"did not match schema|tool choice requires|tool-call-parser|invalid_function_parameters"
)
_QUOTA = re.compile(
    r"(?i)insufficient_quota|insufficient (?:quota|balance|credit|funds)|exceeded your current quota|billing|"
    r"credit balance|out of credits|payment required"
)
_KEY = re.compile(r"(?i)authentication_error|invalid_api_key|(?:incorrect|invalid) api[ _-]?key|unauthorized")
_RATE = re.compile(r"(?i)rate[ _]?limit|too[ _]many[ _]requests|resource_exhausted")
_OVERLOADED = re.compile(r"(?i)overloaded|unavailable|capacity")


@dataclass(frozen=True, slots=True)
class ServerError:
    """What a host says of an error: its words, its type and code, the parsed body they come from."""

    message: str = ""
    type: str = ""
    code: str = ""
    body: object = None

    @property
    def searchable(self) -> str:
        """All of it as one text to look for signs in."""
        return f"{self.code} {self.type} {self.message}"

    @property
    def told(self) -> str:
        """The words, with type or code where the words do not hold them and they are no mere number."""
        marks = [m for m in (self.code, self.type) if m and not m.isdigit() and m not in self.message]
        mark = marks[0] if marks else ""
        return f"{self.message} ({mark})" if self.message and mark else self.message or mark


@dataclass(frozen=True, slots=True, repr=False)
class AskedHost:
    """Who was asked, for messages: makes errors that name the host and hold none of its secrets.

    Attributes:
        name: What people call the provider.
        url: The address asked.
        secrets: Texts that must not leave: the key, values of headers.
    """

    name: str
    url: str
    secrets: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Words for the middle of a sentence: ``The provider "x" at http://host/v1``."""
        shown = without_credentials(self.url)
        named = f'The provider "{self.name}"' if self.name else "The provider"
        return self.clean(f"{named} at {shown}")

    def __repr__(self) -> str:
        return f"AskedHost({self})"

    def clean(self, text: str) -> str:
        """Return a text on one line without secrets and without characters that steer a terminal."""
        told = without_secrets(text, self.secrets)
        return " ".join("".join(c if c.isprintable() else " " for c in told).split())

    def _shortened(self, text: str) -> str:
        """Cut a text of any size to what is worth cleaning, without leaving half a secret at its end."""
        if len(text) <= _READ_OF_SERVER_MESSAGE:
            return text
        told = without_secrets(text[:_READ_OF_SERVER_MESSAGE], self.secrets)
        tail = max((len(form) for secret in self.secrets for form in _forms(secret)), default=0)
        return told[: -max(tail, _SHORTEST_TAIL)]

    def failure(
        self,
        kind: FailureKind,
        predicate: str,
        *,
        status: int | None = None,
        server_message: str = "",
        retry_after: float | None = None,
    ) -> ProviderError:
        """Make the error "The provider … `predicate`", followed by the host's own words."""
        words = self.clean(self._shortened(server_message))[:LONGEST_SERVER_MESSAGE]
        sentence = f"{self} {self.clean(predicate)}"
        sentence = f"{sentence}: {words}" if words else sentence if sentence[-1] in ".?!" else f"{sentence}."
        return ProviderError(sentence, kind=kind, status=status, server_message=words, retry_after=retry_after)

    def http_failure(
        self, status: int, headers: Mapping[str, str], body: bytes, now: datetime, *, has_key: bool = True
    ) -> ProviderError:
        """Make the error for an answer whose status is no success."""
        if 300 <= status < 400:
            place = without_credentials(headers.get("location", "")) or "an address it does not name"
            predicate = f"sends elsewhere ({status}), to {place}; redirects are not followed"
            return self.failure(FailureKind.NOT_FOUND, predicate, status=status)
        error = read_error_body(body)
        kind = kind_of(status, error)
        asked = wait_asked_for(headers, error.message, error.body, now)
        predicate = f"{_predicate(kind, status, error, has_key)} ({status})"
        return self.failure(kind, predicate, status=status, server_message=error.told, retry_after=asked)

    def stream_failure(self, error: ServerError, now: datetime) -> ProviderError:
        """Make the error for one that came with status 200, in a stream or in place of an answer."""
        status = int(error.code) if error.code.isascii() and re.fullmatch(r"[45]\d\d", error.code) else None
        kind = kind_of(status, error)
        asked = wait_asked_for({}, error.message, error.body, now)
        predicate = f"{_predicate(kind, status, error, has_key=True)} (told in an answer with status 200)"
        return self.failure(kind, predicate, status=status, server_message=error.told, retry_after=asked)


def without_secrets(text: str, secrets: tuple[str, ...]) -> str:
    """Return a text with every secret, and whatever follows ``Bearer`` or ``Basic``, replaced by asterisks.

    A short secret is replaced only where it stands alone: else the key ``x`` would blot out half a sentence.
    """
    for secret in sorted({s for s in secrets if s}, key=len, reverse=True):
        for form in _forms(secret):
            if len(form) >= 8:
                text = text.replace(form, REMOVED)
            else:
                text = re.sub(rf"(?<![A-Za-z0-9]){re.escape(form)}(?![A-Za-z0-9])", REMOVED, text)
    return _BEARER.sub(lambda match: f"{match[1]} {REMOVED}", text)


def _forms(secret: str) -> set[str]:
    """Return what a secret looks like in a text, an address and JSON."""
    return {secret, quote(secret, safe=""), json.dumps(secret)[1:-1]}


def read_error_body(body: bytes) -> ServerError:
    """Read the body of an error, whatever its form."""
    text = body.decode("utf-8", "replace").removeprefix("\ufeff").strip()
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return ServerError(_page_title(text) if text.startswith("<") else text)
    return read_error(value) or ServerError(text if value else "", body=value)


def read_error(value: object) -> ServerError | None:
    """Read a parsed value as an error; None when it is none."""
    if isinstance(value, list):
        objects = (item for item in value[:4] if isinstance(item, dict))  # a list in a list may be of any depth
        return next((found for item in objects if (found := read_error(item)) is not None), None)
    if not isinstance(value, dict):
        return None
    error = value.get("error") or value.get("errors") or value.get("detail")
    if isinstance(error, list):
        error = next((item for item in error if item), None)
    if isinstance(error, dict):
        return _from_object(error, value)
    if isinstance(error, str):
        return ServerError(error, _word(value.get("type")), _word(value.get("code")), value)
    if value.get("object") == "error" or (isinstance(value.get("message"), str) and "choices" not in value):
        return _from_object(value, value)
    return None


def kind_of(status: int | None, error: ServerError) -> FailureKind:
    """Say which class of failure a status and a host's words are. None stands for an error after a 200."""
    said = error.searchable[:8_000]
    if status == 402 or (status in (None, 403, 429) and _QUOTA.search(said)):
        # Google words a rate limit like a used-up quota; a delay to wait says that it is one.
        return FailureKind.QUOTA if google_delay(error.body) is None else FailureKind.RATE_LIMIT
    if status in (401, 403):
        return FailureKind.AUTHENTICATION
    if status == 404:
        return FailureKind.TOOL_REFUSED if _TOOLS.search(said) else FailureKind.NOT_FOUND
    if status == 413 or (status in (None, 400, 422, 500) and _CONTEXT.search(said)):
        return FailureKind.CONTEXT_TOO_LONG
    if status == 429:
        return FailureKind.RATE_LIMIT
    if status in (408, 504):
        return FailureKind.TIMEOUT
    if status in (503, 529):
        return FailureKind.OVERLOADED
    if status is not None and status >= 500:
        return FailureKind.SERVER
    if _TOOLS.search(said):
        return FailureKind.TOOL_REFUSED
    return FailureKind.BAD_REQUEST if status is not None else _kind_of_words(said)


def _kind_of_words(said: str) -> FailureKind:
    for pattern, kind in (
        (_RATE, FailureKind.RATE_LIMIT),
        (_KEY, FailureKind.AUTHENTICATION),
        (_OVERLOADED, FailureKind.OVERLOADED),
    ):
        if pattern.search(said):
            return kind
    return FailureKind.BAD_REQUEST if "invalid_request" in said else FailureKind.SERVER


def _predicate(kind: FailureKind, status: int | None, error: ServerError, has_key: bool) -> str:
    """Words that say what a host did, in order to follow its name."""
    match kind:
        case FailureKind.AUTHENTICATION if status == 403:
            return "does not allow this"
        case FailureKind.AUTHENTICATION:
            return "refused the API key" if has_key else "wants an API key, and none is configured"
        case FailureKind.NOT_FOUND if "model" in error.searchable.lower():
            return "does not know the model"
        case FailureKind.NOT_FOUND:
            return "has nothing at this address; check the base address"
    return _PREDICATES.get(kind, "failed")


_PREDICATES = {
    FailureKind.QUOTA: "says that the account's quota or credit is used up",
    FailureKind.RATE_LIMIT: "answers that there were too many requests: its rate limit is reached",
    FailureKind.OVERLOADED: "is overloaded or not available right now",
    FailureKind.CONTEXT_TOO_LONG: "says that the conversation is longer than the model can read",
    FailureKind.TOOL_REFUSED: "did not accept the tools or the model's tool call",
    FailureKind.BAD_REQUEST: "did not accept the request",
    FailureKind.TIMEOUT: "took too long",
    FailureKind.SERVER: "failed",
}


def _from_object(error: Mapping[str, object], body: object) -> ServerError:
    message = error.get("message") or error.get("msg") or error.get("detail") or error.get("error")
    kind = error.get("type") or error.get("status")
    words = message if isinstance(message, str) else "" if message is None else _json_text(message)
    return ServerError(words, _word(kind), _word(error.get("code")), body)


def _json_text(value: object) -> str:
    """Return a value of a host as JSON; words in its place where it is nested too deeply to be written."""
    try:
        return json.dumps(value)
    except RecursionError:
        return "a value that is nested too deeply to be shown"


def _word(value: object) -> str:
    return str(value)[:80] if isinstance(value, str | int) and not isinstance(value, bool) else ""


def _page_title(page: str) -> str:
    """Say what an HTML page calls itself."""
    match = _TITLE.search(page[:20_000])
    title = " ".join(html.unescape(match[2]).split()) if match else ""
    return f"an HTML page with the title {title!r}" if title else "an HTML page"
