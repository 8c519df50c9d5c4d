"""Contributed values are read once, guarded, and copied: what does not fit costs itself, in words."""

import threading
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, cast

import pytest
from registry_kit import reasons, registry, simple

from lockgate.chat import ChatThread
from lockgate.policy import ConfidenceLevel, ProviderStanding
from lockgate.registry import Offer, Preparation, Registry, Rules
from lockgate.registry.catalog import catalog
from lockgate.settings import ToolSettings
from lockgate.tools import (
    Components,
    Tool,
    ToolActivation,
    ToolCollection,
    ToolDefinition,
    ToolFunction,
    ToolTexts,
    Visibility,
    tool,
)

STANDING = ProviderStanding("p", "OPEN_AI", ConfidenceLevel.MEDIUM)
SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}, "password": {"type": "string"}}}


class Text(str):
    """A text with code of its own."""

    __slots__ = ()

    def __hash__(self) -> int:
        raise RuntimeError("hash")

    def __eq__(self, other: object) -> bool:
        return True


class NoBool:
    """Neither true nor false, as an array of NumPy."""

    def __bool__(self) -> bool:
        raise ValueError("ambiguous")


class NoText:
    """Cannot be written."""

    def __str__(self) -> str:
        raise SystemExit(7)


class NoId:
    """Raises when its ID is read."""

    @property
    def id(self) -> str:
        raise SystemExit(3)

    def options(self, locale: str) -> list[Any]:
        del locale
        return []


class Exits(dict[str, Any]):
    """A table that ends the process when it is read."""

    def items(self) -> Any:
        raise SystemExit(2)


def bad(**methods: Any) -> Tool:
    """Make a tool `bad` of the given attributes; a context tool, so that every chat meets it."""
    made = simple("bad", activation=ToolActivation.CONTEXT)
    made.__class__ = type("Bad", (type(made),), methods)
    return made


def defined(**changes: Any) -> Tool:
    """Make a tool `bad` whose definition is wrong in some way."""
    made = simple("bad", activation=ToolActivation.CONTEXT)
    made.definition = replace(made.definition, **{"parameters": SCHEMA, **changes})
    return made


def answering(value: Any) -> Any:
    """Return a coroutine method that answers with a value."""

    async def answer(self: Any, *given: Any) -> Any:
        del self, given
        return value

    return answer


def returning(value: Any) -> Any:
    """Return a method that answers with a value."""

    def answer(self: Any, *given: Any) -> Any:
        del self, given
        return value

    return answer


def raising(error: BaseException) -> Any:
    """Return a method that raises."""

    def answer(self: Any, *given: Any) -> Any:
        del self, given
        raise error

    return answer


async def prepared(made: Registry) -> Offer:
    """Prepare a request in which `fine` is selected."""
    return await Preparation(made, cast("Any", None)).prepare(ChatThread(id="c"), STANDING, Components.CHAT, ["fine"])


LOOP: dict[str, Any] = {"type": "object"}
LOOP["properties"] = {"a": LOOP}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"sensitive_arguments": "password"}, "written ('password',) with a comma"),
        ({"companions": "fine"}, "written ('fine',) with a comma"),
        ({"companions": None}, "its companions is None; right is a tuple"),
        ({"companions": ([],)}, "companions: one item is an object of type list; right is a text"),
        ({"sensitive_arguments": ("Password",)}, "the name is 'password'"),
        ({"sensitive_arguments": ("token",)}, "name 'token', which its parameters do not have; known are a, password"),
        ({"instructions": None}, "its instructions is None; right is a text"),
        ({"description": b"x"}, "its description is an object of type bytes"),
        ({"description": "\ud800"}, "lone surrogate"),
        ({"preview": []}, "its preview is an object of type list"),
        ({"strict": "yes"}, "its strict is the text 'yes'; right is True or False"),
        ({"visible_in": None}, "its visible_in is None; right is a Visibility"),
        ({"visible_in": Visibility(allowed_components=cast("Any", "CHAT"))}, "allowed_components is the text 'CHAT'"),
        ({"parameters": {"type": "object", "enum": {1, 2}}}, "an object of type set, which JSON cannot write"),
        ({"parameters": {"type": "object", "properties": {"a": {"minimum": float("nan")}}}}, "JSON cannot write"),
        ({"parameters": {"type": "object", "properties": 5}}, "'properties' is 5; right is a table of schemas"),
        ({"parameters": {"type": "object", "required": "a"}}, "'required' is the text 'a'; right is a list"),
        ({"parameters": {"type": "object", "properties": {"a": 5}}}, "5 stands where a schema is needed"),
        ({"parameters": LOOP}, "refer to themselves"),
        ({"parameters": Exits()}, "reading it failed: SystemExit: 2"),
        ({"schema_version": NoText()}, "schema version"),
    ],
)
async def test_a_part_of_a_definition_that_does_not_fit_is_named(changes: dict[str, Any], words: str) -> None:
    """The tool is rejected in words that say what would be right; the others are offered."""
    made = registry(("a", "tools", defined(**changes)), ("b", "tools", simple("fine")))
    assert words in reasons(made)[0]
    assert reasons(made)[0].startswith("The tool 'bad' of a 1.0")
    assert [item.id for item in (await prepared(made)).tools] == ["fine"]


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"in": {"type": "array", "items": {"properties": {"token": {}}}}}},
        {"type": "object", "properties": {"in": {"anyOf": [{"type": "object", "properties": {"token": {}}}]}}},
        {"type": "object", "properties": {"headers": {"type": "object", "additionalProperties": {"type": "string"}}}},
        {"type": "object", "properties": {"body": {"type": "object"}}},
    ],
)
def test_a_sensitive_argument_may_lie_deep_or_in_an_object_of_free_names(schema: dict[str, Any]) -> None:
    """What the schema has at any depth, or leaves open, can be masked."""
    made = registry(("a", "tools", defined(parameters=schema, sensitive_arguments=["token"])))
    assert made.tools[0].definition.sensitive_arguments == ("token",)


@pytest.mark.parametrize("error", [RuntimeError("boom"), SystemExit(3)])
def test_a_definition_that_raises_costs_its_tool(error: BaseException) -> None:
    """Whatever a property raises, `SystemExit` too, is a reason and no exception."""
    made = registry(("a", "tools", bad(definition=property(raising(error)))), ("b", "tools", simple("fine")))
    assert [item.id for item in made.tools] == ["fine"]
    words = f"A tool of a 1.0 (entry point 'a') was not taken: reading it failed: {type(error).__name__}"
    assert reasons(made)[0].startswith(words)


def test_a_definition_that_blocks_costs_its_plugin_one_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is left behind, the plugin's next tools are not waited for, and those of others are registered."""
    monkeypatch.setattr("lockgate.registry.reading.READING_DEADLINE", 0.05)
    release = threading.Event()
    asked: list[int] = []

    def blocks(self: Any) -> ToolDefinition:
        asked.append(1)
        release.wait(10)
        raise RuntimeError("late")

    items = [("a", "tools", bad(definition=property(blocks))) for _ in range(3)]
    made = registry(*items, ("b", "tools", simple("fine")))
    release.set()
    assert [item.id for item in made.tools] == ["fine"]
    assert len(asked) == 1
    assert "not done after 0.05 s" in reasons(made)[0]
    assert "an earlier one of the same plugin was late" in reasons(made)[2]


async def test_a_tool_is_held_to_what_its_definition_said_first() -> None:
    """A definition that answers differently each time is asked once; a change of its schema has no effect."""
    definition = simple("bad").definition
    schema: dict[str, Any] = {"type": "object", "properties": {"a": {"type": "string"}}}
    asked: list[int] = []

    def changing(self: Any) -> ToolDefinition:
        asked.append(1)
        return replace(definition, id=f"bad{len(asked)}", parameters=schema)

    made = registry(("a", "tools", bad(definition=property(changing), texts=Tool.texts)))
    schema["properties"]["a"]["type"] = {1, 2}
    offer = await Preparation(made, cast("Any", None)).prepare(ChatThread(id="c"), STANDING, Components.CHAT, ["bad1"])
    assert [item.id for item in offer.tools] == ["bad1"]
    assert cast("Any", offer.tools[0].function.parameters)["properties"]["a"]["type"] == "string"
    assert asked == [1]


def test_texts_with_code_of_their_own_become_plain() -> None:
    """A subclass of `str` with a hash that raises is an ordinary ID afterwards."""
    made = registry(("a", "tools", defined(id=Text("bad"), companions=(Text("x"),), preview=Text("p"))))
    definition = made.tools[0].definition
    assert {type(definition.id), type(definition.companions[0]), type(definition.preview)} == {str}


@pytest.mark.parametrize(
    ("kind", "value", "words"),
    [
        ("collections", ToolCollection("c", cast("Any", None)), "its tools is None; right is a tuple"),
        ("collections", ToolCollection("c", cast("Any", "fine")), "written ('fine',) with a comma"),
        ("collections", ToolCollection("c", cast("Any", ([],))), "an object of type list; right is a text"),
        ("collections", ToolCollection(cast("Any", []), ("fine",)), "its ID is an object of type list"),
        ("collections", ToolCollection("c", ("fine",), labels=cast("Any", ("en",))), "labels: one item is the text"),
        ("collections", NoId(), "reading it failed: SystemExit: 3"),
        ("option_sources", NoId(), "reading it failed: SystemExit: 3"),
        ("option_sources", None, "it needs a non-blank id"),
        ("tools", None, "it is no Tool but a NoneType"),
        ("tools", NoId(), "it is no Tool but a NoId"),
    ],
)
def test_a_contribution_of_any_kind_that_cannot_be_read_costs_itself(kind: str, value: object, words: str) -> None:
    """No ID, an ID that raises or cannot be a key, and parts of the wrong type are reasons of a rejection."""
    made = registry(("b", "tools", simple("fine")), ("b", kind, value))
    assert words in reasons(made)[0]
    assert [item.id for item in made.tools] == ["fine"]


def test_a_collection_whose_minimum_is_not_stated_properly_needs_the_highest() -> None:
    """A text is no level; the strictest is read."""
    collection = ToolCollection("c", ("fine",), minimum_confidence=cast("Any", "NONE"))
    made = registry(("b", "tools", simple("fine")), ("b", "collections", collection))
    assert made.minimum_confidence("fine")[0] is ConfidenceLevel.HIGH


class Defaults(ToolSettings):
    """A default that raises when the settings are read."""

    key: str = ""

    @classmethod
    def model_validate(cls, *given: Any, **named: Any) -> Any:
        del given, named
        raise SystemExit(4)


def _function(*given: Any) -> ToolFunction:
    return ToolFunction(*given)


@pytest.mark.parametrize(
    "methods",
    [
        {"is_available": returning(NoBool())},
        {"is_available": raising(SystemExit(1))},
        {"is_available": answering(NoBool())},
        {"validate_settings": answering(NoText())},
        {"validate_settings": raising(SystemExit(1))},
        {"settings_model": Defaults},
        {"resolve_function": answering(_function(None, SCHEMA))},
        {"resolve_function": answering(_function(NoText(), SCHEMA))},
        {"resolve_function": answering(_function("d", SCHEMA, {"a": 5}))},
        {"resolve_function": answering(_function("d", SCHEMA, {"a": "xy"}))},
        {"resolve_function": answering(_function("d", SCHEMA, {"nobody": ("x",)}))},
        {"resolve_function": answering(_function("d", SCHEMA, {"a": (NoText(),)}))},
        {"resolve_function": answering(_function("d", SCHEMA, Exits()))},
        {"resolve_function": raising(SystemExit(1))},
        {"resolve_instructions": answering(5)},
        {"resolve_instructions": answering("\ud800")},
    ],
)
async def test_a_tool_that_fails_while_it_is_looked_at_costs_itself(methods: dict[str, Any]) -> None:
    """It is left out with a reason and an incident; the request, the catalog and the checks go on."""
    made = registry(("a", "tools", bad(**methods)), ("b", "tools", simple("fine")))
    offer = await prepared(made)
    assert [item.id for item in offer.tools] == ["fine"]
    assert "plugins doctor" in offer.left_out["bad"].why
    assert made.incidents.incidents[0].owner.distribution == "a"
    assert "fine" in [item.id for item in await catalog(made, None, context_tools=True)]


async def test_what_a_plugin_answers_is_made_plain_away_from_the_event_loop() -> None:
    """A stranger's `__bool__`, `__str__` and iterators run code, too, and may block."""
    threads: list[threading.Thread] = []

    class Answer:
        def __bool__(self) -> bool:
            threads.append(threading.current_thread())
            return True

        def __str__(self) -> str:
            threads.append(threading.current_thread())
            return "no"

    class Names(tuple[str, ...]):
        __slots__ = ()

        def __iter__(self) -> Iterator[str]:
            threads.append(threading.current_thread())
            return super().__iter__()

    function = ToolFunction("d", SCHEMA, {"a": Names(("x",))})
    asked = bad(is_available=returning(Answer()), resolve_function=answering(function))
    offer = await prepared(registry(("a", "tools", asked)))
    assert offer.tools[0].choices == {"a": ("x",)}
    refusing = registry(("a", "tools", bad(validate_settings=answering(Answer()))))
    assert "cannot be used: no" in (await prepared(refusing)).left_out["bad"].why
    assert len(threads) == 3
    assert threading.main_thread() not in threads


@pytest.mark.parametrize(
    "texts",
    [
        raising(SystemExit(0)),
        returning(ToolTexts(cast("Any", None))),
        returning(ToolTexts("Name", fields=Exits())),
        returning(None),
    ],
)
async def test_a_tool_that_cannot_say_its_name_has_one_made_of_its_id(texts: Any) -> None:
    """In every language, and the failure is an incident."""
    made = registry(("a", "tools", bad(texts=texts)), ("b", "tools", simple("fine")))
    assert made.texts("bad").name == "Bad"
    assert made.texts("bad", "de").name == "Bad"
    items = {item.id: item.texts.name for item in await catalog(made, None, "fr", context_tools=True)}
    assert items == {"bad": "Bad", "fine": "Fine"}
    assert [item.id for item in (await prepared(made)).tools] == ["bad", "fine"]
    assert made.incidents.incidents[0].what == "texts of bad"


def test_names_that_block_cost_their_plugin_one_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are asked for when the registry is made, once a tool, and a plugin that is late is not asked again."""
    monkeypatch.setattr("lockgate.registry.registry.PLUGIN_DEADLINE", 0.05)
    release = threading.Event()
    asked: list[str] = []

    def blocks(self: Any, locale: str) -> ToolTexts:
        asked.append(locale)
        release.wait(10)
        return ToolTexts("Late")

    made_tools = [simple(name) for name in ("one", "two")]
    for made_tool in made_tools:
        made_tool.__class__ = type("Blocks", (type(made_tool),), {"texts": blocks})
    made = registry(*(("a", "tools", item) for item in made_tools), ("b", "tools", simple("fine", name="Fine one")))
    assert [made.texts(name).name for name in ("one", "two", "fine")] == ["One", "Two", "Fine one"]
    release.set()
    assert asked == ["en"]


async def test_settings_that_could_not_be_read_once_are_read_again() -> None:
    """An option source may be out of reach for a moment; a failure is not kept."""
    failing = [True]

    class Moody(ToolSettings):
        key: str = "x"

        @classmethod
        def model_validate(cls, *given: Any, **named: Any) -> Any:
            if failing:
                raise RuntimeError("out of reach")
            return super().model_validate(*given, **named)

    made = registry(("a", "tools", bad(settings_model=Moody)))
    assert "reading them failed; see a 1.0" in (await prepared(made)).left_out["bad"].why
    assert made.effective("bad").settings is None
    failing.clear()
    assert [item.id for item in (await prepared(made)).tools] == ["bad"]


def test_a_pin_holds_although_another_tool_cannot_be_read() -> None:
    """The order in which names are given is found out from what was read."""
    mine, theirs = simple("search"), simple("search")
    unreadable = bad(definition=property(raising(OSError())))
    items = (("zebra", "tools", mine), ("apple", "tools", theirs), ("apple", "tools", unreadable))
    made = registry(*items, rules=Rules(pins={"search": "zebra"}))
    assert made.tools[0].tool is mine


async def test_a_coroutine_for_is_available_is_answered_either_way() -> None:
    """One that is declared is awaited; one that only comes back is refused with an incident."""

    async def late() -> bool:
        return True

    offer = await prepared(registry(("a", "tools", bad(is_available=answering(value=True)))))
    assert [item.id for item in offer.tools] == ["bad"]
    made = registry(("a", "tools", bad(is_available=returning(late()))))
    assert "bad" in (await prepared(made)).left_out
    assert "is an ordinary function" in made.incidents.incidents[0].error


async def test_a_definition_of_a_function_with_wrong_facts_is_rejected() -> None:
    """What the decorator was given is checked like any definition."""

    @tool(sensitive_arguments=cast("Any", "a"))
    def probing(a: str) -> str:
        """Probe.

        Args:
            a: Anything.
        """
        return a

    assert "written ('a',) with a comma" in reasons(registry(("a", "tools", probing)))[0]
