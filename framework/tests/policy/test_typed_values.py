"""Rules and configuration refuse values of a wrong type where they are made, and say what is right."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, cast

import pytest

from lockgate.app import InstanceConfig, ProviderConfig
from lockgate.app.configuration import Configuration
from lockgate.app.templates import Assistant, ChatTemplate
from lockgate.errors import ConfigurationError
from lockgate.plugin_host.policy import HostPolicy
from lockgate.policy import (
    BY_USER,
    ConfidenceLevel,
    ConfidenceScheme,
    Minimum,
    OutboundDataRestriction,
    OutboundMinimum,
    SetBy,
)
from lockgate.registry import Rules
from lockgate.registry.ceilings import Cap, Ceilings
from lockgate.registry.previews import PreviewSwitch
from lockgate.registry.selection import Selection, SelectionOrigin
from lockgate.settings import Layers
from lockgate.tools import Components

HIGH = ConfidenceLevel.HIGH
MINIMUM = Minimum(HIGH, BY_USER)
FORGED = int.__new__(ConfidenceLevel, 300)
FORGED._name_, FORGED._value_ = "HIGH", 300


def wrong(make: Callable[..., object], name: str, value: object, /, **others: object) -> Any:
    """Return one case: what is made, with which field wrong."""
    return pytest.param(make, name, value, others, id=f"{getattr(make, '__name__', make)}.{name}={value!r:.40}")


LEVEL: dict[str, object] = {"set_by": BY_USER}
OWN: dict[str, object] = {"id": "x", "profile": "p"}
OF_A_KIND: dict[str, object] = {"id": "x", "kind": "k", "family": "f"}
NAMED: dict[str, object] = {"id": "x"}

WRONG = [
    *(wrong(Minimum, "level", value, **LEVEL) for value in ("HIGH", 300, 300.0, float("nan"), True, None, FORGED)),
    *(wrong(Minimum, "set_by", value, level=HIGH) for value in ("user", None, SetBy(cast("Any", "user")))),
    *(wrong(OutboundMinimum, "level", value, **LEVEL) for value in (2, "UNRESTRICTED", HIGH)),
    *(wrong(Cap, "value", value, **LEVEL) for value in ("5", True, -1, 5.0, float("nan"), None)),
    wrong(Cap, "set_by", "user", value=1),
    *(wrong(Ceilings, "minimums", value) for value in ({"t": HIGH}, {"t": None}, {1: MINIMUM}, ["t"], "t", None)),
    *(wrong(Ceilings, name, HIGH) for name in ("global_minimum", "outbound", "max_tool_calls")),
    *(wrong(Ceilings, name, 5) for name in ("max_tool_calls", "max_tool_result_characters", "max_restricted_calls")),
    *(wrong(Rules, "tools_enabled", value) for value in ("false", 0, 1, None)),
    *(wrong(Rules, "disabled", value) for value in ({"t"}, ["t"], "t", {"t": None}, {"t": "user"}, {None: BY_USER})),
    *(wrong(Rules, "minimums", value) for value in ({"t": HIGH}, {"t": "HIGH"}, {"t"})),
    *(wrong(Rules, "previews", value) for value in ({"P": True}, {"P"}, {"P": None})),
    wrong(Rules, "layers", {"t.a": 1}),
    *(wrong(Rules, "scheme", value) for value in ("LOCAL_TRUST_ONLY", None, ConfidenceScheme)),
    *(wrong(Rules, "custom_scheme", value) for value in ({"OPEN_AI": "HIGH"}, {"OPEN_AI": 300}, {"OPEN_AI": FORGED})),
    wrong(Rules, "global_minimum", HIGH),
    *(wrong(Rules, "trusted_provider_ids", value) for value in ("my-openai,local", None, [1], b"x", {"a": BY_USER})),
    *(wrong(Rules, "visible_selection_components", value) for value in ("WRITER", [1], [HIGH])),
    *(wrong(Rules, "default_tools", value) for value in ("t", ["t"], {"CHAT": "t"}, {"CHAT": [1]}, {"CHAT": None})),
    *(wrong(Rules, name, value) for name in ("max_tool_calls", "max_restricted_calls", "max_tool_result_characters")
      for value in ("5", -1, True, 1.5, float("inf"), None)),
    *(wrong(Rules, "pins", value) for value in ({"t": None}, {"t"}, "t")),
    wrong(Rules, "ceilings", {"t": MINIMUM}),
    *(wrong(Rules, name, "user") for name in ("tools_enabled_by", "scheme_by", "default_tools_by")),
    wrong(Rules, "revision", "1"),
    *(wrong(PreviewSwitch, "is_on", value, **LEVEL) for value in ("false", 0, None)),
    wrong(PreviewSwitch, "set_by", "user", is_on=True),
    *(wrong(Selection, "identifiers", value) for value in ("clock", None, [1], {"a": 1})),
    wrong(Selection, "origin", "chat", identifiers=()),
    wrong(Selection, "hidden", "false", identifiers=()),
    *(wrong(Layers, name, value) for name in ("locked", "user", "defaults", "ceilings")
      for value in ("t", {1: 2}, {"t"})),
    *(wrong(Layers, name, value) for name in ("locked_by", "user_by", "defaults_by", "ceilings_by")
      for value in ({"t": "user"}, {"t": None}, "t")),
    *(wrong(Layers, "secrets", value) for value in ("t", None, {"t"})),
    *(wrong(HostPolicy, "allowed", value) for value in ("good-pack", [1], 5)),
    *(wrong(HostPolicy, "disabled", value) for value in ("good-pack", None, [None])),
    *(wrong(HostPolicy, name, value) for name in ("deadline", "import_deadline")
      for value in ("5", 0, -1, True, float("nan"), float("inf"), None)),
    *(wrong(ProviderConfig, "self_hosted", value, **OWN) for value in ("false", 0, None)),
    *(wrong(ProviderConfig, "confidence", value, **OWN) for value in ("HIGH", 300, FORGED)),
    *(wrong(ProviderConfig, "can_call_tools", value, **OWN) for value in ("no", 0)),
    *(wrong(ProviderConfig, name, None, **OWN) for name in ("name", "base_url", "model", "api_key", "set_by")),
    wrong(ProviderConfig, "parameters", '{"a": 1}', **OWN),
    wrong(ProviderConfig, "id", " ", profile="p"),
    wrong(ProviderConfig, "profile", None, id="x"),
    *(wrong(InstanceConfig, "values", value, **OF_A_KIND) for value in ("a=1", None, {1: 2})),
    wrong(InstanceConfig, "kind", "", id="x", family="f"),
    *(wrong(made, "tool_ids", value, **NAMED) for made in (ChatTemplate, Assistant) for value in ("clock", [1], 5)),
    *(wrong(Assistant, "component", value, **NAMED) for value in ("CHAT", None)),
    *(wrong(ChatTemplate, name, None, **NAMED) for name in ("name", "system_prompt", "set_by")),
    wrong(Configuration, "rules", {}),
    *(wrong(Configuration, "providers", value) for value in ([ProviderConfig("x", "p")], {"x": "p"})),
    wrong(Configuration, "providers", {"y": ProviderConfig("x", "p")}),
    *(wrong(Configuration, "instances", value) for value in ("x", ["x"], None)),
    wrong(Configuration, "host", None),
    wrong(Configuration, "default_provider", None),
    wrong(Configuration, "secret", {"name": "hidden"}),
    wrong(Configuration, "chat_templates", {"x": Assistant("x")}),
    wrong(Configuration, "assistants", [Assistant("x")]),
    wrong(Configuration, "refused_providers", {"x": None}),
    wrong(Configuration, "broken_sources", {"x": "path"}),
    wrong(Configuration, "problems", "one"),
    wrong(Configuration, "lines", {"limits": "3"}),
]  # fmt: skip


@pytest.mark.parametrize(("make", "name", "value", "others"), WRONG)
def test_a_value_of_a_wrong_type_is_refused_where_it_is_given(
    make: Callable[..., object], name: str, value: object, others: dict[str, object]
) -> None:
    """The error is one of ours and names the class, the field, and what is right."""
    with pytest.raises(ConfigurationError) as caught:
        make(**{**others, name: value})
    told = str(caught.value)
    assert told.startswith(f"{getattr(make, '__name__', '')}.{name}")
    assert "right is" in told or "it must be" in told


def test_the_words_tell_what_arrived_and_what_is_right() -> None:
    """A person can mend the mistake from the sentence alone."""
    with pytest.raises(ConfigurationError) as caught:
        Rules(trusted_provider_ids=cast("Any", "my-openai,local"))
    assert str(caught.value) == (
        "Rules.trusted_provider_ids is the text 'my-openai,local'; "
        "right is a set of IDs, such as frozenset({'office'})."
    )
    with pytest.raises(ConfigurationError, match=r"Rules\.scheme is the text 'local_.*; .*LOCAL_TRUST_ONLY\.$"):
        Rules(scheme=cast("Any", "local_trust_only"))


@pytest.mark.parametrize(("make", "name"), [
    (lambda value: ProviderConfig("x", "p", api_key=value), "api_key"),
    (lambda value: Layers(secrets=str(value)), "secrets"),  # type: ignore[arg-type]  # a wrong type on purpose
    (lambda value: InstanceConfig("x", "k", "f", values=str(value)), "values"),  # type: ignore[arg-type]  # same here
])  # fmt: skip
def test_what_may_be_secret_is_not_shown(make: Callable[[Any], object], name: str) -> None:
    """The error names the type only."""
    with pytest.raises(ConfigurationError, match=name) as caught:
        make(1234567)
    assert "1234567" not in str(caught.value)


def test_what_has_one_meaning_only_is_converted() -> None:
    """Lists and sets stand for tuples and frozensets, members of Components for their names."""
    rules = Rules(
        trusted_provider_ids=cast("Any", ["Office"]),
        visible_selection_components=cast("Any", {Components.WRITER}),
        default_tools=cast("Any", {Components.CHAT: ["b", "a"], "WRITER": {"b", "a"}}),
    )
    assert rules.trusted_provider_ids == frozenset({"office"})
    assert rules.visible_selection_components == frozenset({"WRITER"})
    assert rules.default_tools == {"CHAT": ("b", "a"), "WRITER": ("a", "b")}
    assert Selection(cast("Any", ["a"])).identifiers == ("a",)
    assert Assistant("x", tool_ids=cast("Any", [])).tool_ids == ()
    assert HostPolicy(allowed=cast("Any", ["a"])).allowed == frozenset({"a"})
    assert Configuration(instances=cast("Any", [InstanceConfig("x", "k", "f")])).instances[0].id == "x"


def test_a_table_is_copied_and_cannot_be_changed() -> None:
    """Neither the table that was handed over nor the one that is kept changes the rules later."""
    given = {"t": BY_USER}
    rules = Rules(disabled=given)
    given.clear()
    assert rules.disabled == {"t": BY_USER}
    with pytest.raises(TypeError, match="does not support item assignment"):
        cast("Any", rules.disabled)["t"] = None


class Unread(Mapping[str, str]):
    """A table that must not be read."""

    def __getitem__(self, name: str) -> str:
        raise AssertionError(name)

    def __iter__(self) -> Iterator[str]:
        raise AssertionError

    def __len__(self) -> int:
        raise AssertionError


def test_secrets_are_not_read_when_they_are_handed_over() -> None:
    """Reading could ask a keyring; the table itself is kept."""
    secrets = Unread()
    assert Layers(secrets=secrets).secrets is secrets


def test_right_values_stay_as_they_are() -> None:
    """A full set of rules is taken."""
    rules = Rules(
        tools_enabled=False, disabled={"t": BY_USER}, minimums={"t": MINIMUM}, global_minimum=MINIMUM,
        previews={"P": PreviewSwitch(is_on=False, set_by=BY_USER)}, custom_scheme={"OPEN_AI": HIGH}, max_tool_calls=0,
        ceilings=Ceilings(
            {"t": MINIMUM}, MINIMUM, OutboundMinimum(OutboundDataRestriction.ONLY_LINKS_FROM_CHAT, BY_USER),
            Cap(0, BY_USER),
        ),
    )  # fmt: skip
    assert (rules.limit("max_tool_calls"), rules.least_of_all, rules.tools_enabled) == (0, MINIMUM, False)
    assert Selection.of(name for name in ("a", "b")) == Selection(("a", "b"), SelectionOrigin.CALLER)


def test_a_text_is_no_selection() -> None:
    """It would be taken apart into its letters."""
    with pytest.raises(ConfigurationError, match=r"The selection is the text 'clock'; right is a list .*\['clock'\]"):
        Selection.of("clock")
