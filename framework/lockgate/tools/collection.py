"""Collections: tools that only make sense together are selected, trusted and switched off as one."""

from dataclasses import dataclass

from lockgate.policy import ConfidenceLevel
from lockgate.settings.options import language_of
from lockgate.tools.texts import ToolTexts, readable_name


@dataclass(frozen=True, slots=True)
class ToolCollection:
    """A declared collection.

    Attributes:
        id: Unique among tools and collections.
        tools: IDs of its tools, in the order they are listed.
        description: For a model that picks the tools of an assistant.
        minimum_confidence: One minimum for all of them; what a tool declares itself does not count.
        labels: Names for people, by language (``en``, ``de``); made of the ID where there are none.
    """

    id: str
    tools: tuple[str, ...]
    description: str = ""
    minimum_confidence: ConfidenceLevel = ConfidenceLevel.NONE
    labels: tuple[tuple[str, ToolTexts], ...] = ()

    def texts(self, locale: str) -> ToolTexts:
        """Return names for people, in the language of `locale` where there is one, else in the first language."""
        tables = dict(self.labels)
        fallback = self.labels[0][1] if self.labels else ToolTexts(readable_name(self.id), self.description)
        return tables.get(language_of(locale), fallback)
