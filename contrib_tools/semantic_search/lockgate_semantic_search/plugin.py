"""The entry point: contributes the tool and the kinds of local data sources."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from lockgate import hookimpl

if TYPE_CHECKING:
    from lockgate import Kind, Tool


@hookimpl
def lockgate_tools() -> "Iterable[Tool]":
    """Contribute the tool."""
    from lockgate_semantic_search.tool import SemanticSearch

    return [SemanticSearch()]


@hookimpl
def lockgate_kinds() -> "Iterable[Kind]":
    """Contribute the kinds of data sources: a folder and a file."""
    from lockgate_semantic_search.sources import LOCAL_FILE, LOCAL_FOLDER

    return [LOCAL_FOLDER, LOCAL_FILE]
