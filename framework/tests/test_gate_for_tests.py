"""What `lockgate_for` configures reaches the program as it would from files."""

from typing import Annotated

import pytest
from pydantic import Field, SecretStr

from lockgate.app import Assistant, ChatTemplate
from lockgate.registry import Rules
from lockgate.settings import Layers, ToolSettings
from lockgate.testing import Call, FakeProvider, answer_calls, answer_text, lockgate_for
from lockgate.tools import Components, Tool, ToolArguments, ToolContext, ToolDefinition, ToolResult


class Service(ToolSettings):
    """Where the service is, and its key."""

    base: Annotated[str, Field(alias="service.base")]
    key: SecretStr


class NoArguments(ToolArguments):
    """The tool takes none."""


class Ask(Tool):
    """Tells what it is set to; the key is masked in results."""

    definition = ToolDefinition("ask_service", {"type": "object", "properties": {}}, "Ask the service.")
    arguments_model = NoArguments
    settings_model = Service

    async def execute(self, arguments: NoArguments, context: ToolContext) -> ToolResult:
        """Return the settings."""
        settings = context.settings
        assert isinstance(settings, Service)
        return ToolResult(f"{settings.base} with a key of {len(settings.key.get_secret_value())}")


async def test_settings_and_secrets_reach_the_tool() -> None:
    """Both by the outside name; those in the rules stay unless they are set anew."""
    script = [answer_calls(Call("ask_service", {})), answer_text("Done.")]
    rules = Rules(layers=Layers(user={"ask_service.service.base": "old"}, secrets={"ask_service.key": "sk-12345"}))
    async with (
        FakeProvider(script) as fake,
        lockgate_for(fake, tools=[Ask()], rules=rules, settings={"ask_service.service.base": "new"}) as gate,
        gate.ask(None, "Ask it", selected=["ask_service"]) as run,
    ):
        await run.wait()
    assert fake.requests[1].messages[-1]["content"] == "new with a key of 8"
    async with lockgate_for(tools=[Ask()], secrets={"ask_service.key": "sk-1"}, settings={}) as gate:
        assert gate.registry.rules.layers.secrets == {"ask_service.key": "sk-1"}
        assert gate.assembly.problems == ()


async def test_a_secret_among_the_settings_is_a_problem() -> None:
    """It is not read from there, and silence would cost the author an hour."""
    async with lockgate_for(tools=[Ask()], settings={"ask_service.key": "sk-CANARY"}) as gate:
        (problem,) = gate.assembly.problems
    assert "ask_service holds 'key', which is a secret" in problem
    assert "CANARY" not in problem


@pytest.mark.parametrize("by_template", [True, False])
async def test_assistants_and_chat_templates_are_there_by_their_ids(*, by_template: bool) -> None:
    """Each begins a chat with its prompt."""
    template = ChatTemplate("plain", system_prompt="Be plain.")
    assistant = Assistant("clerk", system_prompt="Be plain.", component=Components.CHAT)
    async with (
        FakeProvider([answer_text("Yes.")]) as fake,
        lockgate_for(fake, assistants=[assistant], chat_templates=[template]) as gate,
        gate.ask(
            gate.new_chat("plain") if by_template else None, "Hello", assistant=None if by_template else "clerk"
        ) as run,
    ):
        await run.wait()
    assert "Be plain." in str(fake.requests[0].messages[0]["content"])
