"""The entry point: contributes the embedded passage store."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from lockgate import hookimpl

if TYPE_CHECKING:
    from lockgate.retrieval import PassageStoreFactory


@hookimpl
def lockgate_passage_stores() -> "Iterable[PassageStoreFactory]":
    """Contribute the store; it lies in a file of the data folder it is opened with."""
    from lockgate.retrieval import PassageStoreFactory
    from lockgate_local_index.store import open_store

    return [PassageStoreFactory("local", open_store)]
