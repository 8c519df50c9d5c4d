"""How a run looks: text on standard output, all else on standard error, numbered sources at the end."""

import sys
from collections.abc import Sequence
from urllib.parse import unquote, urlsplit

from lockgate.calling.events import (
    ContentFiltered,
    Event,
    LimitReached,
    PromptPrefixChanged,
    RequestPrepared,
    RequirementsRaised,
    RoundEnded,
    TextDelta,
    ToolFinished,
    ToolProgress,
    ToolStarted,
)
from lockgate.calling.run import Run
from lockgate.chat.values import Source, SourceOrigin, ToolTrace, TraceStatus, Usage
from lockgate.cli.terminal import brief, console, notes, one_line, safe, write, write_json
from lockgate.errors import LockgateError
from lockgate.policy import NOTHING, ChatRequirements

_GROUPS = (
    (SourceOrigin.LLM, "Sources from the AI"),
    (SourceOrigin.TOOL, "Sources used by tools"),
    (SourceOrigin.RAG, "Sources from data providers"),
)
_MARKS = {TraceStatus.SUCCESS: ("done", "green"), TraceStatus.ERROR: ("failed", "red"),
          TraceStatus.BLOCKED: ("blocked", "yellow")}  # fmt: skip
_INCOMPLETE = {
    "no_answer": "the model gave none",
    "length": "the model reached its output limit",
    "content_filter": "the provider's content filter ended it",
    "refused": "the model refused",
    "paused": "the provider paused it and did not go on",
    "context_too_long": "the conversation has become too long for this model",
    "call_without_id": "the model asked for a tool in a form that cannot be answered",
}


class Renderer:
    """Prints the events of one run as they come.

    Args:
        verbose: Show rounds, tokens and requirements as well.
        as_json: Standard output is for one JSON object at the end; the rest is shown only when `verbose`.
    """

    def __init__(self, *, verbose: bool, as_json: bool = False) -> None:
        self._verbose, self._as_json = verbose, as_json
        self._tells = verbose or not as_json
        self._at_line_start = True
        self._line_ended_for_note = False

    def on(self, event: Event) -> None:
        """Print an event."""
        if isinstance(event, TextDelta):
            self._text(event.text)
        elif isinstance(event, ToolStarted):
            shown = ", ".join(f"{one_line(name, 40)}: {one_line(value, 60)}" for name, value in event.arguments)
            self._note(f"→ {one_line(event.tool_name, 80)}", "cyan", f" {shown}" if shown else "")
        elif isinstance(event, ToolProgress):
            self._note(f"  {one_line(event.text)}", "dim")
        elif isinstance(event, ToolFinished):
            self._finished(event)
        elif isinstance(event, ContentFiltered):
            self._note(f"! {safe(event.report.describe())}", "yellow")
        elif isinstance(event, LimitReached):
            self._note(f"! limit {event.limit} = {event.value} reached; the model answers with what it has", "yellow")
        elif self._verbose:
            self._details(event)

    def _text(self, text: str) -> None:
        if self._as_json or not text:
            return
        if self._line_ended_for_note:
            text = text.removeprefix("\n")
            self._line_ended_for_note = False
        write(text)
        self._at_line_start = text.endswith("\n") if text else self._at_line_start

    def _finished(self, event: ToolFinished) -> None:
        word, style = _MARKS.get(event.trace.status, ("unknown", "red"))
        reason = f": {one_line(brief(event.trace.status_message), 400)}" if event.trace.status_message else ""
        self._note(f"← {one_line(event.trace.tool_name, 80)} {word}", style, reason)

    def _details(self, event: Event) -> None:
        if isinstance(event, RequestPrepared):
            self._note(f"offered: {', '.join(map(safe, event.offered)) or 'no tool'}", "dim")
        elif isinstance(event, RoundEnded):
            usage = event.usage
            tokens = f", tokens {usage.input_tokens} in, {usage.output_tokens} out" if usage else ""
            calls = "1 call" if event.calls == 1 else f"{event.calls} calls"
            self._note(f"round {event.number}: {event.stop}, {calls}{tokens}", "dim")
        elif isinstance(event, RequirementsRaised):
            needs = event.requirements
            text = (
                f"confidence {needs.confidence.name} ({needs.confidence_by.phrase}), data security "
                f"{needs.data_security.name} ({needs.data_security_by.phrase}), outbound {needs.outbound.name} "
                f"({needs.outbound_by.phrase})"
            )
            self._note(f"the chat now requires: {safe(brief(text))}", "dim")
        elif isinstance(event, PromptPrefixChanged):
            changes = ", ".join(one_line(str(change)) for change in event.changes)
            self._note(f"the beginning of the request is not that of the last one: {changes}", "dim")

    def _note(self, text: str, style: str, rest: str = "") -> None:
        if not self._tells:
            return
        if not self._at_line_start and sys.stdout.isatty():
            write("\n")
            self._at_line_start = self._line_ended_for_note = True
        notes().print(text, style=style, end="" if rest else "\n")
        if rest:
            notes().print(rest)

    def end(self, run: Run, error: LockgateError | None, *, is_kept: bool = True) -> None:
        """Print the sources and where the chat is kept, if it is; or the object."""
        if self._as_json:
            print_json(run, error, is_kept=is_kept)
        else:
            self._end_line()
            _print_sources(run.sources)
        if (why := _INCOMPLETE.get(run.stopped)) is not None:
            notes().print(f"The answer is not complete: {why}.", style="yellow")
        usage = run.usage
        if self._verbose and usage != Usage():
            notes().print(f"tokens of all rounds: {usage.input_tokens} in, {usage.output_tokens} out", style="dim")
        if self._tells and is_kept:
            self._print_chat(run)

    def interrupted(self, run: Run) -> None:
        """Say that it was interrupted, and that the chat is kept."""
        if self._as_json:
            print_json(run, None)
        else:
            self._end_line()
            _print_sources(run.sources)
        if self._tells and run.error is None:
            notes().print(f"Interrupted. The chat so far is kept: {run.chat.id}", style="yellow")

    def _end_line(self) -> None:
        if not self._at_line_start:
            write("\n")
            self._at_line_start = True

    def _print_chat(self, run: Run) -> None:
        notes().print(f"\nchat {run.chat.id}  (go on with --chat {run.chat.id} or --chat last)", style="dim")


def _print_sources(sources: Sequence[Source]) -> None:
    number = 0
    for origin, heading in _GROUPS:
        group = [source for source in sources if source.origin is origin]
        if group:
            console().print(f"\n{heading}", style="bold")
        for source in group:
            number += 1
            _print_source(number, source)


def _readable(url: str) -> str:
    """Return a file's address as the path people know; any other address as it is."""
    parts = urlsplit(url)
    return unquote(parts.path) if parts.scheme == "file" and not parts.netloc else url


def _print_source(number: int, source: Source) -> None:
    title, url = one_line(source.title), one_line(_readable(source.url), 4_000)
    console().print(f"  [{number}] {title or url}", end="  " if title and title != url else "\n")
    if title and title != url:
        console().print(url, style="dim", soft_wrap=True)


def print_json(run: Run, error: LockgateError | None, *, is_kept: bool = True) -> None:
    """Print the run as one JSON object."""
    write_json(_object(
        run.text, run.sources, run.traces, run.chat.requirements, run.usage, run.stopped,
        run.chat.id if is_kept else None, None if error is None else str(error),
    ))  # fmt: skip


def print_failure(stopped: str, error: str | None) -> None:
    """Print the object of a question that was not asked."""
    write_json(_object("", (), (), NOTHING, Usage(), stopped, None, error))


def _object(  # noqa: PLR0917 - the members, in their order
    text: str, sources: Sequence[Source], traces: Sequence[ToolTrace], needs: ChatRequirements, usage: Usage,
    stopped: str, chat: str | None, error: str | None,
) -> dict[str, object]:  # fmt: skip
    return {
        "text": text,
        "sources": [{"title": source.title, "url": source.url, "origin": source.origin.value} for source in sources],
        "traces": [trace.to_json() for trace in traces],
        "requirements": {
            "confidence": needs.confidence.name, "data_security": needs.data_security.name,
            "outbound": needs.outbound.name, "confidence_by": str(needs.confidence_by),
            "data_security_by": str(needs.data_security_by), "outbound_by": str(needs.outbound_by),
        },
        "usage": {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens},
        "stopped": stopped,
        "chat": chat,
        "error": error,
    }  # fmt: skip
