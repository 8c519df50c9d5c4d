"""What a chat begins with: templates and assistants, and whose selection counts in it."""

import importlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
from registry_kit import simple

from lockgate.app import Lockgate, ProviderConfig
from lockgate.app.configuration import Configuration
from lockgate.app.templates import Assistant, ChatTemplate
from lockgate.calling import RequestPrepared, Run
from lockgate.chat import ChatThread
from lockgate.errors import UnknownNameError, UsageError
from lockgate.policy import SetBy, SetByKind, ToolOutboundData
from lockgate.registry import BeyondKind, Rules
from lockgate.storage import SqliteChatStore
from lockgate.testing import FakeProvider, FakeRequest, PluginOf, answer_text
from lockgate.tools import Components, Tool, ToolActivation, ToolCollection, Visibility

ORGANIZATION = SetBy(SetByKind.ORGANIZATION, "Example Inc.", "plugin.lua", 12)


def made(tool_id: str, **facts: Any) -> Tool:
    """Make a tool whose arguments go nowhere."""
    return simple(tool_id, outbound_data=ToolOutboundData.NONE, **facts)


TOOLS = (
    made("count"), made("mail_read"), made("mail_search"), made("lead", companions=("count",)),
    made("now", activation=ToolActivation.CONTEXT), made("for_chats", visible_in=Visibility(assistants=False)),
    made("for_assistants", visible_in=Visibility(chat=False)),
)  # fmt: skip
MAILS = ToolCollection("mails", ("mail_read", "mail_search"))


def gate_for(
    fake: FakeProvider,
    *presets: ChatTemplate | Assistant,
    rules: Rules | None = None,
    providers: Iterable[ProviderConfig] = (),
    **options: Any,
) -> Lockgate:
    """Make a gate with templates and assistants; the fake provider is the default one."""
    return Lockgate(configured(fake, *presets, rules=rules, providers=providers), plugins=[
        importlib.import_module("lockgate_openai.plugin"), PluginOf(tools=TOOLS, collections=[MAILS])
    ], **options)  # fmt: skip


def configured(
    fake: FakeProvider, *presets: ChatTemplate | Assistant, rules: Rules | None = None,
    providers: Iterable[ProviderConfig] = (),
) -> Configuration:
    """Return a configuration with templates and assistants."""
    found: Mapping[str, ProviderConfig] = {item.id: item for item in (provider(fake, "fake"), *providers)}
    return Configuration(
        rules=rules or Rules(), providers=found, default_provider="fake",
        chat_templates={item.id: item for item in presets if isinstance(item, ChatTemplate)},
        assistants={item.id: item for item in presets if isinstance(item, Assistant)},
    )


def provider(fake: FakeProvider, provider_id: str) -> ProviderConfig:
    """Return a provider at the fake host, whose model has the provider's own name."""
    return ProviderConfig(provider_id, "openai", base_url=fake.base_url, model=f"model-{provider_id}", api_key="k")


def done(request: FakeRequest) -> Any:
    """Answer in words."""
    return answer_text("Done.")


async def prepared(run: Run) -> RequestPrepared:
    """Let a run end well; return what was offered."""
    async with run:
        events = [event async for event in run]
    assert run.stopped == "answered", run.error
    return next(event for event in events if isinstance(event, RequestPrepared))


# --- templates -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tool_ids", "stored"),
    [
        (None, None),
        ((), ()),
        (("mail_read",), ("mails",)),
        (("mail_search", "mails", "mail_read"), ("mails",)),
        (("lead",), ("count", "lead")),
        (("zz_not_installed", "count", "gone"), ("count", "gone", "zz_not_installed")),
        (("now",), ()),
    ],
    ids=["never chosen", "all off", "tool of a collection", "several of one", "with a companion", "unknown", "context"],
)
async def test_the_selection_of_a_template_is_stored_normalized(
    tool_ids: tuple[str, ...] | None, stored: tuple[str, ...] | None
) -> None:
    """As collections in order, companions added, unknown IDs kept; never chosen is another thing than all off."""
    with FakeProvider(done) as fake:
        async with gate_for(fake, ChatTemplate("t", "T", "Be brief.", tool_ids)) as gate:
            chat = gate.new_chat("t")
            assert (chat.system_prompt, chat.selected_tools, chat.include_date) == ("Be brief.", stored, True)
            assert (chat.messages, chat.assistant, chat.prefix) == ((), "", None)
            assert gate.new_chat("t").id != chat.id
            run = gate.ask(chat, "Hello?")
            await prepared(run)
            assert run.chat.selected_tools == stored
            kept = await gate.store.load(chat.id)
            assert kept is not None
            assert kept.selected_tools == stored


async def test_a_template_that_names_no_tools_leaves_them_to_the_defaults() -> None:
    """One that switches all off does not."""
    rules = Rules(default_tools={"CHAT": ("count",)})
    templates = ChatTemplate("open"), ChatTemplate("off", tool_ids=()), ChatTemplate("mail", tool_ids=("mails",))
    with FakeProvider(done) as fake:
        async with gate_for(fake, *templates, rules=rules) as gate:
            assert (await prepared(gate.ask(gate.new_chat("open"), "?"))).offered == ("count", "now")
            assert (await prepared(gate.ask(gate.new_chat("off"), "?"))).offered == ("now",)
            assert (await prepared(gate.ask(gate.new_chat("mail"), "?"))).offered == ("mail_read", "mail_search", "now")
            assert (await prepared(gate.ask(gate.new_chat(), "?"))).offered == ("count", "now")


async def test_a_template_that_is_not_there_is_named_with_those_that_are() -> None:
    """Nobody has to guess."""
    with FakeProvider(done) as fake:
        async with gate_for(fake, ChatTemplate("letters")) as gate:
            with pytest.raises(UnknownNameError, match=r"no chat template 'leters'.*letters"):
                gate.new_chat("leters")


# --- assistants ------------------------------------------------------------------------------------------------------

RULED = Assistant("ruled", "Ruled", "Sort mails.", Components.EMAIL_ASSISTANT, ("mail_read", "lost"), "second")
FREE = Assistant("free", "Free", "Do as told.", Components.EMAIL_ASSISTANT)


async def test_an_assistant_brings_prompt_component_provider_and_tools() -> None:
    """Its rules name the tools, also where the component shows no selection; an unknown one is told as left out."""
    with FakeProvider(done) as fake:
        async with gate_for(fake, RULED, providers=[provider(fake, "second")]) as gate:
            run = gate.ask(None, "Which are new?", assistant="ruled")
            told = await prepared(run)
            assert told.offered == ("mail_read", "mail_search", "now")
            assert told.left_out == ("lost",)
            assert (run.chat.assistant, run.chat.system_prompt) == ("ruled", "Sort mails.")
            assert run.chat.selected_tools is None
        sent = fake.requests[0]
        assert sent.body["model"] == "model-second"
        assert sent.messages[0]["content"].startswith("Sort mails.\n\nToday is ")


@pytest.mark.parametrize(
    ("component", "offered"),
    [(Components.EMAIL_ASSISTANT, ("for_assistants", "now")), (Components.CHAT, ("for_chats", "now"))],
)
async def test_the_component_of_an_assistant_decides_what_may_appear(
    component: Components, offered: tuple[str, ...]
) -> None:
    """A tool that is not meant for it is left out, although the rules name it; what whoever asks says comes first."""
    both = Assistant("both", "Both", "", component, ("for_chats", "for_assistants"))
    with FakeProvider(done) as fake:
        async with gate_for(fake, both) as gate:
            assert (await prepared(gate.ask(None, "?", assistant="both"))).offered == offered
            other = gate.ask(None, "?", assistant="both", component=Components.CHAT)
            assert (await prepared(other)).offered == ("for_chats", "now")


async def test_whoever_asks_can_name_another_provider() -> None:
    """The assistant's is the one where nobody does."""
    with FakeProvider(done) as fake:
        async with gate_for(fake, RULED, FREE, providers=[provider(fake, "second")]) as gate:
            await prepared(gate.ask(None, "?", assistant="ruled", provider="fake"))
            await prepared(gate.ask(None, "?", assistant="free"))
        assert [request.body["model"] for request in fake.requests] == ["model-fake", "model-fake"]


@pytest.mark.parametrize("selected", [("count",), ()])
async def test_no_tools_are_selected_beside_the_rules_of_an_assistant(selected: tuple[str, ...]) -> None:
    """It would look as if they counted; the same in a later question of the chat."""
    with FakeProvider(done) as fake:
        async with gate_for(fake, RULED, providers=[provider(fake, "second")]) as gate:
            with pytest.raises(UsageError, match="rules of the assistant 'ruled' name its tools"):
                gate.ask(None, "?", assistant="ruled", selected=selected)
            run = gate.ask(None, "?", assistant="ruled")
            await prepared(run)
            with pytest.raises(UsageError, match="rules of the assistant 'ruled' name its tools"):
                gate.ask(run.chat, "?", selected=selected)


@pytest.mark.parametrize(
    ("visible", "selected", "offered"),
    [
        (("EMAIL_ASSISTANT",), ("count",), ("count", "now")),
        (("EMAIL_ASSISTANT",), None, ("lead", "count", "now")),
        (("EMAIL_ASSISTANT",), (), ("now",)),
        (("WRITER",), ("count",), ()),
        ((), ("count",), ()),
        ((), None, ()),
    ],
)
async def test_without_rules_the_selection_counts_where_the_component_shows_it(
    visible: tuple[str, ...], selected: tuple[str, ...] | None, offered: tuple[str, ...]
) -> None:
    """Where nobody sees what is selected, no tool may run, not even one that offers itself; in later turns, too."""
    defaults = {"EMAIL_ASSISTANT": ("lead",), "CHAT": ("mails",)}
    rules = Rules(visible_selection_components=frozenset(visible), default_tools=defaults)
    with FakeProvider(done) as fake:
        async with gate_for(fake, FREE, rules=rules) as gate:
            run = gate.ask(None, "?", assistant="free", selected=selected)
            assert set((await prepared(run)).offered) == set(offered)
            assert set((await prepared(gate.ask(run.chat, "And now?"))).offered) == set(offered)


async def test_what_is_not_shown_is_explained() -> None:
    """With the setting that would change it."""
    with FakeProvider(done) as fake:
        async with gate_for(fake, FREE) as gate:
            chat = ChatThread(assistant="free", selected_tools=("count",))
            found = await gate.explain("count", chat=chat)
            assert (found.offered, found.component) == (False, Components.EMAIL_ASSISTANT)
            assert [item.kind for item in found.beyond] == [BeyondKind.SELECTION_HIDDEN]
            assert str(found.beyond[0].change) == "set VisibleToolSelectionComponents to a list with 'EMAIL_ASSISTANT'"
            named = await gate.explain("count", chat=chat, selected=("count",))
            assert [item.kind for item in named.beyond] == [BeyondKind.SELECTION_HIDDEN]


async def test_a_chat_stays_with_its_assistant(tmp_path: Path) -> None:
    """Over a reload and as a fork, without being told again; saying so again changes nothing."""
    with FakeProvider(done) as fake:
        second = [provider(fake, "second")]
        async with gate_for(fake, RULED, providers=second, store=SqliteChatStore(tmp_path / "chats.db")) as gate:
            run = gate.ask(None, "?", assistant="ruled")
            await prepared(run)
        async with gate_for(fake, RULED, providers=second, store=SqliteChatStore(tmp_path / "chats.db")) as gate:
            loaded = await gate.store.load(run.chat.id)
            assert loaded is not None
            assert loaded.assistant == "ruled"
            later = gate.ask(loaded, "And now?")
            assert (await prepared(later)).offered == ("mail_read", "mail_search", "now")
            again = gate.ask(later.chat, "And now?", assistant="ruled")
            assert (await prepared(again)).offered == ("mail_read", "mail_search", "now")
            forked = await gate.fork(loaded.id)
            assert forked.assistant == "ruled"
            assert (await prepared(gate.ask(forked, "And now?"))).offered == ("mail_read", "mail_search", "now")
        assert {request.body["model"] for request in fake.requests} == {"model-second"}


async def test_a_chat_that_has_begun_takes_no_other_assistant() -> None:
    """What it holds was asked for under other rules; an empty chat takes one, if it has no prompt."""
    with FakeProvider(done) as fake:
        async with gate_for(fake, RULED, FREE, providers=[provider(fake, "second")]) as gate:
            plain, ruled = gate.ask(None, "?"), gate.ask(None, "?", assistant="ruled")
            for run in (plain, ruled):
                await prepared(run)
            with pytest.raises(UsageError, match="begun with no assistant; it cannot go on with 'free'"):
                gate.ask(plain.chat, "And now?", assistant="free")
            with pytest.raises(UsageError, match="begun with the assistant 'ruled'; it cannot go on with 'free'"):
                gate.ask(ruled.chat, "And now?", assistant="free")
            with pytest.raises(UsageError, match="begun with the assistant 'ruled'"):
                gate.ask(ChatThread(assistant="ruled"), "And now?", assistant="free")
            empty = gate.ask(gate.new_chat(), "?", assistant="ruled")
            with pytest.raises(UsageError, match="a system prompt of its own"):
                gate.ask(ChatThread(system_prompt="My own."), "?", assistant="ruled")
            assert (empty.chat.assistant, empty.chat.system_prompt) == ("ruled", "Sort mails.")


async def test_an_assistant_that_is_not_there_is_named_with_those_that_are() -> None:
    """Before anything is asked."""
    with FakeProvider(done) as fake:
        async with gate_for(fake, FREE) as gate:
            with pytest.raises(UnknownNameError, match=r"no assistant 'fre'.*free"):
                gate.ask(None, "?", assistant="fre")


async def test_the_chat_of_an_assistant_that_is_gone_selects_nothing() -> None:
    """Nobody knows any more which tools were meant; the words say why, and no selection is taken in silence."""
    defaults, visible = {"META_ASSISTANT": ("count",), "CHAT": ("count",)}, frozenset({"META_ASSISTANT"})
    rules = Rules(default_tools=defaults, visible_selection_components=visible)
    with FakeProvider(done) as fake:
        async with gate_for(fake, FREE, rules=rules) as gate:
            run = gate.ask(None, "?", assistant="free", selected=("count",), component=Components.CHAT)
            assert (await prepared(run)).offered == ("count", "now")
            await gate.reconfigure(configured(fake, rules=rules))
            assert (await prepared(gate.ask(run.chat, "And now?"))).offered == ()
            for tool_id in ("count", "now"):
                found = await gate.explain(tool_id, chat=run.chat)
                assert found.offered is False
                assert [item.kind for item in found.beyond] == [BeyondKind.SELECTION_HIDDEN]
                assert "the assistant 'free', which is no longer configured" in found.why
            with pytest.raises(UsageError, match="assistant 'free', which is no longer configured; no tools can be"):
                gate.ask(run.chat, "And now?", selected=("count",))
            assert (await prepared(gate.ask(run.chat, "And now?", selected=()))).offered == ()


async def test_rules_that_name_no_tool_allow_none() -> None:
    """Not even one that offers itself; and nobody is told to select one, which would change nothing."""
    silent = Assistant("silent", tool_ids=(), component=Components.CHAT, set_by=ORGANIZATION)
    with FakeProvider(done) as fake:
        async with gate_for(fake, silent) as gate:
            run = gate.ask(None, "?", assistant="silent")
            assert (await prepared(run)).offered == ()
            for tool_id in ("count", "now"):
                (found,) = (await gate.explain(tool_id, chat=run.chat)).beyond
                assert (found.kind, found.set_by) == (BeyondKind.SELECTION_HIDDEN, ORGANIZATION)
                assert str(found.change) == "set assistants.silent.tool_ids to a list of tools"


async def test_whose_selection_counts_is_told() -> None:
    """The assistant's rules with who set them, what whoever asks names, the chat's own choice, the defaults."""
    ruled = Assistant("ruled", tool_ids=("count",), component=Components.CHAT, set_by=ORGANIZATION)
    rules = Rules(default_tools={"CHAT": ("count",)}, default_tools_by=ORGANIZATION)
    with FakeProvider(done) as fake:
        async with gate_for(fake, ruled, rules=rules) as gate:

            async def by(chat: ChatThread, **how: Any) -> tuple[str, str]:
                chosen, missing = [await gate.explain(tool, chat=chat, **how) for tool in ("count", "mail_read")]
                assert (chosen.offered, missing.offered) == (True, False)
                return chosen.selected_by, missing.why

            where = "organization 'Example Inc.' (plugin.lua:12)"
            assert await by(ChatThread(assistant="ruled")) == (
                "the assistant 'ruled'", f"It is not selected by the assistant 'ruled'. (set by {where})"
            )  # fmt: skip
            assert (await by(ChatThread(), selected=("count",)))[0] == "whoever asks"
            assert (await by(ChatThread(selected_tools=("count",))))[0] == "the chat"
            assert (await by(ChatThread()))[0] == f"the defaults of CHAT (set by {where})"


async def test_a_selection_that_is_named_is_kept_normalized_with_the_chat() -> None:
    """So that the next question has it, and a change of packs loses nothing."""
    with FakeProvider(done) as fake:
        async with gate_for(fake) as gate:
            run = gate.ask(None, "?", selected=("mail_search", "unknown"))
            assert run.chat.selected_tools == ("mails", "unknown")
            await prepared(run)
            assert (await prepared(gate.ask(run.chat, "And now?"))).offered == ("mail_read", "mail_search", "now")
