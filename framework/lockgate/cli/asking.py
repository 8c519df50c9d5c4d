"""Asking a question on the command line: folders, attachments, the run, and what is printed of it."""

import asyncio
import hashlib
import logging
from dataclasses import dataclass, replace
from pathlib import Path

from lockgate.app.configuration import InstanceConfig
from lockgate.app.home import open_lockgate
from lockgate.app.lockgate import Lockgate
from lockgate.calling.run import Run
from lockgate.chat.addresses import keys_in
from lockgate.chat.values import Attachment, ChatThread, DataSourceOptions
from lockgate.cli.exit_status import ExitStatus, status_of
from lockgate.cli.progress import IndexProgress
from lockgate.cli.rendering import Renderer, print_json
from lockgate.cli.terminal import notes, safe, show_error
from lockgate.documents import read_document
from lockgate.errors import DocumentError, LockgateError, UnknownNameError
from lockgate.guard import GuardSource, GuardText, SourceKind

_COMPLETE = ("answered", "limit")


@dataclass(frozen=True, slots=True)
class Request:
    """What was asked for on the command line."""

    text: str
    provider: str | None = None
    model: str = ""
    tools: tuple[str, ...] = ()
    docs: Path | None = None
    attached: tuple[Path, ...] = ()
    chat: str | None = None
    as_json: bool = False
    verbose: bool = False


async def ask(request: Request) -> int:
    """Ask, print, and return the exit status.

    Raises:
        LockgateError: Nothing could be asked.
    """
    logging.getLogger("lockgate").addHandler(_handler(verbose=request.verbose))
    async with open_lockgate() as gate:
        if request.verbose:
            for problem in gate.assembly.problems:
                notes().print(f"note: {safe(problem)}", style="yellow")
        elif gate.assembly.problems:
            count = len(gate.assembly.problems)
            notes().print(f"note: {count} problem(s) with settings or plugins; --verbose shows them", style="yellow")
        ready = gate.provider(request.provider, model=request.model)
        chat = await chat_of(gate, request.chat)
        if request.docs is not None:
            chat = await with_documents(gate, chat, request.docs, verbose=request.verbose)
        attachments = [await attachment(gate, path) for path in request.attached]
        selected = request.tools or None
        if selected is not None:
            known = {tool.id for tool in gate.registry.tools}
            for name in selected:
                if not gate.registry.is_known(name):
                    raise UnknownNameError("tool", name, known)
        run = gate.ask(chat, request.text, provider=ready, selected=selected, attachments=attachments)
        return await _answered(run, request)


def _handler(*, verbose: bool) -> logging.Handler:
    handler = logging.StreamHandler() if verbose else logging.NullHandler()
    handler.setFormatter(logging.Formatter("%(levelname)s %(name)s: %(message)s"))
    return handler


async def _answered(run: Run, request: Request) -> int:
    renderer = Renderer(verbose=request.verbose, quiet=request.as_json)
    error: LockgateError | None = None
    try:
        async with run:
            async for event in run:
                renderer.on(event)
    except LockgateError as raised:
        error = raised
    except asyncio.CancelledError:
        renderer.interrupted(run)
        if request.as_json:
            print_json(run, None)
        raise
    if request.as_json:
        print_json(run, error)
    else:
        renderer.end(run)
    if error is not None:
        show_error(error)
        return status_of(error)
    return ExitStatus.OK if run.stopped in _COMPLETE else ExitStatus.PARTIAL


async def chat_of(gate: Lockgate, wanted: str | None) -> ChatThread | None:
    """Return the kept chat that was asked for; None for a new one.

    Raises:
        UnknownNameError: There is no such chat.
    """
    if wanted is None:
        return None
    rows = await gate.store.list_chats()
    if wanted == "last" and rows:
        wanted = rows[0].id
    chat = await gate.store.load(wanted)
    if chat is None:
        raise UnknownNameError("chat", wanted, [row.id for row in rows])
    return chat


def _place_of(path: Path) -> tuple[Path, str]:
    """Return the absolute path and the kind of data source it makes.

    Raises:
        DocumentError: It does not exist.
    """
    place = path.expanduser().resolve()
    if not place.exists():
        raise DocumentError(f"{path} does not exist.")
    return place, "local_folder" if place.is_dir() else "local_file"


async def with_documents(gate: Lockgate, chat: ChatThread | None, path: Path, *, verbose: bool) -> ChatThread:
    """Index a folder or file and let the chat search it.

    Raises:
        DocumentError: It does not exist, or holds nothing that can be read.
    """
    place, kind = _place_of(path)
    source_id = "docs-" + hashlib.sha256(str(place).encode("utf-8", "surrogatepass")).hexdigest()[:12]
    name = place.name or str(place)
    values = {"path": str(place), "description": f"Texts in {name}"}
    await gate.add_instance(InstanceConfig(source_id, kind, "data_source", name=name, values=values))
    instance = next((item for item in gate.assembly.services.instances("data_source") if item.id == source_id), None)
    if instance is None:
        raise DocumentError("Folders cannot be searched: the pack lockgate-semantic-search is not installed.")
    source = gate.assembly.services.opened(instance)
    with IndexProgress(name) as progress:
        report = await source.update(progress.on)
    for notice in report.notices:
        notes().print(f"note: {safe(notice)}", style="yellow")
    if report.skipped and verbose:
        for skipped, reason in report.skipped:
            notes().print(f"skipped {safe(skipped)}: {safe(reason)}", style="dim")
    if report.documents == 0:
        why = "holds no files" if not report.skipped else f"holds no text: {report.skipped[0][1]}"
        if kind == "local_file" and report.skipped:
            raise DocumentError(f"{path} cannot be read: {report.skipped[0][1]}")
        raise DocumentError(f"{path} {why}")
    skipped_count = f", {len(report.skipped)} skipped (--verbose says why)" if report.skipped and not verbose else ""
    notes().print(f"{report.documents} documents, {report.passages} passages{skipped_count}", style="dim")
    options = DataSourceOptions(disabled=False, selected=(source_id,))
    return replace(chat or ChatThread(), data_sources=options)


async def attachment(gate: Lockgate, path: Path) -> Attachment:
    """Read a document, pass it through the guard, and note the addresses in it.

    Raises:
        DocumentError: It cannot be read as text.
    """
    _place_of(path)
    document = await asyncio.to_thread(read_document, path)
    source = GuardSource(SourceKind.CHAT_ATTACHMENT, str(path))
    scope = gate.assembly.services.guard.scope()
    name, text = await scope.clean([GuardText(path.name, source), GuardText(document.text, source)])
    if report := scope.take_report():
        notes().print(f"! {safe(report.describe())}", style="yellow")
    return Attachment(name, text, keys_in(text))
