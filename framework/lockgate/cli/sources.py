"""``--source``: configured data sources. One that cannot be searched costs itself alone, and is told."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from lockgate.app.lockgate import Lockgate
from lockgate.chat.values import ChatThread, DataSourceOptions
from lockgate.cli.demands import FAMILY
from lockgate.cli.names import no_such
from lockgate.cli.progress import IndexProgress
from lockgate.cli.terminal import note
from lockgate.errors import ConfigurationError, DocumentError, LockgateError
from lockgate.retrieval import Indexable
from lockgate.settings.instances import Instance

EVERY_SOURCE = "all"
"""What stands for all configured data sources."""


async def with_sources(gate: Lockgate, chat: ChatThread, names: Sequence[str]) -> ChatThread:
    """Let the chat search configured data sources; indexes are brought up to date first.

    One that cannot be brought up to date stays chosen, and the model is told that it was not searched.

    Args:
        gate: Entered.
        chat: The chat so far.
        names: IDs of configured data sources; ``all`` for all that the provider may use.

    Raises:
        UnknownNameError: There is no such data source.
        ConfigurationError: It is configured and cannot be used as it is, or none is configured at all.
        DocumentError: Not one of them can be searched.
    """
    instances = {instance.id: instance for instance in gate.assembly.services.instances(FAMILY)}
    for name in names:
        if name != EVERY_SOURCE and name not in instances:
            raise no_such(gate, "data source", name, {*instances, EVERY_SOURCE})
    wanted = list(instances) if EVERY_SOURCE in names else list(dict.fromkeys(names))
    if not wanted:
        raise ConfigurationError("There is no data source to search: [data_sources.ID] in settings.toml makes one.")
    lost = []
    for name in wanted:
        try:
            await _update(gate, instances[name])
        except LockgateError as error:
            lost.append(f"The data source {name!r} cannot be searched: {_reason(instances[name], error)}")
    if len(lost) == len(wanted):
        rest = "" if len(lost) == 1 else f" Nor can the other {len(lost) - 1}; `lockgate plugins doctor` lists them."
        raise DocumentError(lost[0] + rest)
    for text in lost:
        note(text)
    return searching(chat, *(name for name in names if name != EVERY_SOURCE), automatic=EVERY_SOURCE in names)


async def _update(gate: Lockgate, instance: Instance) -> None:
    source = gate.assembly.services.opened(instance)
    if isinstance(source, Indexable):
        with IndexProgress(instance.name) as progress:
            report = await source.update(progress.on)
        for notice in report.notices:
            note(notice)


def searching(chat: ChatThread | None, *source_ids: str, automatic: bool = False) -> ChatThread:
    """Return a chat that searches these data sources beside those it searched before."""
    chat = chat or ChatThread()
    before = chat.data_sources if chat.data_sources.enabled else DataSourceOptions()
    selected = tuple(dict.fromkeys((*before.selected, *source_ids)))
    return replace(
        chat, data_sources=replace(before, disabled=False, selected=selected, automatic=before.automatic or automatic)
    )


def missing_sources(gate: Lockgate) -> list[str]:
    """Return a sentence for each configured data source whose folder or file is not there, or may not be looked at."""
    found = []
    for instance in gate.assembly.services.instances(FAMILY):
        path = path_of(instance)
        if path is None:
            continue
        try:
            path.stat()
            continue
        except FileNotFoundError:
            why = f"{path} does not exist"
        except (OSError, ValueError) as error:
            why = f"{path}: {getattr(error, 'strerror', None) or error}"
        by = instance.set_by
        place = f"In {by.file}{'' if by.line is None else f':{by.line}'}: " if by.file else ""
        found.append(f"{place}The data source {instance.id!r} cannot be searched: {why}.")
    return found


def path_of(instance: Instance) -> Path | None:
    """Return where a local data source lies; None for any other."""
    path = getattr(instance.settings, "path", None)
    return Path(path) if isinstance(path, str) and Path(path).is_absolute() else None


def _reason(instance: Instance, error: LockgateError) -> str:
    path = path_of(instance)
    where = "It is" if path is None else f"It is {path},"
    return f"{error} {where} {instance.set_by.phrase}."
