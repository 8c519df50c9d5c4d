"""Asking a question on the command line: chat, attachments, the run, and what is printed of it."""

import asyncio
import logging
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lockgate.app.configuration import Configuration
from lockgate.app.home import open_lockgate, read_configuration
from lockgate.app.lockgate import Lockgate
from lockgate.app.providers import Provider
from lockgate.calling.events import RequestPrepared
from lockgate.calling.run import Run
from lockgate.chat.addresses import keys_in
from lockgate.chat.values import Attachment, ChatThread
from lockgate.cli.attached import read_attached
from lockgate.cli.demands import FAMILY, held_to_its_source
from lockgate.cli.denying import tell_ways_out
from lockgate.cli.exit_status import ExitStatus, status_of
from lockgate.cli.folders import PREFIX, looked_at, with_documents
from lockgate.cli.names import check_provider, no_such
from lockgate.cli.presets import chosen_for
from lockgate.cli.problems import tell_problems
from lockgate.cli.rendering import Renderer, print_failure
from lockgate.cli.sources import EVERY_SOURCE, with_sources
from lockgate.cli.terminal import brief, note, notes, safe, show_error
from lockgate.documents import Document
from lockgate.errors import LockgateError, ProviderDenied, UnknownNameError
from lockgate.guard import GuardSource, GuardText, SourceKind
from lockgate.registry.beyond import NOTHING_TO_OFFER
from lockgate.settings.home import Home
from lockgate.tools.definition import ToolActivation
from lockgate.tools.threads import run_in_thread

SEARCH_TOOL = "semantic_search"
"""The tool that searches what --docs and --source name."""

_ALL = "the configured data sources"
_COMPLETE = ("answered", "limit")
_TITLE_CHARACTERS = 60
_CHATS_NAMED = 5


@dataclass(frozen=True, slots=True)
class Request:
    """What was asked for on the command line."""

    text: str
    provider: str | None = None
    model: str = ""
    tools: tuple[str, ...] = ()
    docs: tuple[Path, ...] = ()
    sources: tuple[str, ...] = ()
    attached: tuple[Path, ...] = ()
    chat: str | None = None
    as_json: bool = False
    verbose: bool = False
    template: str | None = None
    assistant: str | None = None
    no_tools: bool = False
    shows_log: bool = False

    @property
    def selected(self) -> tuple[str, ...] | None:
        """The tools that were named; none at all on purpose; None when nothing was said."""
        return () if self.no_tools else self.tools or None

    @property
    def searches(self) -> bool:
        """Whether something is to be searched."""
        return bool(self.docs or self.sources)


async def ask(request: Request) -> int:
    """Ask, print, and return the exit status. With ``--json`` an object is printed whatever happens.

    Raises:
        LockgateError: Nothing could be asked.
    """
    if request.shows_log or os.environ.get("LOCKGATE_DEBUG"):
        _show_log()
    begun = False
    try:
        home = Home.find()
        configuration = read_configuration(home)
        async with open_lockgate(home, configuration) as gate:
            tell_problems(gate, verbose=request.verbose)
            provider, run = await _prepared(gate, configuration, request)
            begun = True
            wanted = request.selected
            if wanted is None:
                wanted = chosen_for(configuration, request.template, run.chat.assistant)
            _tell_selection(gate, wanted, request)
            return await _answered(gate, provider, run, request, wanted)
    except (LockgateError, asyncio.CancelledError) as error:
        if request.as_json and not begun:
            is_error = isinstance(error, LockgateError)
            print_failure("failed" if is_error else "cancelled", str(error) if is_error else None)
        raise


async def _prepared(gate: Lockgate, configuration: Configuration, request: Request) -> tuple[Provider, Run]:
    """Return whom is asked, and the run, not entered."""
    if request.assistant is not None and request.assistant not in configuration.assistants:
        raise no_such(gate, "assistant", request.assistant, configuration.assistants)
    if request.template is not None and request.template not in configuration.chat_templates:
        raise no_such(gate, "chat template", request.template, configuration.chat_templates)
    chat = await chat_of(gate, request.chat)
    assistant = configuration.assistants.get(request.assistant or (chat.assistant if chat is not None else ""))
    named = request.provider or (assistant.provider if assistant is not None else "")
    check_provider(gate, named or gate.default_provider)
    provider = gate.provider(named or None, model=request.model)
    for name in request.tools:
        if not gate.registry.is_known(name):
            raise UnknownNameError("tool", name, names_of_tools(gate))
    if chat is None:
        title = " ".join(request.text.split())[:_TITLE_CHARACTERS]
        chat = replace(gate.new_chat(request.template), title=title, include_date=True)
    if request.sources:
        chat = await with_sources(gate, chat, request.sources)
    for path in request.docs:
        chat = await with_documents(gate, configuration, chat, path, verbose=request.verbose)
    _tell_lost_folders(gate, chat)
    attachments = []
    for path in request.attached:
        attached = await run_in_thread(read_attached, looked_at(path, Path.absolute))
        attachments.append(await attachment(gate, path, attached.document))
        chat = held_to_its_source(gate, configuration, chat, path, attached)
    return provider, gate.ask(
        chat, request.text, provider=provider, selected=request.selected, attachments=attachments,
        assistant=request.assistant,
    )  # fmt: skip


async def _answered(
    gate: Lockgate, provider: Provider, run: Run, request: Request, wanted: tuple[str, ...]
) -> int:
    renderer = Renderer(verbose=request.verbose, as_json=request.as_json)
    error: LockgateError | None = None
    try:
        async with run:
            async for event in run:
                renderer.on(event)
                if isinstance(event, RequestPrepared):
                    await _tell_left_out(gate, provider, run, event, request, wanted)
    except LockgateError as raised:
        error = raised
    except asyncio.CancelledError:
        renderer.interrupted(run)
        if run.error is not None:
            show_error(run.error, verbose=request.verbose)
        return ExitStatus.INTERRUPTED
    is_kept = not (request.chat is None and _came_to_nothing(run, error) and await gate.store.delete(run.chat.id))
    renderer.end(run, error, is_kept=is_kept)
    if error is not None:
        show_error(error, verbose=request.verbose)
        if isinstance(error, ProviderDenied):
            tell_ways_out(gate, run.chat, provider)
        return status_of(error)
    if run.stopped == "failed":
        return ExitStatus.PROVIDER
    return ExitStatus.OK if run.stopped in _COMPLETE else ExitStatus.PARTIAL


def _came_to_nothing(run: Run, error: LockgateError | None) -> bool:
    """Tell whether a run failed before anything was answered or called: a new chat of it is not worth keeping."""
    return (error is not None or run.stopped in ("denied", "failed")) and not run.text and not run.traces


# What a person should know beside the answer


class _SafeFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return safe(super().format(record))


def _show_log() -> None:
    handler = logging.StreamHandler()
    handler.setFormatter(_SafeFormatter("%(levelname)s %(name)s: %(message)s"))
    logging.getLogger().addHandler(handler)
    logging.getLogger("lockgate").setLevel(logging.INFO)


def _tell_lost_folders(gate: Lockgate, chat: ChatThread) -> None:
    there = {instance.id for instance in gate.assembly.services.instances(FAMILY)}
    if any(name.startswith(PREFIX) and name not in there for name in chat.data_sources.selected):
        note("this chat searched a folder before; name it again with --docs to go on searching it")


def _tell_selection(gate: Lockgate, wanted: tuple[str, ...], request: Request) -> None:
    """Say what a selection means: the whole collection, and which tools nobody named come along, and with which one."""
    if request.as_json and not request.verbose:
        return
    if request.no_tools and request.searches:
        note("--no-tools switches off the tools that can be selected; what --docs and --source name is still searched")
    for name in dict.fromkeys(request.tools):
        collection = gate.registry.get_collection_id(name)
        others = [item.id for item in gate.registry.tools if item.id != name
                  and gate.registry.get_collection_id(item.id) == collection]  # fmt: skip
        if collection != name and others:
            rest = ", ".join(others)
            note(f"{name} belongs to the collection {collection}, which is selected as a whole, so with {rest}")
    for name, brought_by in gate.registry.companions(wanted).items():
        note(f"{name} comes with {brought_by}")


async def _tell_left_out(  # noqa: PLR0917 - all that one question consists of
    gate: Lockgate, provider: Provider, run: Run, prepared: RequestPrepared, request: Request, wanted: tuple[str, ...]
) -> None:
    """Say why tools are not offered: all of them with ``--verbose``, else those the person asked for."""
    for tool_id in prepared.left_out:
        if not request.verbose and not _is_wanted(gate, tool_id, request, wanted):
            continue
        answer = await gate.explain(tool_id, provider=provider, chat=run.chat, selected=request.selected)
        says_nothing = not answer.blocks and NOTHING_TO_OFFER in answer.beyond[:1]
        if request.verbose or not says_nothing:
            notes().print(f"not offered: {safe(tool_id)}: {safe(brief(answer.why))}", style="yellow")
    if request.searches and not _is_searched(gate, prepared.offered):
        sources = [_ALL if name == EVERY_SOURCE else name for name in request.sources]
        what = ", ".join([*map(str, request.docs), *sources])
        note(f"no tool can search {what} here, so the answer does not come from it")


def _is_searched(gate: Lockgate, offered: Sequence[str]) -> bool:
    """Tell whether a tool is offered that searches data sources; where another pack brings it, it offers itself."""
    if gate.registry.get(SEARCH_TOOL) is not None:
        return SEARCH_TOOL in offered
    return any(_offers_itself(gate, tool_id) for tool_id in offered)


def _offers_itself(gate: Lockgate, tool_id: str) -> bool:
    registered = gate.registry.get(tool_id)
    return registered is not None and registered.definition.activation is ToolActivation.CONTEXT


def _is_wanted(gate: Lockgate, tool_id: str, request: Request, wanted: tuple[str, ...]) -> bool:
    if tool_id in request.tools:
        return True
    if _offers_itself(gate, tool_id):
        return request.searches and tool_id == SEARCH_TOOL
    return tool_id in gate.registry.expand_selection(wanted)


# What is asked with


def names_of_tools(gate: Lockgate) -> set[str]:
    """Return the IDs of all tools and collections."""
    ids = {tool.id for tool in gate.registry.tools}
    return ids | {gate.registry.get_collection_id(tool_id) for tool_id in ids}


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
        raise UnknownNameError("chat", wanted, [row.id for row in rows[:_CHATS_NAMED]])
    return chat


async def attachment(gate: Lockgate, path: Path, document: Document) -> Attachment:
    """Pass a document through the guard, and note the addresses in it."""
    source = GuardSource(SourceKind.CHAT_ATTACHMENT, str(path))
    scope = gate.assembly.services.guard.scope()
    name, text = await scope.clean([GuardText(source.display, source), GuardText(document.text, source)])
    if report := scope.take_report():
        notes().print(f"! {safe(report.describe())}", style="yellow")
    return Attachment(name, text, keys_in(text))
