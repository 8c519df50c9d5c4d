"""Definitions that arrive as data, under the documented names of their members.

The documented rules come first, in their order. Members that only say how a tool may be used are read on the safe side:
a level or a kind that nobody knows is the strictest, while a component that nobody knows is an error.
"""

from collections.abc import Container, Mapping
from typing import Any

from lockgate.settings.model import NoSettings, ToolSettings
from lockgate.tools.definition import FUNCTION_NAME, Components, ToolDefinition, Visibility
from lockgate.tools.members import check_names, flag_in, members, plain_object, refusing, short, text_in, texts_in
from lockgate.tools.plain import Unfit, shown
from lockgate.tools.settings_data import read_settings_schema
from lockgate.tools.strictness import STRICTEST, or_strictest

_STATED = {
    "minimumProviderConfidence": "minimum_confidence",
    "activation": "activation",
    "outboundData": "outbound_data",
    "enforcesOutboundDataRestriction": "enforces_outbound_restriction",
    "returnsUntrustedExternalContent": "returns_untrusted_content",
    "repeatable": "repeatable",
}
_MEMBERS = (
    "schemaVersion", "id", "function", "visibleIn", "settingsSchema", "systemPromptInstructions", "preview",
    "sensitiveTraceArgumentNames", "companions", *_STATED,
)  # fmt: skip
_FUNCTION = ("name", "descriptionForLLM", "strict", "parameters")
_VISIBLE = ("chat", "assistants", "allowedComponents", "deniedComponents")


def definition_from_data(given: object, *, option_sources: Container[str] | None = None) -> ToolDefinition:
    """Make a definition of an object that arrived as data.

    The members are ``schemaVersion`` (1), ``id``, ``function`` (``name``, ``descriptionForLLM``, ``strict``,
    ``parameters``), ``visibleIn`` (``chat``, ``assistants``, ``allowedComponents``, ``deniedComponents``),
    ``settingsSchema``, ``systemPromptInstructions``, ``minimumProviderConfidence``, ``activation``, ``outboundData``,
    ``enforcesOutboundDataRestriction``, ``returnsUntrustedExternalContent``, ``sensitiveTraceArgumentNames``,
    ``preview``, ``companions`` and ``repeatable``. A member that is null counts as absent, and an absent one means what
    it means in `ToolDefinition`. A level or kind that nobody knows is read as the strictest. The schema of the settings
    is checked, too; `DataTool.from_data` makes a tool of both.

    Args:
        given: The object.
        option_sources: The option sources there are. Left out, they are looked for when the tool is registered.

    Raises:
        SchemaRefused: It breaks one of the documented rules, has a member that nobody knows, is too deep or too large,
            or reading it raised. The message names the first offender.
    """
    return read_definition(given, option_sources)[0]


def read_definition(given: object, option_sources: Container[str] | None) -> tuple[ToolDefinition, type[ToolSettings]]:
    """Do the work of `definition_from_data`; return the settings model as well.

    Raises:
        SchemaRefused: As there.
    """
    plain = plain_object(given, "the definition of a tool")
    name = plain.get("id")
    with refusing(f"the definition {short(name)}" if isinstance(name, str) else "the definition of a tool"):
        return _definition(members(plain, "the definition"), option_sources)


def _definition(
    present: Mapping[str, Any], option_sources: Container[str] | None
) -> tuple[ToolDefinition, type[ToolSettings]]:
    version = present.get("schemaVersion", 1)
    if type(version) is not int or version != 1:
        raise Unfit(f"its schema version is {shown(version)}; this framework knows 1")
    check_names(present, _MEMBERS, "the definition")
    identifier = text_in(present, "id", "the definition")
    if not identifier.strip():
        raise Unfit("its ID is blank")
    function = _function(present, identifier)
    visible = _visibility(present)
    model: type[ToolSettings] = NoSettings
    if "settingsSchema" in present:
        model = read_settings_schema(present["settingsSchema"], option_sources)
    stated = {
        field: or_strictest(field, _member(field, present[name])) for name, field in _STATED.items() if name in present
    }
    definition = ToolDefinition(
        id=identifier,
        parameters=function["parameters"],
        description=text_in(function, "descriptionForLLM", "its function"),
        instructions=text_in(present, "systemPromptInstructions", "the definition"),
        strict=flag_in(function, "strict", "its function", default=True),
        visible_in=visible,
        preview=text_in(present, "preview", "the definition") or None,
        sensitive_arguments=texts_in(present, "sensitiveTraceArgumentNames", "the definition"),
        companions=texts_in(present, "companions", "the definition"),
        **stated,
    )
    return definition, model


def _member(field: str, given: object) -> object:
    """Return the member that a text names; anything else as it arrived, so that it is read as the strictest."""
    kind = type(STRICTEST[field])
    if kind is bool or not isinstance(given, str):
        return given if kind is bool else None
    return kind.__members__.get(given)


def _function(present: Mapping[str, Any], identifier: str) -> dict[str, Any]:
    function = members(present.get("function", {}), "its function")
    name = text_in(function, "name", "its function") if "name" in function else identifier
    if not FUNCTION_NAME.fullmatch(name):
        raise Unfit(f"its function name {short(name)} is none: 1 to 64 ASCII letters, digits, '_' or '-'")
    if name != identifier:
        raise Unfit(f"its function is named {short(name)}; right is its ID {short(identifier)}")
    parameters = function.get("parameters")
    if not isinstance(parameters, Mapping):
        raise Unfit(f"its parameters are no JSON Schema of an object but {shown(parameters)}")
    check_names(function, _FUNCTION, "its function")
    return function


def _visibility(present: Mapping[str, Any]) -> Visibility:
    given = members(present.get("visibleIn", {}), "its visibleIn")
    lists = [_components(given, name) for name in ("allowedComponents", "deniedComponents")]
    check_names(given, _VISIBLE, "its visibleIn")
    chat, assistants = (flag_in(given, name, "its visibleIn", default=True) for name in ("chat", "assistants"))
    return Visibility(chat, assistants, *lists)


def _components(given: Mapping[str, Any], name: str) -> tuple[Components, ...]:
    found = []
    for component in texts_in(given, name, "its visibleIn"):
        if component not in Components.__members__:
            raise Unfit(f"it names the component {short(component)}, which does not exist")
        found.append(Components.__members__[component])
    return tuple(found)
