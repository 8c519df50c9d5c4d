"""Wiring: providers, instances, sources of tools, services, a change of rules."""

import asyncio
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest
from registry_kit import simple

from lockgate.app import InstanceConfig, Lockgate, ProviderConfig
from lockgate.app.configuration import Configuration
from lockgate.calling import Job, Stopped
from lockgate.chat import ChatThread
from lockgate.errors import ConfigurationError, ProviderDenied, UnknownNameError, UsageError
from lockgate.plugin_host import hookimpl
from lockgate.policy import BY_USER, ChatRequirements, ConfidenceLevel, DataSourceSecurity, ToolOutboundData
from lockgate.providers import ProviderProfile
from lockgate.registry import Rules
from lockgate.settings import Kind, ToolSettings
from lockgate.testing import Call, FakeProvider, PluginOf, answer_calls, answer_text, lockgate_for
from lockgate.tools import DataTool, ToolDefinition, tool


def profile(**facts: Any) -> ProviderProfile:
    """Return a profile of a test."""
    values = {"id": "p", "title": "P", "provider_type": "OPEN_AI", "adapter": "a", "default_model": "m"}
    return ProviderProfile(**{**values, "base_url": "http://127.0.0.1:9", **facts})


ADAPTER = SimpleNamespace(id="a")


def gate(*providers: ProviderConfig, rules: Rules | None = None, **facts: Any) -> Lockgate:
    """Return a gate with one adapter and one profile."""
    plugin = PluginOf(provider_adapters=[ADAPTER], provider_profiles=[profile(**facts)])
    return lockgate_for(plugins=[plugin], providers=providers, rules=rules)


async def test_a_provider_is_rated_by_the_scheme_unless_the_instance_says_otherwise() -> None:
    """Confidence belongs to the configured instance and the scheme, never to a profile."""
    own = ProviderConfig("own", "p", api_key="k", confidence=ConfidenceLevel.HIGH)
    plain = ProviderConfig("plain", "p", api_key="k")
    hosted = ProviderConfig("hosted", "p", base_url="http://127.0.0.2:9", api_key="k", self_hosted=True)
    claimed = ProviderConfig("claimed", "p", api_key="k", self_hosted=True)  # at the vendor's own address
    rules = Rules(trusted_provider_ids=frozenset({"plain"}))
    async with gate(own, plain, hosted, claimed, rules=rules) as made:
        assert not made.provider("claimed").standing.self_hosted
        assert any("'claimed' does not count as self-hosted" in problem for problem in made.assembly.problems)
        assert made.provider("own").standing.confidence is ConfidenceLevel.HIGH
        assert made.provider("plain").standing.confidence is ConfidenceLevel.MEDIUM
        assert made.provider("plain").standing.trusted
        assert made.provider("hosted").standing.type == "SELF_HOSTED"
        assert made.provider("hosted").standing.self_hosted


async def test_a_profile_cannot_claim_to_be_self_hosted() -> None:
    """Only the user or the organization can say that they run a host."""
    async with gate(ProviderConfig("x", "p"), provider_type="SELF_HOSTED") as made:
        standing = made.provider("x").standing
        assert (standing.type, standing.confidence, standing.self_hosted) == (
            "UNKNOWN", ConfidenceLevel.UNKNOWN, False,
        )  # fmt: skip


@pytest.mark.parametrize(
    ("config", "facts", "error", "words"),
    [
        ("nobody", {}, UnknownNameError, "There is no provider 'nobody'"),
        (ProviderConfig("x", "missing"), {}, UnknownNameError, "There is no provider profile 'missing'"),
        (ProviderConfig("x", "p"), {"adapter": "none"}, UnknownNameError, "There is no provider adapter 'none'"),
        (ProviderConfig("x", "p"), {"default_model": ""}, ConfigurationError, "needs a model"),
        (ProviderConfig("x", "p"), {"base_url": ""}, ConfigurationError, "needs a base_url"),
        (ProviderConfig("x", "p"), {"api_key_variable": "P_KEY"}, ConfigurationError, "variable P_KEY can hold it"),
    ],
)
async def test_what_a_provider_lacks_is_told_in_one_sentence(
    config: Any, facts: dict[str, Any], error: type[Exception], words: str
) -> None:
    """Nobody has to read a traceback to learn that a setting is missing."""
    async with gate(**facts) as made:
        with pytest.raises(error, match=words):
            made.provider(config)


async def test_a_key_is_taken_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """The profile's usual variable, or the one the instance names."""
    monkeypatch.setenv("OWN_KEY", "from-env")
    async with gate() as made:
        ready = made.provider(ProviderConfig("x", "p", api_key_variable="OWN_KEY"))
        assert ready.endpoint.api_key == "from-env"
        assert "from-env" not in repr(ready)


async def test_an_empty_question_is_refused() -> None:
    """Nothing is sent."""
    with FakeProvider([]) as fake:
        async with lockgate_for(fake) as made:
            with pytest.raises(UsageError, match="empty"):
                made.ask(None, "  ")


async def test_a_chat_is_not_sent_to_a_provider_it_does_not_admit() -> None:
    """The question is asked before anything leaves, and the chat is as it was."""
    chat = ChatThread(requirements=ChatRequirements(data_security=DataSourceSecurity.SELF_HOSTED))
    with FakeProvider([answer_text("never")]) as fake:
        async with lockgate_for(fake) as made, made.ask(chat, "Hello?") as run:
            with pytest.raises(ProviderDenied, match="self-hosted"):
                await run.wait()
            assert run.stopped == "denied"
        assert fake.requests == []


async def test_what_another_process_demanded_counts() -> None:
    """The stored requirements are joined before the chat is sent."""
    with FakeProvider([answer_text("never")]) as fake:
        async with lockgate_for(fake) as made:
            chat = ChatThread()
            await made.store.raise_requirements(chat.id, ChatRequirements(ConfidenceLevel.HIGH))
            async with made.ask(chat, "Hello?") as run:
                with pytest.raises(ProviderDenied, match="HIGH"):
                    await run.wait()
        assert fake.requests == []


class Folder(ToolSettings):
    """Settings of a kind."""

    path: str


async def test_instances_are_read_with_the_model_of_their_kind() -> None:
    """A wrong one costs itself and is told; an unknown kind names the installed ones."""
    kind = Kind("folder", "data_source", Folder, create=lambda instance, _: instance.settings)
    made = lockgate_for(
        plugins=[PluginOf(kinds=[kind])],
        instances=[
            InstanceConfig("good", "folder", "data_source", values={"path": "x"}),
            InstanceConfig("bad", "folder", "data_source"),
            InstanceConfig("odd", "shelf", "data_source"),
        ],
    )
    async with made:
        services = made.assembly.services
        instances = services.instances("data_source")
        assert [instance.id for instance in instances] == ["good"]
        assert services.opened(instances[0]) is services.opened(instances[0])
        assert made.assembly.problems == (
            "data_source 'bad' cannot be used: path is required and not set.",
            "data_source 'odd' is of the kind 'shelf'; installed are: folder.",
        )


class Source:
    """A source of tool definitions."""

    name = "server"

    def __init__(self, outcome: Any) -> None:
        self.outcome = outcome

    async def tools(self) -> Any:
        """Return the tools, or raise."""
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome


async def _nothing(arguments: dict[str, Any], context: Any) -> object:
    del arguments, context
    return None


async def test_tools_of_a_source_pass_the_same_door() -> None:
    """A source that fails brings nothing and costs only itself."""
    listed = DataTool(ToolDefinition("listed", {"type": "object"}, "A tool."), _nothing)
    plugins = [PluginOf("one", tool_definition_sources=[Source([listed, "no tool"]), Source(OSError("down"))])]
    async with lockgate_for(plugins=plugins, tools=[simple("own")]) as made:
        assert sorted(tool.id for tool in made.registry.tools) == ["listed", "own"]
        assert any("it is no Tool but a str" in problem for problem in made.assembly.problems)
        assert "OSError: down" in made.registry.incidents.incidents[0].error


async def test_services_run_from_start_to_close() -> None:
    """One that fails costs only itself."""
    seen: list[str] = []

    class Good:
        async def run(self, ready: asyncio.Event, stop: asyncio.Event) -> None:
            seen.append("started")
            ready.set()
            await stop.wait()
            seen.append("stopped")

    class Bad:
        async def run(self, ready: asyncio.Event, stop: asyncio.Event) -> None:
            raise RuntimeError("broken")

    async with lockgate_for(plugins=[PluginOf(services=[Bad(), Good()])]):
        assert seen == ["started"]
    assert seen == ["started", "stopped"]


async def test_other_rules_count_without_a_restart() -> None:
    """The plugins stay, the registry is swapped whole."""
    with FakeProvider([answer_text("a"), answer_text("b")]) as fake:
        async with lockgate_for(fake, tools=[simple("t")]) as made:
            async with made.ask(None, "x", selected=["t"]) as run:
                await run.wait()
            before = made.assembly
            await made.reconfigure(
                Configuration(rules=Rules(disabled={"t": BY_USER}), providers=before.directory.configs,
                              default_provider="fake")
            )  # fmt: skip
            assert made.assembly.host is before.host
            async with made.ask(None, "x", selected=["t"]) as run:
                await run.wait()
        first, second = (request.body for request in fake.requests)
        assert [tool["function"]["name"] for tool in first["tools"]] == ["t"]
        assert "tools" not in second


def test_a_gate_has_to_be_entered() -> None:
    """The mistake is told, with what would be right."""
    with pytest.raises(UsageError, match="async with Lockgate"):
        _ = Lockgate().registry


def test_a_profile_is_no_place_for_trust() -> None:
    """No flag of a profile states confidence or self-hosting."""
    names = set(cast("Any", ProviderProfile).__dataclass_fields__)
    assert not names & {"confidence", "self_hosted", "trusted"}


class EchoLoop:
    """A loop that asks once and takes whatever comes."""

    id = "once"

    async def run(self, job: Job) -> None:
        """Ask once."""
        await job.round("Answer now.")
        job.finish(Stopped.ANSWERED)


async def test_a_loop_of_a_plugin_drives_rounds() -> None:
    """It is chosen by its ID, and can leave no check out: it only sees a job."""
    with FakeProvider([answer_text("Once.")]) as fake:
        plugins = [PluginOf("loops", loops=[EchoLoop()])]
        async with lockgate_for(fake, plugins=plugins, loop="once") as made, made.ask(None, "Hello?") as run:
            await run.wait()
        assert run.text == "Once."
        assert fake.requests[0].body["messages"][0] == {"role": "system", "content": "Answer now."}


async def test_a_loop_nobody_brings_is_told() -> None:
    """The known ones are named."""
    with FakeProvider([]) as fake:
        async with lockgate_for(fake, loop="twice") as made:
            with pytest.raises(UnknownNameError, match="tool_calling"):
                made.ask(None, "Hello?")


@pytest.mark.parametrize("change", ["lowered", "removed", "moved"])
async def test_a_provider_that_loses_trust_gets_nothing_more(change: str) -> None:
    """A running chat sees the provider's entry as it is now: its next round is not sent."""
    entered = asyncio.Event()
    goes_on = asyncio.Event()

    @tool(outbound_data=ToolOutboundData.NONE)
    async def wait() -> str:
        """Wait."""
        entered.set()
        await goes_on.wait()
        return "secret"

    chat = ChatThread(requirements=ChatRequirements(ConfidenceLevel.MEDIUM))
    with FakeProvider([answer_calls(Call("wait", {})), answer_text("never")]) as fake:
        async with lockgate_for(fake, tools=[wait]) as made, made.ask(chat, "x", selected=["wait"]) as run:
            await entered.wait()
            configs = dict(made.assembly.directory.configs)
            if change == "removed":
                del configs["fake"]
            elif change == "moved":
                trusted = replace(configs["fake"], base_url="http://127.0.0.1:9/v1", confidence=ConfidenceLevel.HIGH)
                configs["fake"] = trusted
            else:
                configs["fake"] = replace(configs["fake"], confidence=ConfidenceLevel.LOW)
            await made.reconfigure(Configuration(providers=configs))
            goes_on.set()
            with pytest.raises(ProviderDenied):
                await run.wait()
        assert len(fake.requests) == 1


async def test_a_plugin_that_fails_at_a_later_hook_brings_nothing() -> None:
    """Its tools, contributed before, are gone with it."""
    half = PluginOf("half", tools=[simple("t")])

    def fails() -> list[object]:
        raise RuntimeError("broken")

    half.lockgate_observers = hookimpl(fails)  # type: ignore[attr-defined] # a hook made for one test
    async with lockgate_for(plugins=[half], tools=[simple("fine")]) as made:
        assert [tool.id for tool in made.registry.tools] == ["fine"]


async def test_what_cannot_be_a_selection_or_a_component_is_refused_in_words() -> None:
    """A text would be taken apart into letters, and a name of a component is none."""
    async with FakeProvider() as fake, lockgate_for(fake) as made:
        for selected, words in (("get_tide", r"right is a list of IDs, such as \['get_tide'\]"), ([5], "holds 5")):
            with pytest.raises(UsageError, match=words):
                made.ask(None, "Hello?", selected=cast("Any", selected))
            with pytest.raises(UsageError, match=words):
                await made.explain("get_tide", selected=cast("Any", selected))
        with pytest.raises(UsageError, match="a member of Components"):
            made.ask(None, "Hello?", component=cast("Any", "CHAT"))


async def test_an_explanation_needs_no_key() -> None:
    """Nothing is sent, so a person without the key learns all the same why a tool is not there."""
    keyless = ProviderConfig("own", "p", api_key_variable="NO_SUCH_VARIABLE")
    async with gate(keyless) as made:
        with pytest.raises(ConfigurationError, match="has no API key"):
            made.provider("own")
        assert (await made.explain("nothing", provider="own")).standing.id == "own"
