"""What a call brings back. Text and label travel in one object."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lockgate.chat.values import Source
from lockgate.policy import NOTHING, ChatRequirements


def to_compact_json(value: object) -> str:
    """Write JSON compactly, escaping only what JSON itself demands (RFC 8259, section 7).

    Raises:
        ValueError: The value holds NaN or an infinity, or refers to itself.
        TypeError: The value is no JSON.
    """
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The outcome of a call that worked.

    Attributes:
        content: Text, or a JSON value (object or list) that reaches the model compact and unescaped.
        sources: What a person may want to check.
        requires: What the delivered content demands of the chat from now on; name only what is in `content`.
    """

    content: str | Mapping[str, object] | Sequence[object]
    sources: tuple[Source, ...] = ()
    requires: ChatRequirements = NOTHING

    @property
    def is_json(self) -> bool:
        """Whether the content is JSON rather than text."""
        return not isinstance(self.content, str)

    def model_content(self) -> str:
        """Return the text that reaches the model."""
        return self.content if isinstance(self.content, str) else to_compact_json(self.content)
