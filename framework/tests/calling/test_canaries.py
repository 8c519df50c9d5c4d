"""Secrets and sensitive arguments, looked for in every place where something of a call can end up.

`test_masking.py` holds the forms a value takes; here are the places, and the ways a value gets there: everything a
tool is asked, and every end that a call can come to.
"""

import asyncio
import json
import logging
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from calling_kit import ANY_OBJECT, KeySettings
from cli_runs import add_fake, lockgate
from made_packs import make_pack
from scripted_kit import SCRIPTED, Conversation, ScriptedModel, calling, saying

from lockgate.calling import Event, Run
from lockgate.chat.transfer import chat_to_json
from lockgate.errors import ArgumentRefused, LockgateError, ToolBlocked
from lockgate.plugin_host.report import findings
from lockgate.policy import BY_USER, ToolOutboundData
from lockgate.registry import Rules
from lockgate.settings import Layers, ToolSettings
from lockgate.storage import SqliteChatStore
from lockgate.testing import Call, FakeProvider, answer_calls, answer_text
from lockgate.tools import RequestContext, Tool, ToolContext, ToolDefinition, ToolFunction, ToolResult, ToolTexts
from lockgate.tools.arguments import read_object

CORE, OWN_CORE = "CANARY7731", "PASSPHRASE9"
KEY = f'k"y\\ü/{CORE}+ &<x>'
PASSWORD = f'pä"ss\\w/{OWN_CORE} & 9'
SECRET_IN_AN_ANSWER = "what a tool answers when it is asked for its function, instructions or name is not masked"
FORGOTTEN = "after a change of rules the incidents mask nothing until the settings of the tool are read again"
SETTINGS = Layers(secrets={"probe.api_key": KEY})


class Notes:
    """An observer that keeps everything."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def on(self, event: Event) -> None:
        """Keep an event."""
        self.events.append(event)


@dataclass
class Sinks:
    """All places at the end of a run: name → what stands there."""

    run: Run
    places: dict[str, str]
    requests: str

    def with_(self, core: str) -> list[str]:
        """Return the places in which a value stands."""
        return [name for name, text in self.places.items() if core in text]


async def sinks_of(
    tool: Tool,
    answer: Callable[[Conversation], Any],
    folder: Path,
    caplog: pytest.LogCaptureFixture,
    rules: Rules,
    *,
    cancel_after: float | None = None,
) -> Sinks:
    """Ask a question with a tool selected, and collect what stands everywhere afterwards."""
    caplog.set_level(logging.DEBUG)
    logging.getLogger("lockgate").setLevel(logging.DEBUG)
    model, notes, events, fault = ScriptedModel(answer), Notes(), list[Event](), ""
    async with model.gate(tools=[tool], rules=rules, store=SqliteChatStore(folder / "chats.db")) as gate:
        run = gate.ask(None, "Hello?", provider=SCRIPTED, selected=["probe"], observers=[notes])
        try:
            async with run:
                ending = None if cancel_after is None else asyncio.get_running_loop().call_later(
                    cancel_after, lambda: asyncio.ensure_future(run.cancel())
                )
                async for event in run:
                    events.append(event)
                if ending is not None:
                    ending.cancel()
        except LockgateError as error:
            fault = "".join(traceback.format_exception(error))
        explanation = await gate.explain("probe", provider=SCRIPTED, chat=run.chat, selected=["probe"])
        stored = await gate.store.load(run.chat.id)
        assert stored is not None
        incidents = gate.registry.incidents.incidents
        await gate.reconfigure(gate._configuration)  # other rules, the same tools: they still know what they knew
        anew = await gate.explain("probe", provider=SCRIPTED, chat=run.chat, selected=["probe"])
        incidents += gate.registry.incidents.incidents
        on_disk = _bytes_in(folder)  # the database, and the log of its latest changes
        places = {
            "events": repr(events), "observers": repr(notes.events), "traces": repr(run.traces),
            "sources": repr(run.sources), "error": fault, "explain": repr((explanation, explanation.why, anew)),
            "incidents": repr(incidents), "doctor": repr(findings(gate.assembly.host, incidents)),
            "problems": repr(gate.assembly.problems), "chat": repr(stored), "export": chat_to_json(stored),
            "session": repr(run.chat), "texts": repr(gate.registry.texts("probe")),
            "settings": repr(gate.registry.effective("probe").settings),
            "logs": "\n".join(_logged(record) for record in caplog.records),
        }  # fmt: skip
    places["disk"] = (on_disk + _bytes_in(folder)).decode("latin-1")
    assert run.chat.id in places["disk"]
    return Sinks(run, places, "\n".join(text for item in model.conversations for text in item.texts()))


def _bytes_in(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file())


def _logged(record: logging.LogRecord) -> str:
    text = logging.Formatter("%(message)s").format(record)  # with tracebacks
    return f"{text} {record.args!r}" if record.name.startswith("lockgate") else text


# A secret of the settings


def _fail(error: BaseException) -> Any:
    raise error


def _chained(text: str) -> BaseException:
    error = ValueError("outer")
    error.__cause__ = RuntimeError(f"inner {text}")
    error.add_note(f"a note: {text}")
    return error


class Telltale(Tool):
    """A tool that gives its secret away where a test says: by what it raises, or by what it answers."""

    settings_model = KeySettings

    def __init__(self, where: str) -> None:
        self.where = where
        self.armed = False  # what is asked before settings are read cannot know the secret yet
        self.definition = ToolDefinition(
            "probe", ANY_OBJECT, "Does something.", outbound_data=ToolOutboundData.NONE, strict=False
        )

    def _at(self, where: str) -> None:
        if self.where == where and self.armed:
            raise ValueError(f"bad key {KEY!r}")

    def texts(self, locale: str) -> ToolTexts:
        self._at("texts")
        named = f"Probe {KEY}" if self.where == "texts answer" else "Probe"
        return ToolTexts(named, "Does something.")

    def is_available(self) -> bool:
        self._at("is_available")
        return True

    def timeout(self, settings: ToolSettings) -> float:
        self._at("timeout")
        return 20

    def parse(self, arguments: str) -> Any:
        self._at("parse")
        if self.where == "parse refusal":
            raise ArgumentRefused(f"wrong for {KEY}", trace_message=f"wrong {KEY}")
        return read_object(arguments)

    async def validate_settings(self, settings: ToolSettings) -> str | None:
        self.armed = True
        self._at("validate_settings")
        return f"the key {KEY} is refused" if self.where == "validate_settings answer" else None

    async def resolve_function(self, context: RequestContext) -> ToolFunction | None:
        self._at("resolve_function")
        told = f" Uses {KEY}." if self.where == "resolve_function answer" else ""
        choices = {"kind": ("a", KEY)} if self.where == "resolve_function choices" else {}
        parameters = ANY_OBJECT if not choices else {
            **ANY_OBJECT, "properties": {"kind": {"type": "string", "description": "which", "enum": ["a", KEY]}},
        }
        return ToolFunction(f"Does something.{told}", parameters, choices)

    async def resolve_instructions(self, context: RequestContext) -> str:
        self._at("resolve_instructions")
        return f"Sign in with {KEY}." if self.where == "resolve_instructions answer" else "Use it."

    async def execute(self, arguments: Any, context: ToolContext) -> ToolResult:
        context.emit(f"signing in with {KEY}")
        if self.where == "execute chain":
            raise _chained(KEY)
        if self.where == "execute group":
            raise ExceptionGroup(f"two {KEY}", [ValueError(KEY), RuntimeError(repr(KEY))])
        if self.where == "execute exit":
            raise SystemExit(KEY)
        if self.where == "execute settings":
            raise ValueError(f"{context.settings!r} {context.settings.model_dump()} {context.settings}")
        return ToolResult("Done.")


_CALLED_ANYWAY = {
    "timeout", "texts", "texts answer", "execute chain", "execute group", "execute exit", "execute settings", "nowhere",
}  # fmt: skip


@pytest.mark.parametrize("where", [
    "nowhere", "validate_settings", "validate_settings answer", "resolve_function", "resolve_function answer",
    "resolve_function choices", "resolve_instructions", "resolve_instructions answer", "texts", "texts answer",
    "is_available", "timeout", "parse", "parse refusal", "execute chain", "execute group", "execute exit",
    "execute settings",
])
async def test_a_secret_reaches_no_place_at_all(
    where: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Whatever a tool is asked, and whatever it does with its secret there; the model is a place as well."""

    def answer(read: Conversation) -> Any:
        return calling(("probe", {"kind": "a"})) if not read.results else saying("Done.")

    done = await sinks_of(Telltale(where), answer, tmp_path / "store", caplog, Rules(layers=SETTINGS))
    assert done.with_(CORE) == []
    assert CORE not in done.requests
    assert done.run.error is None
    if where in _CALLED_ANYWAY:
        assert done.run.traces[0].was_executed
        assert "signing in with *****" in done.places["events"]


# Sensitive arguments

MANY = {
    "value": {"password": PASSWORD},
    "deep": {"steps": [[{"login": {"password": PASSWORD}}]]},
    "below": {"password": {"any": ["thing", {"deep": PASSWORD}]}},
    "as a key": {"password": {PASSWORD: 1}},
    "as a key deeper": {"steps": [{"password": [{"inner": {PASSWORD: None}}]}]},
    "unknown argument": {"passwort": PASSWORD, "user": "x"},
}  # fmt: skip
"""Arguments that hold the password."""


def _sensitive_tool(execute: Callable[[Any, ToolContext], Any], *, seconds: float = 20, says: str = PASSWORD) -> Tool:
    class Sensitive(Tool):
        definition = ToolDefinition(
            "probe",
            {
                "type": "object", "required": [], "additionalProperties": True,
                "properties": {
                    "password": {"description": "secret"}, "user": {"type": "string", "description": "who"},
                    "steps": {"description": "what"},
                },
            },
            "Signs in.", outbound_data=ToolOutboundData.NONE, strict=False, sensitive_arguments=("password",),
        )  # fmt: skip

        def timeout(self, settings: ToolSettings) -> float:
            return seconds

        def parse(self, arguments: str) -> Any:
            return read_object(arguments)

        async def execute(self, arguments: Any, context: ToolContext) -> ToolResult:
            context.emit(f"signing in with {says}")
            return await execute(arguments, context)  # type: ignore[no-any-return] # as each test likes

    return Sensitive()


async def _repeats(arguments: Any, context: ToolContext) -> ToolResult:
    return ToolResult({"got": arguments, "password": PASSWORD})


async def _repeats_in_python(arguments: Any, context: ToolContext) -> ToolResult:
    return ToolResult({"login": f"{arguments}"})


async def _fails(arguments: Any, context: ToolContext) -> ToolResult:
    raise ValueError(f"bad login {arguments!r} {PASSWORD}")


async def _blocks(arguments: Any, context: ToolContext) -> ToolResult:
    raise ToolBlocked(f"not for {PASSWORD}")


async def _refuses(arguments: Any, context: ToolContext) -> ToolResult:
    raise ArgumentRefused(f"wrong: {PASSWORD}")


async def _hangs(arguments: Any, context: ToolContext) -> ToolResult:
    await asyncio.sleep(30)
    return ToolResult("")


ENDS: dict[str, Callable[[Any, ToolContext], Any]] = {
    "answered": _repeats, "failed": _fails, "blocked by the tool": _blocks, "refused by the tool": _refuses,
    "timed out": _hangs, "cancelled": _hangs,
}  # fmt: skip


def _calls_once(name: str, arguments: Any) -> Callable[[Conversation], Any]:
    def answer(read: Conversation) -> Any:
        return calling((name, arguments)) if not read.results else saying("Done.")

    return answer


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("held", MANY)
async def test_a_sensitive_argument_reaches_no_place_but_the_models_own_call(
    held: str, end: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """At any depth, as a key, under a name the tool does not know; whatever end the call comes to."""
    tool = _sensitive_tool(ENDS[end], seconds=0.05 if end == "timed out" else 20)
    done = await sinks_of(
        tool, _calls_once("probe", MANY[held]), tmp_path / "store", caplog, Rules(),
        cancel_after=0.05 if end == "cancelled" else None,
    )  # fmt: skip
    assert done.with_(OWN_CORE) == []
    assert [trace.was_executed for trace in done.run.traces] == [True]
    assert "signing in with *****" in done.places["events"]


@pytest.mark.parametrize("number", [77317731, 7731.7731, -7731773177, 7.7317731e30], ids=str)
async def test_a_number_is_masked_as_it_is_written(
    number: float, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A PIN or a code is a number to the model; it is masked in the forms that Python and JSON give it."""

    async def execute(arguments: Any, context: ToolContext) -> ToolResult:
        raise ValueError(f"bad code {arguments['password']} {json.dumps(arguments)} {arguments!r}")

    tool = _sensitive_tool(execute)
    done = await sinks_of(tool, _calls_once("probe", {"password": number}), tmp_path / "store", caplog, Rules())
    assert done.with_(str(number)) == []
    assert "bad code *****" in done.places["traces"]


MALFORMED = {
    "cut": '{"password": "' + OWN_CORE, "no object": json.dumps([OWN_CORE]), "text": json.dumps(OWN_CORE),
    "twice": json.dumps({"password": 1})[:-1] + f', "password": "{OWN_CORE}"}}', "no JSON": f"password={OWN_CORE}",
    "trailing": json.dumps({"password": OWN_CORE}) + " x", "not a number": f'{{"password": NaN, "x": "{OWN_CORE}"}}',
}  # fmt: skip


async def test_a_value_in_a_text_in_json_is_masked(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A tool that answers with JSON may quote its arguments in a text of it, as Python shows them."""
    tool = _sensitive_tool(_repeats_in_python)
    done = await sinks_of(tool, _calls_once("probe", MANY["value"]), tmp_path / "store", caplog, Rules())
    assert done.with_(OWN_CORE) == []


@pytest.mark.parametrize("shape", MALFORMED)
async def test_arguments_that_are_no_object_are_not_quoted(
    shape: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """What cannot be read cannot be masked, so none of it is shown to anybody but the model."""
    tool = _sensitive_tool(_fails, says="nothing")
    done = await sinks_of(tool, _calls_once("probe", MALFORMED[shape]), tmp_path / "store", caplog, Rules())
    assert done.with_(OWN_CORE) == []


@pytest.mark.parametrize("name", ["prob", "Probe", "sign_in"])
async def test_a_call_to_an_unknown_tool_shows_no_sensitive_argument(
    name: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A misspelt name is no way round: what is sensitive for a tool that is there is sensitive here as well."""
    tool = _sensitive_tool(_repeats)
    given = {"password": PASSWORD, "steps": [{"password": PASSWORD}], "user": "x"}
    done = await sinks_of(tool, _calls_once(name, given), tmp_path / "store", caplog, Rules())
    assert [trace.status.value for trace in done.run.traces] == ["BLOCKED"]
    assert done.with_(OWN_CORE) == []


async def test_a_call_that_a_rule_blocks_shows_no_sensitive_argument(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A tool that is switched off is not offered, and a model that calls it all the same wrote its arguments."""
    rules = Rules(disabled={"probe": BY_USER})
    tool = _sensitive_tool(_repeats)
    done = await sinks_of(tool, _calls_once("probe", {"password": PASSWORD}), tmp_path / "store", caplog, rules)
    assert [trace.status.value for trace in done.run.traces] == ["BLOCKED"]
    assert done.with_(OWN_CORE) == []


async def test_the_search_finds_a_value_that_is_not_masked(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The test can fail: an argument that nobody called sensitive stands where it is expected, and nowhere else."""
    tool = _sensitive_tool(_fails)
    done = await sinks_of(tool, _calls_once("probe", {"user": "OPEN-WORD-5"}), tmp_path / "store", caplog, Rules())
    assert done.with_("OPEN-WORD-5") == ["events", "traces", "chat", "export", "session", "logs", "disk"]


# The command line

PACK = '''
from pydantic import SecretStr
from lockgate import Tool, ToolDefinition, ToolFailed, ToolOutboundData, ToolSettings, hookimpl

class Needs(ToolSettings):
    api_key: SecretStr

class SignIn(Tool):
    settings_model = Needs
    definition = ToolDefinition(
        "sign_in",
        {"type": "object", "required": [], "additionalProperties": False,
         "properties": {"password": {"type": "string", "description": "p"},
                        "way": {"type": "string", "description": "w"}}},
        "Signs in.", outbound_data=ToolOutboundData.NONE, strict=False, sensitive_arguments=("password",),
    )
    async def validate_settings(self, settings):
        self.key = settings.api_key.get_secret_value()
    def parse(self, arguments):
        import json
        return json.loads(arguments)
    def timeout(self, settings):
        raise ValueError(self.key)
    async def resolve_function(self, context):
        if "BROKEN" in context.chat.messages[-1].text:
            raise ValueError(f"no {self.key}")
        return await super().resolve_function(context)
    async def execute(self, arguments, context):
        context.emit(f"with {self.key} and {arguments['password']}")
        if arguments.get("way") == "fail":
            raise ToolFailed(f"bad {self.key} {arguments['password']}")
        if arguments.get("way") == "break":
            raise ValueError(f"bad {self.key} {arguments['password']}")
        return __import__("lockgate").ToolResult(f"signed in with {self.key}")

@hookimpl
def lockgate_tools():
    return [SignIn()]
'''


def test_the_command_line_prints_none_of_it(tmp_path: Path) -> None:
    """`ask --verbose`, `tools explain`, `tools list`, `plugins doctor`, the kept chat, and every file of the home."""
    packs = make_pack(tmp_path / "packs", "sign-in", PACK, lockgate="sign = sign_in")
    home = tmp_path / "home"
    kept = lockgate(home, "tools", "secret", "sign_in", "api_key", stdin=f"{KEY}\n", PYTHONPATH=packs)
    assert kept.status == 0, kept.err
    calls = [answer_calls(Call("sign_in", {"password": PASSWORD, "way": way})) for way in ("", "fail", "break")]
    script = [*calls, answer_text("Done.")]
    with FakeProvider([*script, answer_text("Done.")]) as fake:
        add_fake(home, fake.base_url)
        ran = [
            kept,
            lockgate(home, "ask", "--verbose", "-p", "fake", "-t", "sign_in", "Hello?", PYTHONPATH=packs),
            lockgate(home, "ask", "--verbose", "-p", "fake", "-t", "sign_in", "BROKEN?", PYTHONPATH=packs),
            lockgate(home, "tools", "explain", "sign_in", PYTHONPATH=packs),
            lockgate(home, "tools", "list", PYTHONPATH=packs),
            lockgate(home, "plugins", "doctor", PYTHONPATH=packs),
            lockgate(home, "chats", "show", "last", PYTHONPATH=packs),
            lockgate(home, "chats", "export", "last", PYTHONPATH=packs),
        ]
    assert [one.status for one in ran[:5]] == [0] * 5, [one.err for one in ran]
    assert "with ***** and *****" in ran[1].err
    for one in ran:
        assert CORE not in one.out + one.err
        assert OWN_CORE not in one.out + one.err
    assert all(CORE.encode() not in request.arrived_bytes for request in fake.requests)
    files = {path.name: path.read_bytes() for path in home.rglob("*") if path.is_file()}
    assert [name for name, data in files.items() if CORE.encode() in data and name != "secrets.toml"] == []
    assert [name for name, data in files.items() if OWN_CORE.encode() in data] == []
