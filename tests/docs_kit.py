"""The pages of the documentation as the tests read them: headings, links, tables, marked code blocks.

A line above a fence says what the test does with it: ``<!-- runs -->`` executes a Python block as a program of its own,
``<!-- goes on -->`` executes it with the names of the block before, ``<!-- prints -->`` is what the last one printed,
``<!-- settings -->`` is a settings file without a mistake, ``<!-- shell -->`` holds commands and what they print.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"

_BLOCK = re.compile(r"(?:^<!-- ([a-z ]+) -->\n)?^(`{3,})([a-z]*)\n(.*?)^\2$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: the page, the line of its fence, its mark, its language, its text."""

    page: Path
    line: int
    mark: str
    language: str
    text: str

    @property
    def place(self) -> str:
        """Where it stands, for a message."""
        return f"{self.page.name}:{self.line}"


def pages() -> tuple[Path, ...]:
    """Return the README and every page of the documentation."""
    return (ROOT / "README.md", *sorted(DOCS.glob("*.md")))


@cache
def text_of(name: str) -> str:
    """Return the text of a page by its name, such as ``tools.md`` or ``README.md``."""
    return ((ROOT if name == "README.md" else DOCS) / name).read_text("utf-8")


def all_text() -> str:
    """Return the text of all pages."""
    return "\n".join(text_of(page.name) for page in pages())


def blocks(page: Path) -> Iterator[Block]:
    """Yield the fenced blocks of a page, in order."""
    text = text_of(page.name)
    for match in _BLOCK.finditer(text):
        line = text.count("\n", 0, match.start(2)) + 1
        yield Block(page, line, match[1] or "", match[3], match[4])


def prose_of(page: Path) -> str:
    """Return a page without its fenced blocks."""
    return _BLOCK.sub("", text_of(page.name))


def links_of(page: Path) -> list[str]:
    """Return the targets of the links and pictures of a page that lead into the repository."""
    found = _LINK.findall(re.sub(r"`[^`\n]*`", "", prose_of(page)))
    return [target for target in found if not re.match(r"[a-z]+:", target)]


def headings_of(page: Path) -> list[str]:
    """Return the headings of a page as they are written."""
    return re.findall(r"^#{1,6} +(.+?) *$", prose_of(page), re.MULTILINE)


def anchors_of(page: Path) -> set[str]:
    """Return the anchors that a code host gives to the headings of a page."""
    plain = (heading.replace("`", "").lower() for heading in headings_of(page))
    return {re.sub(r"[^\w\- ]", "", heading).replace(" ", "-") for heading in plain}


def rows_of(name: str, first_heading: str) -> list[list[str]]:
    """Return the rows of every table of a page whose first column has that heading, the heading row first each time."""
    found: list[list[str]] = []
    inside = False
    for line in text_of(name).splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")] if line.startswith("|") else []
        if cells and not inside:
            inside = cells[0] == first_heading
        if not cells:
            inside = False
        elif inside and not all(re.fullmatch(r":?-+:?", cell) for cell in cells):
            found.append(cells)
    return found


def code_words(text: str) -> set[str]:
    """Return everything that stands between single backticks."""
    return set(re.findall(r"`([^`\n]+)`", text))
