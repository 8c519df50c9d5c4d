"""What a script says: answers of a model, errors of a host, and raw bytes.

Values only. A `ModelAnswer` says what the model means in words that every API has (text, reasoning, calls);
how an API spells it is a shape (`ChatShape`), how events become bytes a `SseStyle`, how bytes travel a
`Delivery`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Literal

from lockgate.testing.fake_wire import JSON, Delivery, Headers, SseStyle, json_text


class Marker(Enum):
    """Values that JSON does not have."""

    AUTO = "as the host would"
    ABSENT = "the member is left out"


AUTO: Literal[Marker.AUTO] = Marker.AUTO
ABSENT: Literal[Marker.ABSENT] = Marker.ABSENT


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call of a model, right or wrong.

    Attributes:
        name: a tuple is sent in pieces.
        arguments: text is sent as it is (so it may be no JSON); None is JSON null; `ABSENT` leaves the member
            out; any other value is written as JSON text, or as itself when `as_object` is set.
        id: AUTO makes one that no other call of this provider has; equal texts repeat an id.
        type: the member beside the id.
        function: whether there is a function object at all.
        extra: further members of the call, such as a signature that has to come back.
    """

    name: str | tuple[str, ...] | Marker | None
    arguments: object = field(default_factory=dict)
    id: str | Marker | None = AUTO
    as_object: bool = False
    type: str | Marker | None = "function"
    function: Literal["object", "null", "absent"] = "object"
    extra: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """An AUTO name or type means nothing."""
        if self.name is AUTO or self.type is AUTO:
            raise ValueError("only the id of a call can be AUTO; name and type are a text, None or ABSENT")

    @property
    def argument_value(self) -> object:
        """The value of the `arguments` member; ABSENT when there is none."""
        if self.arguments is ABSENT or self.arguments is None or isinstance(self.arguments, str):
            return self.arguments
        return self.arguments if self.as_object else json_text(self.arguments)


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one answer."""

    prompt: int = 11
    completion: int = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamError:
    """An error that comes with status 200, after what the answer has said.

    `where`: `alone` in an event of its own, `beside_choices` in a chunk with finish_reason "error"
    (OpenRouter), or in an `event` named error (Groq).
    """

    message: str = "Internal server error"
    type: str | None = "server_error"
    code: str | int | None = None
    where: Literal["alone", "beside_choices", "event"] = "alone"

    def body(self) -> dict[str, object]:
        """The `error` object."""
        return {"message": self.message, "type": self.type, "param": None, "code": self.code}


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatShape:
    """How a Chat Completions host spells an answer; the default is OpenAI.

    Attributes:
        reasoning_field: the member that carries reasoning (`reasoning_content`, `reasoning` …).
        content_parts: content comes as a list of parts, reasoning as a part of type thinking (Mistral).
        content_beside_calls: `content` of an answer that has calls and no text.
        index: `index` of a call in a delta: counted, always zero, left out, or null.
        fragments: characters of arguments in one delta; None sends each call whole in one.
        first_arguments: `arguments` of the first delta of a call that is sent in fragments.
        continuation: what later deltas of a call carry beside arguments: nothing, its id again, id with name
            and type, empty texts, or nulls.
        interleaved: fragments of several calls take turns.
        finish_chunk: False leaves out everything from the finish chunk on, as a cut stream does (see also
            `done`).
        finish_with_last: finish_reason rides on the last delta instead of a chunk of its own.
        usage_at: where usage is; `as_asked` follows `stream_options.include_usage`.
        done: whether `[DONE]` ends the stream.
        choices_null: the body's `choices` are null; a stream begins with such a chunk and one whose delta is
            null.
        chunks_before, chunks_after: JSON values sent as events before the first delta and before the usage
            chunk.
        chunk_extra, choice_extra, message_extra: further members of each chunk or body, each choice, and the
            message or first delta; they also replace members of the same name.
    """

    reasoning_field: str = "reasoning_content"
    content_parts: bool = False
    content_beside_calls: str | Marker | None = None
    index: Literal["counted", "zero", "absent", "null"] = "counted"
    fragments: int | None = 8
    first_arguments: str | Marker | None = ""
    continuation: Literal["bare", "id", "id_and_name", "empty", "null"] = "bare"
    interleaved: bool = False
    finish_chunk: bool = True
    finish_with_last: bool = False
    usage_at: Literal["as_asked", "chunk", "finish", "both", "none"] = "as_asked"
    done: bool = True
    choices_null: bool = False
    chunks_before: tuple[object, ...] = ()
    chunks_after: tuple[object, ...] = ()
    chunk_extra: Mapping[str, object] = field(default_factory=dict)
    choice_extra: Mapping[str, object] = field(default_factory=dict)
    message_extra: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """A fragment has at least one character."""
        if self.fragments is not None and self.fragments < 1:
            raise ValueError(f"a fragment has at least one character, not {self.fragments}")


class Answer:
    """Anything a script is made of: a `ModelAnswer`, an `ErrorAnswer` or a `RawAnswer`."""

    __slots__ = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAnswer(Answer):
    """What the model answers.

    Attributes:
        text, reasoning, refusal: pieces, one delta each in a stream.
        calls: tool calls, in order.
        finish: finish_reason; AUTO fits the answer, ABSENT leaves the member out everywhere.
        usage: tokens; None leaves them out.
        error: an error at the end, in place of the finish.
        streamed: whether a stream is sent; None does what the request asked for.
        chat: the spelling in Chat Completions.
        sse, delivery: the spelling of events and the way of the bytes.
    """

    text: tuple[str, ...] = ()
    reasoning: tuple[str, ...] = ()
    refusal: tuple[str, ...] = ()
    calls: tuple[Call, ...] = ()
    finish: str | Marker | None = AUTO
    usage: Usage | None = Usage()
    error: StreamError | None = None
    streamed: bool | None = None
    headers: Headers = ()
    chat: ChatShape = field(default_factory=ChatShape)
    sse: SseStyle = SseStyle()
    delivery: Delivery = Delivery()

    def __post_init__(self) -> None:
        """A bare text in place of pieces would be sent letter by letter."""
        for name in ("text", "reasoning", "refusal"):
            if isinstance(getattr(self, name), str):
                raise TypeError(f"{name} is a tuple of pieces: ({getattr(self, name)[:40]!r},)")


ErrorForm = Literal["native", "openai", "mistral", "detail", "gemini", "ollama", "watsonx", "text"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorAnswer(Answer):
    """An HTTP error of a host; `form` is the host's way to write it, `native` that of the API asked."""

    status: int
    message: str
    type: str | None = None
    code: str | int | None = None
    param: str | None = None
    form: ErrorForm = "native"
    extra: Mapping[str, object] = field(default_factory=dict)
    headers: Headers = ()
    delivery: Delivery = Delivery()


@dataclass(frozen=True, slots=True, kw_only=True)
class RawAnswer(Answer):
    """Any bytes with any status; each part is one write when pieces are `parts`."""

    status: int = 200
    content_type: str | None = JSON
    headers: Headers = ()
    parts: tuple[bytes, ...] = ()
    delivery: Delivery = Delivery()
