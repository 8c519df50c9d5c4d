"""What a document is, and how its name tells which way its text is built."""

from dataclasses import dataclass
from enum import Enum
from pathlib import PurePath


class DocumentKind(Enum):
    """How a text is built; decides where its headings are."""

    TEXT = "text"
    MARKDOWN = "markdown"
    RESTRUCTURED_TEXT = "restructured_text"
    SOURCE_CODE = "source_code"
    TABLE = "table"
    WEB_PAGE = "web_page"


@dataclass(frozen=True, slots=True)
class Document:
    """A file that was read.

    Attributes:
        name: The file's name, without its folder.
        text: All of its text; lines end in a line feed, a byte order mark is gone.
        kind: How the text is built.
    """

    name: str
    text: str
    kind: DocumentKind


_SUFFIXES = {
    DocumentKind.MARKDOWN: "md markdown mdown mkd mdx qmd rmd",
    DocumentKind.RESTRUCTURED_TEXT: "rst rest",
    DocumentKind.TABLE: "csv tsv tab",
    DocumentKind.WEB_PAGE: "htm html xhtml",
    DocumentKind.SOURCE_CODE: (
        "asm awk bash bat c cc cfg clj cmake cpp cs css cxx d dart diff el erl ex exs f90 fish fs go gradle graphql h "
        "hh hpp hs hxx ini java jl js json jsonl jsx kt less lisp lua m4 mak mk ml mm nim patch php pl pm proto ps1 "
        "py pyi r rb rkt rs sass scala scm scss sed sh sql svg swift tcl tex tf toml ts tsx vb vhd vim xml xsd xsl "
        "yaml yml zig zsh"
    ),
}
_KINDS = {suffix: kind for kind, suffixes in _SUFFIXES.items() for suffix in suffixes.split()}
_SOURCE_NAMES = frozenset({"makefile", "dockerfile", "gemfile", "rakefile", "cmakelists.txt"})


def kind_of(name: str) -> DocumentKind:
    """Tell a document's kind by its file name; a name that says nothing, and ``.txt``, is TEXT.

    A trailing ``.gz`` does not count: ``manual.md.gz`` is Markdown.
    """
    lowered = name.lower().removesuffix(".gz")
    if lowered in _SOURCE_NAMES:
        return DocumentKind.SOURCE_CODE
    return _KINDS.get(PurePath(lowered).suffix.removeprefix("."), DocumentKind.TEXT)
