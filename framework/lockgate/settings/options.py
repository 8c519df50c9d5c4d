"""Option sources: lists a setting chooses from, kept in one place and named in the person's language."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


def language_of(locale: str) -> str:
    """Return the language of an IETF tag: ``de`` of ``de-CH``."""
    return locale.partition("-")[0].lower()


@dataclass(frozen=True, slots=True)
class Option:
    """A value as stored, and its label for people."""

    value: str
    label: str


class OptionSource(Protocol):
    """A list of options. Asked when a form is shown and when a value is checked; never cached."""

    @property
    def id(self) -> str:
        """The name settings refer to it by."""

    def options(self, locale: str) -> Sequence[Option]:
        """Return the options, labelled in the language of `locale` (an IETF tag) where there is one."""


@dataclass(frozen=True, slots=True)
class FixedOptions:
    """An option source whose values never change.

    Attributes:
        id: The name settings refer to it by.
        labels: Language → labels, in the order of `values`; ``en`` has to be there.
        values: The stored values.
    """

    id: str
    values: tuple[str, ...]
    labels: tuple[tuple[str, tuple[str, ...]], ...]

    def options(self, locale: str) -> Sequence[Option]:
        """Return the options in the language of `locale`, else in English."""
        tables = dict(self.labels)
        labels = tables.get(language_of(locale), tables["en"])
        return [Option(value, label) for value, label in zip(self.values, labels, strict=True)]


COMMON_LANGUAGES = FixedOptions(
    "common_languages",
    ("all", "en-US", "en-GB", "zh-CN", "hi-IN", "es-ES", "fr-FR", "de-DE", "de-CH", "de-AT", "ja-JP", "ru-RU"),
    (
        ("en", ("Any language", "English (US)", "English (UK)", "Chinese (Simplified)", "Hindi", "Spanish", "French",
                "German (Germany)", "German (Switzerland)", "German (Austria)", "Japanese", "Russian")),
        ("de", ("Jede Sprache", "Englisch (USA)", "Englisch (UK)", "Chinesisch (vereinfacht)", "Hindi", "Spanisch",
                "Französisch", "Deutsch (Deutschland)", "Deutsch (Schweiz)", "Deutsch (Österreich)", "Japanisch",
                "Russisch")),
    ),
)
"""Languages a search can be limited to, as IETF tags; ``all`` first."""

SAFE_SEARCH = FixedOptions(
    "safe_search",
    ("OFF", "MODERATE", "STRICT"),
    (("en", ("Off", "Moderate", "Strict")), ("de", ("Aus", "Mittel", "Streng"))),
)
"""How strictly a search engine leaves out explicit results."""

BUILT_IN_OPTION_SOURCES: tuple[FixedOptions, ...] = (COMMON_LANGUAGES, SAFE_SEARCH)
