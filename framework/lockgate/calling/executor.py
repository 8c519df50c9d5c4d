"""The executor: the one entrance to every tool. Limits, checks, masking, labels and traces sit here and nowhere else.

It works through one call at a time, against the chat as the previous call left it, and raises nothing but
cancellation: a call that is unknown, malformed, refused, blocked, late or broken ends in exactly one result.
"""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from lockgate.calling.delivery import Delivered, plain
from lockgate.calling.events import (
    ContentFiltered,
    Event,
    LimitReached,
    RequirementsRaised,
    ToolFinished,
    ToolProgress,
    ToolStarted,
)
from lockgate.calling.limits import Hit, Limits, limit_hit
from lockgate.calling.masking import Masker, masked_arguments
from lockgate.calling.offered import changed_meanwhile, held_against_choices
from lockgate.calling.outcome import Outcome
from lockgate.calling.restricted import RestrictedCalls
from lockgate.calling.running import Failed, Late, run_tool
from lockgate.chat.addresses import ChatAddresses
from lockgate.chat.returned_addresses import returned_addresses, strings_of
from lockgate.chat.values import ChatThread, Source, ToolTrace, TraceStatus, merge_sources
from lockgate.errors import ArgumentRefused, ToolBlocked, ToolFailed
from lockgate.guard import Guard, GuardReport, GuardScope, GuardSource, GuardText, SourceKind
from lockgate.policy import ChatRequirements, Denial, ProviderStanding
from lockgate.providers.contract import CallResult, RequestedCall
from lockgate.registry.asking import PASSING
from lockgate.registry.beyond import LeftOut
from lockgate.registry.calls import describe
from lockgate.registry.preparation import Offer, Offered
from lockgate.registry.registry import Registry
from lockgate.registry.selection import Selection
from lockgate.tools.arguments import read_object
from lockgate.tools.context import CallState, ToolContext, ToolServices
from lockgate.tools.definition import Components

logger = logging.getLogger("lockgate.calling")

FAILED = "Tool execution failed: "
"""What the text of every failed call begins with."""

LONGEST_FAILURE = 2_000
_INVALID = "Invalid tool call"
_BROKEN = "something in the framework went wrong while it was worked through; its result was withheld."
_NOT_STORED = "its result was withheld, because what the chat now requires could not be stored."
_SAME_CALL = "The same call was made twice before with the same result. Use that result, or change the arguments."

RaiseRequirements = Callable[[ChatRequirements], Awaitable[ChatRequirements]]


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a run's executor works with. Shared objects; nothing here changes during a run.

    Attributes:
        registry: Returns the registry in force now, so that a change of rules counts at the next call.
        offer: The tools of this request.
        standing: Returns the provider's standing as it is now.
        admission: Says why this provider may not have a chat of such requirements, or None, by the rules of now.
        select: Returns what is selected for a chat, by the rules of now.
        component: Where the question comes from.
        services: Returns what tools may use now, so that a change of data sources counts at the next call.
        guard: The prompt-injection filter.
        limits: Returns the limits of the run by the rules of now.
        store: Raises stored requirements durably and returns what the chat demands now.
        emit: Takes events.
    """

    registry: Callable[[], Registry]
    offer: Offer
    standing: Callable[[], ProviderStanding]
    admission: Callable[[ChatRequirements], Denial | None]
    select: Callable[[ChatThread], Selection]
    component: Components
    services: Callable[[], ToolServices]
    guard: Guard
    limits: Callable[[], Limits]
    store: RaiseRequirements
    emit: Callable[[Event], None]


@dataclass(frozen=True, slots=True)
class _Call:
    """A call on its way: what was asked, and what is known of the tool."""

    order: int
    requested: RequestedCall
    offered: Offered | None
    arguments: Mapping[str, Any]
    unreadable: ArgumentRefused | None
    shown: Mapping[str, str]
    masker: Masker
    name: str


class Executor:
    """Executes the calls of one run.

    Args:
        chat: The chat as it is sent.
        surroundings: What the executor works with.
    """

    def __init__(self, chat: ChatThread, surroundings: Surroundings) -> None:
        self.chat = chat
        self.sources: tuple[Source, ...] = ()
        self.traces: tuple[ToolTrace, ...] = ()
        self._with = surroundings
        self._restricted = RestrictedCalls(lambda: surroundings.limits().max_restricted_calls, self._demanded)
        self._addresses = ChatAddresses(chat)
        self._calls = 0
        self._is_running = False
        self._characters = 0
        self._order = 0
        self._told: str = ""
        self._recent: list[tuple[str, str, str]] = []

    def _demanded(self) -> ChatRequirements:
        """Return what counts for the chat now: its own requirements, and what the organization demands of each."""
        return self._with.registry().rules.demanded(self.chat.requirements)

    def _given(self) -> ChatAddresses:
        """Return the addresses given so far; what was searched in an earlier call is not searched again."""
        self._addresses = self._addresses.for_chat(self.chat)
        return self._addresses

    @property
    def calls(self) -> int:
        """Calls counted so far."""
        return self._calls

    def limit(self) -> Hit | None:
        """Say which limit is reached, or None."""
        hit = limit_hit(self._with.limits(), self._calls, self._characters)
        if hit is not None and hit.name != self._told:
            self._told = hit.name
            self._with.emit(LimitReached(hit.name, hit.value))
        return hit

    async def execute(self, requested: RequestedCall) -> CallResult:
        """Execute one call.

        Returns:
            The one result of the call. It is an error for the model unless the call worked or met a limit.
        """
        if not requested.problem and (hit := self.limit()) is not None:
            return CallResult(requested.id, hit.instruction)
        self._calls += 1
        self._order += 1
        self._is_running = False
        call = self._received(requested)
        self._with.emit(
            ToolStarted(call.order, call.offered.id if call.offered else requested.name, call.name, requested.id,
                        tuple(call.shown.items()))
        )
        try:
            outcome = await self._outcome(call)
        except asyncio.CancelledError:
            self._note(
                self._ended(call, TraceStatus.ERROR, "", "It was cancelled.", executed=self._is_running).trace
            )
            raise
        except PASSING:
            raise
        except BaseException as error:  # noqa: BLE001 - whatever goes wrong, a call has exactly one result
            outcome = self._broken(call, error, executed=self._is_running)
        if outcome.is_error and outcome.content != FAILED + _SAME_CALL:
            self._recent.clear()
        self._note(outcome.trace)
        self._characters += len(outcome.content)
        return outcome.result()

    def invalid(self, requested: RequestedCall, why: str) -> None:
        """Note a call that is neither executed nor answered. It is counted like any other."""
        self._calls += 1
        self._order += 1
        name = requested.name or _INVALID
        self._note(ToolTrace(self._order, "", name, requested.id, TraceStatus.ERROR, status_message=why))

    def _note(self, trace: ToolTrace | None) -> None:
        if trace is None:
            return
        self.traces = (*self.traces, trace)
        self._with.emit(ToolFinished(trace))

    def _received(self, requested: RequestedCall) -> _Call:
        offered = None if requested.problem else self._with.offer.find(requested.name)
        arguments: dict[str, Any] = {}
        unreadable: ArgumentRefused | None = None
        if not requested.problem:
            try:
                arguments = read_object(requested.arguments)
            except ArgumentRefused as refused:
                unreadable = refused
        sensitive = _sensitive(offered, arguments) if offered else self._sensitive_anywhere(requested.name)
        masker = Masker(arguments, sensitive, offered.settings if offered else None)
        shown = {
            masker.for_trace(name): masker.for_trace(value)
            for name, value in masked_arguments(arguments, sensitive).items()
        }
        name = self._with.registry().texts(offered.id).name if offered else requested.name
        return _Call(self._order, requested, offered, arguments, unreadable, shown, masker, name)

    def _sensitive_anywhere(self, name: str) -> tuple[str, ...]:
        """Return the sensitive arguments of a tool that is not offered; those of all tools where nobody knows it."""
        registry = self._with.registry()
        meant = registry.get(name)
        tools = registry.tools if meant is None else (meant,)
        return tuple({item for tool in tools for item in tool.definition.sensitive_arguments})

    def _ended(
        self, call: _Call, status: TraceStatus, content: str, message: str = "", *, executed: bool = False,
        json_result: bool = False,
    ) -> Outcome:
        tool_id = call.offered.id if call.offered else "" if call.requested.problem else call.requested.name
        worked = status is TraceStatus.SUCCESS
        shown = call.masker.for_trace(content) if worked else ""
        trace = ToolTrace(
            call.order, tool_id, call.name, call.requested.id, status, executed, call.masker.for_trace(message),
            call.shown, "" if json_result else shown, shown if json_result else "",
        )
        return Outcome(call.requested.id, content, trace)

    async def _outcome(self, call: _Call) -> Outcome:
        requested, offered = call.requested, call.offered
        if requested.problem:
            return self._ended(call, TraceStatus.ERROR, FAILED + requested.problem, requested.problem)
        if offered is None:
            content = f"The tool {requested.name!r} is not available."
            if names := ", ".join(tool.id for tool in self._with.offer.tools):
                content += f" Available tools are: {names}."
            return self._ended(call, TraceStatus.BLOCKED, content, "The tool is not available in this context.")
        if self._is_third_time(call):
            return self._ended(call, TraceStatus.ERROR, FAILED + _SAME_CALL, _SAME_CALL)
        if (denial := self._with.admission(self.chat.requirements)) is not None:
            why = f"The tool {offered.id!r} cannot be used now: this provider may not have the chat. {denial.why}"
            return self._ended(call, TraceStatus.BLOCKED, why, why)
        registry = self._with.registry()
        block: LeftOut | None = await registry.check(
            offered.id, self._with.standing(), self._with.component, self.chat.requirements
        )
        if block is None:
            block = changed_meanwhile(registry, offered, self._with.select(self.chat))
        if block is not None:
            why = call.masker.for_model(f"The tool {offered.id!r} cannot be used now. {block.why}")
            return self._ended(call, TraceStatus.BLOCKED, why, f"{why} ({block.set_by.phrase})")
        if (over := self._restricted.too_many(offered)) is not None:
            return self._ended(call, TraceStatus.BLOCKED, over, over)
        if call.unreadable is not None:
            return self._failed(call, call.unreadable, None, executed=False)
        try:
            written = held_against_choices(call.requested.arguments, call.arguments, offered)
            arguments = offered.registered.tool.parse(written)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - reading arguments is a plugin's code, too
            return self._failed(call, error, None, executed=False)
        self._restricted.begins(offered, call.arguments, self._given())
        return await self._run(call, offered, arguments)

    def _is_third_time(self, call: _Call) -> bool:
        if call.offered is None or call.offered.registered.definition.repeatable:
            return False
        key = _key(call)
        last = self._recent[-2:]
        return len(last) == 2 and all(entry[:2] == key for entry in last) and last[0][2] == last[1][2]

    def _settings_now(self, offered: Offered) -> Any:
        """Return the settings in force now: they may have changed since the request was prepared."""
        return self._with.registry().effective(offered.id).settings or offered.settings

    async def _run(self, call: _Call, offered: Offered, arguments: Any) -> Outcome:
        scope, state = self._with.guard.scope(), CallState()
        self._is_running = True
        settings = self._settings_now(offered)
        call = replace(
            call, masker=Masker(call.arguments, _sensitive(offered, call.arguments), settings)
        )
        context = ToolContext(
            self.chat, self._with.standing(), self._with.component, settings, self._with.services(),
            demanded=self._demanded(),
            call_id=call.requested.id, addresses=self._given(),
            remaining_characters=max(0, self._with.limits().max_tool_result_characters - self._characters),
            state=state, _guard=scope, arguments=MappingProxyType(dict(call.arguments)),
            _emit=lambda text: self._with.emit(
                ToolProgress(call.requested.id, call.name, call.masker.for_trace(plain(text)))
            ),
        )
        logger.info("call %s of %s begins", call.requested.id, offered.id)
        returned = await run_tool(offered.registered.tool, arguments, context)
        try:
            outcome = await self._returned(call, offered, returned, scope)
        except PASSING:
            raise
        except BaseException as error:  # noqa: BLE001 - as in `execute`, but the tool has run
            outcome = self._broken(call, error, executed=True)
        report = scope.take_report()
        has_result = isinstance(returned, Delivered) or (isinstance(returned, Failed) and returned.of_result)
        withheld = has_result and outcome.is_error
        if report and not withheld:  # a report quotes what was found, so it goes where the result goes
            self._with.emit(ContentFiltered(call.requested.id, _masked_report(report, call.masker)))
        status = outcome.trace.status.value if outcome.trace else ""
        logger.info("call %s of %s ended: %s", call.requested.id, offered.id, status)
        return outcome

    async def _returned(
        self, call: _Call, offered: Offered, returned: Delivered | Failed | Late, scope: GuardScope
    ) -> Outcome:
        if isinstance(returned, Late):
            text = f"it took longer than {returned.seconds:g} seconds and was stopped."
            return self._ended(call, TraceStatus.ERROR, FAILED + text, text, executed=True)
        if isinstance(returned, Failed):
            return self._failed(call, returned.error, scope, executed=True)
        return await self._handed_on(call, offered, returned, call.masker.for_model(returned.content), scope)

    async def _handed_on(
        self, call: _Call, offered: Offered, result: Delivered, content: str, scope: GuardScope
    ) -> Outcome:
        """Raise, store and admit; only then the text leaves. What is withheld raises nothing: it brought nothing."""
        before = self.chat.requirements
        requires = result.requires.renamed(call.masker.for_trace)
        if (denial := self._with.admission(before.join(requires))) is not None:
            return self._withheld(call, offered, denial, scope)
        if before.join(requires) is not before:
            try:
                # Another process may have raised the chat meanwhile: that is asked before anything is written.
                self.chat = self.chat.require(await self._with.store(before))
                if self.chat.requirements is not before:
                    self._with.emit(RequirementsRaised(self.chat.requirements))
                joined = self.chat.requirements.join(requires)
                if (denial := self._with.admission(joined)) is not None:
                    return self._withheld(call, offered, denial, scope)
                self.chat = self.chat.require(joined).require(await self._with.store(joined))
            except PASSING:
                raise
            except BaseException as error:  # noqa: BLE001 - a store is replaceable; what is not stored must not leave
                reason = describe(error).error
                logger.error("requirements could not be stored: %s", call.masker.for_trace(reason))
                return self._ended(
                    call, TraceStatus.ERROR, FAILED + _NOT_STORED, f"{_NOT_STORED} {reason}", executed=True
                )
            self._with.emit(RequirementsRaised(self.chat.requirements))
            if (denial := self._with.admission(self.chat.requirements)) is not None:
                return self._withheld(call, offered, denial, scope)
        self._take(call, offered, result, content, scope)
        return self._ended(call, TraceStatus.SUCCESS, content, executed=True, json_result=result.is_json)

    def _withheld(self, call: _Call, offered: Offered, denial: Denial, scope: GuardScope) -> Outcome:
        """Say that a result cannot be given. The name of who demands it may be the tool's own words."""
        text = f"The result of {offered.id!r} cannot be given to this provider. {denial.why}"
        told = self._for_model(call, text, scope)
        return self._ended(call, TraceStatus.BLOCKED, told, told, executed=True)

    def _take(self, call: _Call, offered: Offered, result: Delivered, content: str, scope: GuardScope) -> None:
        mask = call.masker.for_trace  # sources are kept and shown
        sources = tuple(replace(source, title=mask(source.title), url=mask(source.url)) for source in result.sources)
        if sources and offered.registered.definition.returns_untrusted_content:
            texts = [GuardText(source.title, self._source_of(call)) for source in sources]
            sources = tuple(
                replace(source, title=title)
                for source, title in zip(sources, scope.clean_now(texts), strict=True)
            )
        restricted = self._restricted.is_restricted
        gives = "://" in content and not (restricted and self._restricted.has_written_too_much)
        strings = strings_of(result.value()) if gives else ()
        addresses = returned_addresses(
            strings, call.arguments, self._given(),
            earlier=(*_unknown_names(call), *(self._restricted.written if restricted else ())), strict=restricted,
        )
        if restricted and addresses:
            addresses -= self._restricted.made_up(self.chat)
        self.sources = merge_sources(self.sources, sources)
        self.chat = self.chat.with_tool_addresses(addresses)
        self._recent.append((*_key(call), content))
        del self._recent[:-2]

    def _source_of(self, call: _Call) -> GuardSource:
        return GuardSource(SourceKind.TOOL_OUTPUT, call.name)

    def _failed(
        self, call: _Call, error: BaseException, scope: GuardScope | None, *, executed: bool
    ) -> Outcome:
        message = _message(error)
        told = noted = self._for_model(call, message, scope)
        if isinstance(error, ArgumentRefused):
            if error.trace_message != message:
                noted = self._for_model(call, error.trace_message, scope)
        elif isinstance(error, ToolBlocked):
            return self._ended(call, TraceStatus.BLOCKED, told, told, executed=executed)
        elif not isinstance(error, ToolFailed):
            logger.warning(
                "call %s of %s failed: %s: %s", call.requested.id, call.name, type(error).__name__,
                call.masker.for_trace(told),
            )
        return self._ended(call, TraceStatus.ERROR, FAILED + told, noted, executed=executed)

    def _for_model(self, call: _Call, text: str, scope: GuardScope | None) -> str:
        """Hide secrets, cut, and then filter: half a secret would not be found, and the filter judges what is read."""
        text = call.masker.for_model(text)
        if len(text) > LONGEST_FAILURE:
            text = text[:LONGEST_FAILURE] + "..."
        untrusted = call.offered is not None and call.offered.registered.definition.returns_untrusted_content
        if untrusted and scope is not None:
            text = scope.clean_now([GuardText(text, self._source_of(call))])[0]
        return text

    def _broken(self, call: _Call, error: BaseException, *, executed: bool) -> Outcome:
        fault = describe(error)
        logger.error("call %s broke: %s\n%s", call.requested.id, *map(call.masker.for_trace, (
            fault.error, fault.traceback
        )))  # fmt: skip
        return self._ended(call, TraceStatus.ERROR, FAILED + _BROKEN, _BROKEN, executed=executed)


def _sensitive(offered: Offered, arguments: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names whose values are hidden. Where a tool has any, a name it does not know may be one misspelt."""
    stated = offered.registered.definition.sensitive_arguments
    known: Any = offered.function.parameters.get("properties", {})
    return (*stated, *(name for name in arguments if name not in known)) if stated else ()


def _unknown_names(call: _Call) -> list[str]:
    """Return the names of arguments that the tool does not know: the model chose them like any other text."""
    known: Any = call.offered.function.parameters.get("properties", {}) if call.offered else {}
    return [name for name in call.arguments if name not in known]


def _key(call: _Call) -> tuple[str, str]:
    """What makes two calls the same: the name and the arguments, however they are spelled."""
    if call.unreadable is not None:
        return call.requested.name, call.requested.arguments
    try:
        return call.requested.name, json.dumps(call.arguments, sort_keys=True)
    except RecursionError:
        return call.requested.name, call.requested.arguments


def _message(error: BaseException) -> str:
    try:
        text = str(error).strip()
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001 - a stranger's exception may raise while it is shown
        text = ""
    return text or type(error).__name__


def _masked_report(report: GuardReport, masker: Masker) -> GuardReport:
    return GuardReport(tuple(
        replace(source, findings=tuple(
            replace(finding, snippet=masker.for_quotation(finding.snippet)) for finding in source.findings
        ))
        for source in report.sources
    ))  # fmt: skip
