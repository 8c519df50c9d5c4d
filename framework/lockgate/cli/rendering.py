"""How a run looks: text on standard output, all else on standard error, numbered sources at the end."""

import sys

from lockgate.calling.events import (
    ContentFiltered,
    Event,
    LimitReached,
    RequestPrepared,
    RequirementsRaised,
    RoundEnded,
    TextDelta,
    ToolFinished,
    ToolProgress,
    ToolStarted,
)
from lockgate.calling.run import Run
from lockgate.chat.values import Source, SourceOrigin, TraceStatus
from lockgate.cli.terminal import console, notes, one_line, safe, write, write_json
from lockgate.errors import LockgateError

_GROUPS = (
    (SourceOrigin.LLM, "Sources from the AI"),
    (SourceOrigin.TOOL, "Sources used by tools"),
    (SourceOrigin.RAG, "Sources from data providers"),
)
_MARKS = {TraceStatus.SUCCESS: ("done", "green"), TraceStatus.ERROR: ("failed", "red"),
          TraceStatus.BLOCKED: ("blocked", "yellow")}  # fmt: skip


class Renderer:
    """Prints the events of one run as they come."""

    def __init__(self, *, verbose: bool, quiet: bool) -> None:
        self._verbose, self._quiet = verbose, quiet
        self._at_line_start = True

    def on(self, event: Event) -> None:
        """Print an event."""
        if isinstance(event, TextDelta):
            if not self._quiet:
                write(event.text)
                self._at_line_start = event.text.endswith("\n")
        elif isinstance(event, ToolStarted):
            shown = ", ".join(f"{name}: {one_line(value, 60)}" for name, value in event.arguments)
            self._note(f"→ {safe(event.tool_name)}", "cyan", f" {shown}" if shown else "")
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

    def _finished(self, event: ToolFinished) -> None:
        word, style = _MARKS.get(event.trace.status, ("unknown", "red"))
        reason = f": {one_line(event.trace.status_message)}" if event.trace.status_message else ""
        self._note(f"← {safe(event.trace.tool_name)} {word}", style, reason)

    def _details(self, event: Event) -> None:
        if isinstance(event, RequestPrepared):
            self._note(f"offered: {', '.join(event.offered) or 'no tool'}", "dim")
            if event.left_out:
                self._note(f"left out: {', '.join(event.left_out)} (lockgate tools explain says why)", "dim")
        elif isinstance(event, RoundEnded):
            usage = event.usage
            tokens = f", tokens {usage.input_tokens} in, {usage.output_tokens} out" if usage else ""
            self._note(f"round {event.number}: {event.stop}, {event.calls} call(s){tokens}", "dim")
        elif isinstance(event, RequirementsRaised):
            needs = event.requirements
            text = f"{needs.confidence.name}, {needs.data_security.name}, {needs.outbound.name}"
            self._note(f"the chat now requires: {text}", "dim")

    def _note(self, text: str, style: str, rest: str = "") -> None:
        if self._quiet:
            return
        if not self._at_line_start and sys.stdout.isatty():
            write("\n")
            self._at_line_start = True
        notes().print(text, style=style, end="" if rest else "\n")
        if rest:
            notes().print(rest)

    def end(self, run: Run) -> None:
        """Print the sources and where the chat is kept."""
        if not self._at_line_start:
            write("\n")
        number = 0
        for origin, heading in _GROUPS:
            group = [source for source in run.sources if source.origin is origin]
            if group:
                console().print(f"\n{heading}", style="bold")
            for source in group:
                number += 1
                _print_source(number, source)
        if run.stopped not in ("answered", "failed", "denied"):
            notes().print(f"stopped: {run.stopped}", style="yellow")
        notes().print(f"\nchat {run.chat.id}  (go on with --chat {run.chat.id} or --chat last)", style="dim")

    def interrupted(self, run: Run) -> None:
        """Say that it was interrupted, and that the chat is kept."""
        if not self._quiet:
            write("\n")
            notes().print(f"Interrupted. The chat so far is kept: {run.chat.id}", style="yellow")


def _print_source(number: int, source: Source) -> None:
    console().print(f"  [{number}] {one_line(source.title)}", end="  ")
    console().print(safe(source.url), style="dim", soft_wrap=True)


def print_json(run: Run, error: LockgateError | None) -> None:
    """Print the run as one JSON object."""
    needs = run.chat.requirements
    write_json({
        "text": run.text,
        "sources": [
            {"title": source.title, "url": source.url, "origin": source.origin.value} for source in run.sources
        ],
        "traces": [trace.to_json() for trace in run.traces],
        "requirements": {
            "confidence": needs.confidence.name, "data_security": needs.data_security.name,
            "outbound": needs.outbound.name, "confidence_by": str(needs.confidence_by),
            "data_security_by": str(needs.data_security_by), "outbound_by": str(needs.outbound_by),
        },
        "usage": {"input_tokens": run.usage.input_tokens, "output_tokens": run.usage.output_tokens},
        "stopped": run.stopped,
        "chat": run.chat.id,
        "error": None if error is None else str(error),
    })  # fmt: skip
