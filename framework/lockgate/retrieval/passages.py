"""A passage: a piece of content with its origin, its shape for a model, and the sources a person can check."""

import re
from dataclasses import dataclass
from enum import Enum
from pathlib import PurePath, PurePosixPath, PureWindowsPath
from typing import Final
from urllib.parse import urlsplit

from lockgate.chat.values import Source, SourceOrigin

MIN_FENCE: Final = 4
"""The shortest fence round a passage, in backticks; one more than Markdown's usual three."""


class PassageCategory(Enum):
    """What kind of content a passage is."""

    NONE = "NONE"
    UNKNOWN = "UNKNOWN"
    TEXT = "TEXT"
    IMAGE = "IMAGE"
    VIDEO = "VIDEO"
    AUDIO = "AUDIO"


class PassageType(Enum):
    """What a text is taken from, as far as that is known."""

    NOT_SPECIFIED = "NOT_SPECIFIED"
    UNKNOWN = "UNKNOWN"
    TEXT_DOCUMENT = "TEXT_DOCUMENT"
    TEXT_SPREADSHEET = "TEXT_SPREADSHEET"
    TEXT_PRESENTATION = "TEXT_PRESENTATION"
    TEXT_WEBSITE = "TEXT_WEBSITE"
    TEXT_EMAIL = "TEXT_EMAIL"


_SUFFIXES = {
    PassageType.TEXT_SPREADSHEET: ("csv", "tsv", "tab", "ods", "xls", "xlsx", "xlsm", "xlsb"),
    PassageType.TEXT_PRESENTATION: ("odp", "ppt", "pptx", "pptm"),
    PassageType.TEXT_WEBSITE: ("htm", "html", "xhtml"),
    PassageType.TEXT_EMAIL: ("eml",),
}
_TYPES = {suffix: kind for kind, suffixes in _SUFFIXES.items() for suffix in suffixes}


def passage_type_of(name: str) -> PassageType:
    """Tell the type of a file's passages by its name; TEXT_DOCUMENT where the name says nothing else."""
    suffix = PurePath(name.lower().removesuffix(".gz")).suffix.removeprefix(".")
    return _TYPES.get(suffix, PassageType.TEXT_DOCUMENT)


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of content that a search found.

    Attributes:
        data_source_id: The data source it comes from.
        data_source_name: What people call that source.
        text: The piece.
        path: Where it lies within the source, as the model may see it.
        category: What kind of content it is.
        type: What it is taken from.
        links: Further addresses that go with it.
        surrounding: Pieces of the content around it.
        page: Its page, from 1, where there are pages.
        section: The heading it stands under.
        reference_title: A title for a person; name and path of the source where it is empty.
        reference_link: An address for a person (http, https, file) or an absolute path.
    """

    data_source_id: str
    data_source_name: str
    text: str
    path: str = ""
    category: PassageCategory = PassageCategory.TEXT
    type: PassageType = PassageType.TEXT_DOCUMENT
    links: tuple[str, ...] = ()
    surrounding: tuple[str, ...] = ()
    page: int | None = None
    section: str = ""
    reference_title: str = ""
    reference_link: str = ""


def as_markdown(passage: Passage, index: int) -> str:
    """Write a passage as a model reads it: where it comes from, then its text inside a fence it cannot close.

    Args:
        passage: What to write. Nothing is filtered here: hand the result to the guard.
        index: Its running number in the result, from 1.
    """
    lines = [f"## Passage {index}", ""]
    lines.append(f"- Data source: {_one_line(passage.data_source_name)}")
    lines.append(f"- Content category: {passage.category.value}")
    lines.append(f"- Content type: {passage.type.value}")
    if passage.path:
        lines.append(f"- Path: {_one_line(passage.path)}")
    if passage.section:
        lines.append(f"- Section: {_one_line(passage.section)}")
    if passage.page is not None:
        lines.append(f"- Location: page {passage.page}")
    if passage.links:
        lines.append("- Links:")
        lines.extend(f"  - {_one_line(link)}" for link in passage.links)
    lines += ["", "Found text:", "", _fenced(passage.text)]
    if passage.surrounding:
        lines += ["", "Text around it:"]
        for piece in passage.surrounding:
            lines += ["", _fenced(piece)]
    return "\n".join(lines)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _fenced(text: str) -> str:
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(MIN_FENCE, longest + 1)
    body = text.strip("\n")
    return f"{fence}\n{body}\n{fence}"


def to_sources(passage: Passage) -> tuple[Source, ...]:
    """Return what a person can open to check a passage: its reference first, then its links.

    Only http, https and file addresses count, and absolute paths, which become file addresses.
    """
    title = _one_line(passage.reference_title) or _one_line(f"{passage.data_source_name}: {passage.path}")
    sources: list[Source] = []
    if url := _address(passage.reference_link or passage.path):
        sources.append(Source(title, url, SourceOrigin.RAG))
    sources.extend(
        Source(_one_line(link), url, SourceOrigin.RAG) for link in passage.links if (url := _address(link))
    )
    return tuple(sources)


def _address(link: str) -> str | None:
    link = link.strip()
    try:
        scheme = urlsplit(link).scheme.lower()
    except ValueError:
        return None
    if scheme in ("http", "https", "file"):
        return link
    for kind in (PurePosixPath, PureWindowsPath):
        if (path := kind(link)).is_absolute():
            return path.as_uri()
    return None
