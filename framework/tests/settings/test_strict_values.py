"""A wrong value of any key leaves rules behind that are no looser than without the key, and says which ones."""

import datetime as dt
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lockgate.app.configuration import Configuration
from lockgate.app.home import NO_DEFAULT, LazySecrets, configuration_from
from lockgate.policy import PROVIDER_TYPES, ConfidenceLevel, ConfidenceScheme, Minimum
from lockgate.registry.rules import MAX_RESTRICTED_CALLS, MAX_TOOL_CALLS, MAX_TOOL_RESULT_CHARACTERS
from lockgate.settings.file_reading import settings_from_table
from lockgate.settings.home import Home

HIGH = ConfidenceLevel.HIGH
VALUES: dict[str, Any] = {
    "bool": True, "int": 7, "float": 1.5, "text": "x, y", "blank": " ", "list": ["x", ["y"]], "numbers": [7],
    "table": {"x": "y"}, "date": dt.date(2026, 1, 1), "negative": -1,
}  # fmt: skip
TEXTS = {"text"}
TABLES = {"table"}


def configured(table: dict[str, Any]) -> Configuration:
    """Turn a table that no file was read for into a configuration."""
    home = Home.at("/nowhere")
    return configuration_from(settings_from_table(table), home, LazySecrets(home))


def level(made: Configuration) -> ConfidenceLevel | None:
    """Return what every provider needs."""
    found: Minimum | None = made.rules.global_minimum
    return None if found is None else found.level


def nobody_rated(made: Configuration) -> bool:
    """Tell whether no provider has a level by a scheme."""
    return made.rules.scheme is ConfidenceScheme.CUSTOM and not made.rules.custom_scheme


def some_off(made: Configuration) -> bool:
    """Tell whether what can be read is off, and everything where nothing can be."""
    return not made.rules.tools_enabled or {"x", "y"} == set(made.rules.disabled)


def some_plugins_off(made: Configuration) -> bool:
    """The same of plugins."""
    return made.host.allowed == frozenset() or {"x", "y"} == made.host.disabled


Effect = Callable[[Configuration], bool]
# Key → the values that are right for it, and what has to hold with each of the others.
KEYS: dict[str, tuple[set[str], Effect]] = {
    "enable_tools": ({"bool"}, lambda made: not made.rules.tools_enabled),
    "disabled_tool_ids": (set(), some_off),
    "trusted_provider_ids": (set(), lambda made: made.rules.trusted_provider_ids <= {"x"}),
    "default_provider": (TEXTS, lambda made: NO_DEFAULT == made.default_provider in made.refused_providers),
    "visible_tool_selection_components": (set(), lambda made: not made.rules.visible_selection_components),
    "confidence": (TABLES, lambda made: nobody_rated(made) and level(made) is HIGH),
    "confidence.scheme": (set(), nobody_rated),
    "confidence.custom": (
        TABLES, lambda made: made.rules.custom_scheme == dict.fromkeys(PROVIDER_TYPES, ConfidenceLevel.NONE),
    ),
    "confidence.custom.MISTRAL": (set(), lambda made: made.rules.custom_scheme == {"MISTRAL": ConfidenceLevel.NONE}),
    "confidence.enforce_global_minimum": ({"bool"}, lambda made: level(made) is HIGH),
    "confidence.global_minimum": (set(), lambda made: level(made) is HIGH),
    "minimum_provider_confidence_by_tool_id": (TABLES, lambda made: level(made) is HIGH),
    "minimum_provider_confidence_by_tool_id.x": (set(), lambda made: made.rules.minimums["x"].level is HIGH),
    "default_tool_ids_by_component": (TABLES, lambda made: not made.rules.default_tools),
    "default_tool_ids_by_component.CHAT": (set(), lambda made: set(made.rules.default_tools["CHAT"]) <= {"x"}),
    "previews": (TABLES, lambda made: len(made.rules.previews) == 2 and not any(
        switch.is_on for switch in made.rules.previews.values()
    )),
    "previews.PRE_RAG_2024": ({"bool"}, lambda made: not made.rules.previews["PRE_RAG_2024"].is_on),
    "limits": (TABLES, lambda made: made.rules.max_restricted_calls == 0),
    "limits.max_tool_calls": ({"int"}, lambda made: made.rules.max_tool_calls == MAX_TOOL_CALLS),
    "limits.max_tool_result_characters": (
        set(), lambda made: made.rules.max_tool_result_characters == MAX_TOOL_RESULT_CHARACTERS,
    ),
    "limits.max_restricted_calls": ({"int"}, lambda made: made.rules.max_restricted_calls == 0),
    "plugins": (TABLES, lambda made: made.host.allowed == frozenset()),
    "plugins.disabled": (set(), some_plugins_off),
    "plugins.allowed": (set(), lambda made: made.host.allowed is not None and made.host.allowed <= {"x"}),
    "tools": (TABLES, lambda made: not made.rules.tools_enabled),
    "tools.x": (TABLES, lambda made: set(made.rules.disabled) == {"x"}),
    "tools.x.y": (
        {"bool", "int", "float", "text", "blank", "table", "negative"}, lambda made: set(made.rules.disabled) == {"x"},
    ),
    "providers": (TABLES, lambda made: not made.providers and "used" in made.refused_providers),
    "providers.x": (TABLES, lambda made: "x" in made.refused_providers),
    "providers.x.profile": (TEXTS, lambda made: "x" in made.refused_providers),
    "providers.x.base_url": (set(), lambda made: "x" in made.refused_providers),
    "providers.x.confidence": (set(), lambda made: "x" in made.refused_providers),
    "providers.x.self_hosted": ({"bool"}, lambda made: "x" in made.refused_providers),
    "providers.x.can_call_tools": ({"bool"}, lambda made: "x" in made.refused_providers),
    "providers.x.api_key_variable": (set(), lambda made: "x" in made.refused_providers),
    "providers.x.parameters": (TABLES, lambda made: "x" in made.refused_providers),
    "data_sources": (TABLES, lambda made: not made.instances and bool(made.broken_sources)),
    "data_sources.x": (TABLES, lambda made: "x" in made.broken_sources),
    "data_sources.x.kind": (TEXTS, lambda made: "x" in made.broken_sources),
    "data_sources.x.path": (
        set(VALUES) - {"date"}, lambda made: "x" in made.broken_sources,  # what a path is, its kind says
    ),
    "chat_templates": (TABLES, lambda made: not made.chat_templates),
    "chat_templates.x": (TABLES, lambda made: not made.chat_templates),
    "chat_templates.x.tool_ids": (set(), lambda made: not made.chat_templates),
    "assistants": (TABLES, lambda made: not made.assistants),
    "assistants.x": (TABLES, lambda made: not made.assistants),
    "assistants.x.tool_ids": (set(), lambda made: not made.assistants),
    "assistants.x.component": (set(), lambda made: not made.assistants),
    "assistants.x.provider": (TEXTS, lambda made: not made.assistants),
}  # fmt: skip
BESIDE: dict[str, dict[str, Any]] = {
    "providers": {"default_provider": "used"}, "providers.x": {"profile": "p"}, "data_sources.x": {"kind": "k"},
}  # fmt: skip


def cases() -> Iterator[Any]:
    """Yield each key with each value that is wrong for it."""
    for key, (right, effect) in KEYS.items():
        for kind, value in VALUES.items():
            if kind not in right:
                yield pytest.param(key, value, effect, id=f"{key} {kind}")


def table_with(key: str, value: object) -> dict[str, Any]:
    """Return the table of a file with that key, and what has to stand beside it."""
    *places, name = key.split(".")
    table: dict[str, Any] = dict(BESIDE.get(key, {})) if not places else {}
    inner = table
    for depth, place in enumerate(places):
        inner[place] = dict(BESIDE.get(".".join(places[: depth + 1]), {})) if depth else {}
        inner = inner[place]
    inner[name] = value
    if key == "confidence.global_minimum":
        inner["enforce_global_minimum"] = True
    return table


@pytest.mark.parametrize(("key", "value", "effect"), list(cases()))
def test_a_wrong_value_leaves_the_strict_rule(key: str, value: object, effect: Effect) -> None:
    """What counts meanwhile is the strict side, and one sentence names the key and the value's place."""
    made = configured(table_with(key, value))
    assert effect(made), made
    assert any(key.split(".x.", maxsplit=1)[0] in text for text in made.problems), made.problems
    told = (" until it is right, ", " is left out: ", "passed over", "which does not exist")
    assert [text for text in made.problems if not any(words in text for words in told)] == []


def test_no_wrong_value_is_looser_than_no_value() -> None:
    """Limits, minimums, switches: compared with an empty file."""
    for key in KEYS:
        for value in VALUES.values():
            rules = configured(table_with(key, value)).rules
            assert rules.max_restricted_calls <= MAX_RESTRICTED_CALLS
            assert rules.max_tool_calls <= MAX_TOOL_CALLS
            assert rules.max_tool_result_characters <= MAX_TOOL_RESULT_CHARACTERS
            assert rules.trusted_provider_ids <= {"x"}
            assert not [name for name, given in rules.custom_scheme.items() if given > ConfidenceLevel.MEDIUM]


MISSPELT: dict[str, tuple[dict[str, Any], Effect]] = {
    "the switch": ({"enable_tool": True}, lambda made: not made.rules.tools_enabled),
    "in capitals": ({"ENABLE_TOOLS": False}, lambda made: not made.rules.tools_enabled),
    "what is off": ({"disabled_tools_ids": ["x"]}, lambda made: set(made.rules.disabled) == {"x"}),
    "what is off, unreadable": ({"disable_tool_ids": 1}, lambda made: not made.rules.tools_enabled),
    "minimums": ({"minimum_provider_confidence_by_tool": {"x": "LOW"}}, lambda made: level(made) is HIGH),
    "confidence": ({"confidense": {"scheme": "TRUST_ALL"}}, lambda made: nobody_rated(made) and level(made) is HIGH),
    "the scheme": ({"confidence": {"schema": "TRUST_ALL"}}, lambda made: nobody_rated(made) and level(made) is HIGH),
    "previews": ({"preview": {"X": True}}, lambda made: len(made.rules.previews) == 2),
    "limits": ({"limit": {"max_restricted_calls": 900}}, lambda made: made.rules.max_restricted_calls == 0),
    "a limit": ({"limits": {"max_restricted_call": 900}}, lambda made: made.rules.max_restricted_calls == 0),
    "plugins": ({"plugin": {"disabled": ["x"]}}, lambda made: made.host.allowed == frozenset()),
    "plugins that are off": ({"plugins": {"disable": ["x"]}}, lambda made: made.host.disabled == {"x"}),
    "the only plugins": ({"plugins": {"allow": ["x"]}}, lambda made: made.host.allowed == frozenset({"x"})),
    "tools": ({"tool": {"x": {"y": 1}}}, lambda made: not made.rules.tools_enabled),
    "providers": ({"provider": {"openai": {"base_url": "x"}}}, lambda made: "openai" in made.refused_providers),
    "who is asked": ({"default_provder": "x"}, lambda made: made.default_provider in made.refused_providers),
    "an address": ({"providers": {"x": {"profile": "p", "base_uri": "http://127.0.0.1"}}},
                   lambda made: "x" in made.refused_providers),
    "a level": ({"providers": {"x": {"profile": "p", "confidance": "UNTRUSTED"}}},
                lambda made: "x" in made.refused_providers),
    "sources": ({"data_source": {"x": {"kind": "k", "path": "/srv"}}},
                lambda made: "/srv" in made.broken_sources["x"]),
    "the level of a source": ({"data_sources": {"x": {"kind": "k", "path": "/a, b", "confidense": "HIGH"}}},
                              lambda made: "/a, b" in made.broken_sources["x"] and not made.instances),
    "the tools of an assistant": ({"assistants": {"x": {"tool_id": []}}}, lambda made: not made.assistants),
    "the tools of a template": ({"chat_templates": {"x": {"tools_ids": []}}}, lambda made: not made.chat_templates),
}  # fmt: skip


@pytest.mark.parametrize(("table", "effect"), MISSPELT.values(), ids=MISSPELT)
def test_a_misspelt_key_counts_as_a_wrong_value_where_its_absence_would_be_looser(
    table: dict[str, Any], effect: Effect
) -> None:
    """Once it is told, and the strict side counts."""
    made = configured(table)
    assert effect(made), made
    assert len([text for text in made.problems if "nobody knows" in text or "probably meant" in text]) == 1


def test_a_misspelt_key_beside_the_right_one_changes_nothing() -> None:
    """What was meant stands there."""
    made = configured({"enable_tools": True, "enable_tool": False, "limits": {"max_tool_calls": 3, "max_tool_call": 1}})
    assert (made.rules.tools_enabled, made.rules.max_tool_calls) == (True, 3)
    assert len(made.problems) == 2


def test_what_is_told_of_a_list_is_what_happens() -> None:
    """Read in part, read not at all."""
    made = configured({"disabled_tool_ids": "web_search, read_page"})
    assert set(made.rules.disabled) == {"web_search", "read_page"}
    assert "until it is right, what can be read of it is off" in made.problems[0]
    made = configured({"disabled_tool_ids": {"web_search": False}})
    assert set(made.rules.disabled) == {"web_search"}
    made = configured({"disabled_tool_ids": [1, 2]})
    assert "until it is right, all tools are off" in made.problems[-1]
    assert str(made.rules.tools_enabled_by).startswith("user")
    made = configured({"plugins": {"disabled": False, "allowed": ["x"]}})
    assert made.host.allowed == frozenset()
    assert "until it is right, no plugin is allowed" in made.problems[0]


def test_who_set_what_counts_meanwhile_is_the_key_that_is_wrong(tmp_path: Path) -> None:
    """The line is that of the key which is wrong, misspelt or not."""
    home = Home.at(tmp_path)

    def made(text: str) -> Configuration:
        import tomllib

        return configuration_from(settings_from_table(tomllib.loads(text), text), home, LazySecrets(home))

    for text in (
        "\nminimum_provider_confidence_by_tool_id = 'HIGH'\n", "\n[minimum_provider_confidence_by_tool]\nx = 1\n",
        "[confidence]\nenforce_global_minimum = true\n",
    ):  # fmt: skip
        found = made(text).rules.global_minimum
        assert found is not None
        assert found.set_by.line == 2, text
    assert made("\ntools = 1\n").rules.tools_enabled_by.line == 2
    assert made("\ndisabled_tool_id = 1\n").rules.tools_enabled_by.line == 2
    assert made("\n[tools.x]\ny = [1]\n").rules.disabled["x"].line == 2


def test_every_key_of_the_file_is_in_the_table() -> None:
    """A new key gets its strict side."""
    from lockgate.settings.file_reading import ASSISTANT_KEYS, PROVIDER_KEYS, TEMPLATE_KEYS, TOP_KEYS

    texts = {"name", "description", "system_prompt", "model"}
    wanted = {*TOP_KEYS, *(f"providers.x.{key}" for key in PROVIDER_KEYS if key not in texts)}
    wanted |= {f"assistants.x.{key}" for key in ASSISTANT_KEYS if key not in texts}
    wanted |= {f"chat_templates.x.{key}" for key in TEMPLATE_KEYS if key not in texts}
    assert wanted <= set(KEYS)
