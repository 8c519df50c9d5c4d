"""``--docs``: a folder or file on the command line becomes a data source of the chat, and is indexed."""

import hashlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from lockgate.app.configuration import Configuration, InstanceConfig
from lockgate.app.lockgate import Lockgate
from lockgate.chat.values import ChatThread
from lockgate.cli.demands import FAMILY, demands_on
from lockgate.cli.progress import IndexProgress
from lockgate.cli.sources import searching
from lockgate.cli.terminal import note, notes, one_line
from lockgate.errors import ConfigurationError, DocumentError
from lockgate.policy import ConfidenceLevel
from lockgate.retrieval import Indexable, IndexReport

PREFIX = "docs-"
"""What the ID of every data source of ``--docs`` begins with; the path's hash follows, so that its index is found."""

T = TypeVar("T")


def looked_at(path: Path, look: Callable[[Path], T]) -> T:
    """Look at a path of the command line.

    Raises:
        DocumentError: It does not exist, or may not be looked at.
    """
    try:
        path.expanduser().stat()
        return look(path.expanduser())
    except FileNotFoundError:
        raise DocumentError(f"{path} does not exist.") from None
    except (OSError, RuntimeError, ValueError) as error:
        # RuntimeError: a home folder nobody knows, or a loop of links; ValueError: a NUL.
        reason = getattr(error, "strerror", None) or "its path cannot be followed"
        raise DocumentError(f"{path} cannot be read: {reason}.") from None


def source_id_of(place: Path) -> str:
    """Return the ID of the data source that a folder or file becomes, links resolved."""
    return PREFIX + hashlib.sha256(str(place).encode("utf-8", "surrogatepass")).hexdigest()[:12]


async def with_documents(
    gate: Lockgate, configuration: Configuration, chat: ChatThread | None, path: Path, *, verbose: bool
) -> ChatThread:
    """Index a folder or file and let the chat search it.

    Args:
        gate: Entered.
        configuration: What it was opened with.
        chat: The chat so far; a new one when None.
        path: The folder or file.
        verbose: Name every file that was left out, and why.

    Returns:
        The chat, with the folder beside what it searched before.

    Raises:
        DocumentError: It does not exist, or holds nothing that can be read.
        ConfigurationError: No installed plugin can search folders.
    """
    place = looked_at(path, Path.resolve)
    is_folder = looked_at(path, Path.is_dir)
    kind = "local_folder" if is_folder else "local_file"
    source_id = source_id_of(place)
    name = place.name or str(place)
    values: dict[str, object] = {"path": str(place), "description": f"Texts in {name}"}
    if demands := demands_on(gate, configuration, place):
        values["confidence"] = demands[0].level.name
        note(f"{path} {demands[0].words}")
        for demand in demands:  # a folder has a level of its own, and cannot say that it is for self-hosted ones only
            chat = (chat or ChatThread()).require(replace(demand.requirements, confidence=ConfidenceLevel.NONE))
    await gate.add_instance(InstanceConfig(source_id, kind, FAMILY, name=name, values=values))
    source = _opened(gate, source_id)
    with IndexProgress(name) as progress:
        report = await source.update(progress.on)
    _tell(report, path, is_folder=is_folder, verbose=verbose)
    return searching(chat, source_id)


def _opened(gate: Lockgate, source_id: str) -> Indexable:
    services = gate.assembly.services
    instance = next((item for item in services.instances(FAMILY) if item.id == source_id), None)
    if instance is None:
        why = next((text for text in gate.assembly.problems if source_id in text), "")
        raise ConfigurationError(
            f"Folders cannot be searched. {why or 'No installed plugin brings such data sources.'} They come with the "
            "pack lockgate-semantic-search."
        )
    source = services.opened(instance)
    if not isinstance(source, Indexable):
        raise ConfigurationError(f"{instance.name!r} cannot be indexed: its kind makes a {type(source).__name__}.")
    return source


def _tell(report: IndexReport, path: Path, *, is_folder: bool, verbose: bool) -> None:
    """Say what the index holds.

    Raises:
        DocumentError: Nothing that could be read.
    """
    for notice in report.notices:
        note(notice)
    skipped = len(report.skipped)
    if verbose:
        for name, reason in report.skipped:
            notes().print(f"left out: {one_line(name)}: {one_line(reason)}", style="dim")
    if report.documents == 0 and not skipped:
        raise DocumentError(f"{path} holds no files." if is_folder else f"{path} cannot be read.")
    if report.documents == 0:
        name, reason = report.skipped[0]
        if not is_folder:
            raise DocumentError(f"{path} cannot be read: {reason}")
        count = "1 file was left out" if skipped == 1 else f"{skipped} files were left out, one of them"
        raise DocumentError(f"{path} holds no text: {count}, {one_line(name)} ({one_line(reason)})")
    if report.passages == 0:
        raise DocumentError(f"{path} holds no text: what could be read is blank.")
    documents = "1 document" if report.documents == 1 else f"{report.documents} documents"
    passages = "1 passage" if report.passages == 1 else f"{report.passages} passages"
    rest = "" if not skipped else f", {skipped} left out" + ("" if verbose else " (--verbose says why)")
    notes().print(f"{documents}, {passages}{rest}", style="dim")
