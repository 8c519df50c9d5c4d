"""Where a guarded text comes from: what groups a report, and what a person is shown of it."""

from dataclasses import dataclass
from enum import Enum
from re import compile as compile_pattern

DISPLAY_LENGTH = 120
"""Longest origin shown to a person, in characters; the equality of sources uses the whole label."""

_UNPRINTABLE = compile_pattern(r"[\s\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ud800-\udfff\ufeff]+")


class SourceKind(Enum):
    """What kind of place a text was fetched from."""

    UNKNOWN = "unknown"
    WEB_CONTENT = "web_content"
    FILE_CONTENT = "file_content"
    CHAT_ATTACHMENT = "chat_attachment"
    RETRIEVAL_CONTEXT = "retrieval_context"
    DATA_SOURCE_DESCRIPTION = "data_source_description"
    MAIL_CONTENT = "mail_content"
    TOOL_OUTPUT = "tool_output"


_PATH_KINDS = frozenset({SourceKind.FILE_CONTENT, SourceKind.CHAT_ATTACHMENT})


@dataclass(frozen=True, slots=True)
class GuardSource:
    """One origin of texts; equal sources are reported together.

    Every field of a page shares the page's source, so that the report names the page and not its fields.

    Attributes:
        kind: The kind of origin.
        label: The address of a page, the path of a file, ``data source: path`` of a passage, the name of a
            mailbox or tool.
    """

    kind: SourceKind
    label: str

    @property
    def display(self) -> str:
        """What a person is shown: one printable line, and of a path the file name only."""
        label = self.label
        if self.kind in _PATH_KINDS:
            label = label.replace("\\", "/").rstrip("/").rpartition("/")[2]
        label = _UNPRINTABLE.sub(" ", label).strip() or "unnamed source"
        return label if len(label) <= DISPLAY_LENGTH else label[: DISPLAY_LENGTH - 1] + "…"


@dataclass(frozen=True, slots=True)
class GuardText:
    """One text on its way to a model.

    Attributes:
        text: The text, already cut to what the model will read.
        source: Its origin.
    """

    text: str
    source: GuardSource
