"""What people read about a tool, in their language."""

from collections.abc import Mapping
from dataclasses import dataclass, field

DEFAULT_LOCALE = "en"


@dataclass(frozen=True, slots=True)
class ToolTexts:
    """Names and labels of a tool, a collection or an option source.

    Attributes:
        name: Display name.
        description: One or two sentences for a person.
        icon: A short name out of the Material symbol set.
        fields: Setting name → (label, description).
        groups: Settings group → heading.
        options: Option value → label.
    """

    name: str
    description: str = ""
    icon: str = "build"
    fields: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    groups: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, str] = field(default_factory=dict)


def readable_name(identifier: str) -> str:
    """Make words of an ID: ``read_web_page`` becomes ``Read Web Page``."""
    return " ".join(word.capitalize() for word in identifier.replace("-", "_").split("_") if word)
