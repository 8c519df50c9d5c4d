"""What the tests of the calling layer make their runs of."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, nullcontext
from typing import Any, NamedTuple

from pydantic import SecretStr

from lockgate.app import Lockgate
from lockgate.calling import Event, Run
from lockgate.chat import ChatThread
from lockgate.errors import LockgateError
from lockgate.policy import ToolOutboundData
from lockgate.settings import NoSettings, ToolSettings
from lockgate.testing import Answer, Call, FakeProvider, FakeRequest, answer_calls, answer_text, lockgate_for
from lockgate.tools import Tool, ToolContext, ToolDefinition, ToolResult

ANY_OBJECT: dict[str, Any] = {"type": "object", "properties": {}, "required": [], "additionalProperties": True}

Execute = Callable[[dict[str, Any], ToolContext], Awaitable[Any]]
Script = Sequence[Answer] | Callable[[FakeRequest], Any]


class KeySettings(ToolSettings):
    """Settings with a secret."""

    api_key: SecretStr


class AnyTool(Tool):
    """A tool that takes any object and does what a test says."""

    def __init__(
        self,
        execute: Execute,
        tool_id: str = "probe",
        *,
        seconds: float = 60,
        settings: type[ToolSettings] = NoSettings,
        **facts: Any,
    ) -> None:
        facts.setdefault("outbound_data", ToolOutboundData.NONE)
        facts.setdefault("strict", False)
        self.definition = ToolDefinition(tool_id, ANY_OBJECT, "Does something.", **facts)
        self.settings_model = settings  # type: ignore[misc] # one class serves many tests
        self._execute, self._seconds = execute, seconds

    def timeout(self, settings: ToolSettings) -> float:
        return self._seconds

    def parse(self, arguments: str) -> Any:
        from lockgate.tools.arguments import read_object

        return read_object(arguments)

    async def execute(self, arguments: Any, context: ToolContext) -> ToolResult:
        returned: ToolResult = await self._execute(arguments, context)
        return returned


def returning(result: Any, tool_id: str = "probe", **facts: Any) -> AnyTool:
    """A tool that returns the same every time; a text becomes a result."""

    async def execute(arguments: dict[str, Any], context: ToolContext) -> Any:
        return ToolResult(result) if isinstance(result, str) else result

    return AnyTool(execute, tool_id, **facts)


def raising(error: BaseException, tool_id: str = "probe", **facts: Any) -> AnyTool:
    """A tool that raises."""

    async def execute(arguments: dict[str, Any], context: ToolContext) -> Any:
        raise error

    return AnyTool(execute, tool_id, **facts)


def probe(number: int = 1, name: str = "probe", **arguments: Any) -> Answer:
    """An answer with a call that differs from others by its number."""
    return answer_calls(Call(name, {"number": number, **arguments}))


class Asked(NamedTuple):
    """A question on its way."""

    fake: FakeProvider
    gate: Lockgate
    run: Run
    events: list[Event]

    async def end(self) -> LockgateError | None:
        """Read all events; return the error the run ended with."""
        try:
            async for event in self.run:
                self.events.append(event)
        except LockgateError as error:
            return error
        return None

    @property
    def results(self) -> list[str]:
        """The results the model got, over all requests."""
        last = self.fake.requests[-1].messages
        return [message["content"] for message in last if message["role"] == "tool"]


@asynccontextmanager
async def asking(
    script: Script,
    *tools: Tool,
    chat: ChatThread | None = None,
    observers: Sequence[Any] = (),
    entered: bool = True,
    **options: Any,
) -> AsyncIterator[Asked]:
    """Ask a fake provider a question with these tools selected; options are those of `lockgate_for`."""
    selected = [tool.definition.id for tool in tools]
    async with FakeProvider(script) as fake, lockgate_for(fake, tools=tools, **options) as gate:
        run = gate.ask(chat, "Hello?", selected=selected, observers=observers)
        async with run if entered else nullcontext():
            yield Asked(fake, gate, run, [])


async def asked(script: Script, *tools: Tool, **options: Any) -> Asked:
    """Ask and wait for an answer, which has to come."""
    async with asking(script, *tools, **options) as asking_now:
        assert await asking_now.end() is None
    asking_now.fake.assert_no_problems()
    return asking_now


DONE = answer_text("Done.")
