"""What can be registered: each part is read in the documented order, copied, and the first offence decides.

What a definition does not state properly about a rule is read as the strictest; anything else that does not fit is an
offence. These functions run a stranger's code: see `lockgate.registry.copies`.
"""

from collections.abc import Container, Mapping
from typing import Any

from lockgate.policy import ConfidenceLevel, ToolOutboundData
from lockgate.registry import copies
from lockgate.registry.copies import Unfit, flag, is_a, items, names, schema_of_object, sensitive_names, shown, text
from lockgate.registry.reading import Named, identified
from lockgate.settings.model import ToolSettings
from lockgate.tools.base import Tool
from lockgate.tools.collection import ToolCollection
from lockgate.tools.definition import FUNCTION_NAME, Components, ToolActivation, ToolDefinition, Visibility

_STRICTEST: Mapping[str, tuple[type, Any]] = {
    "outbound_data": (ToolOutboundData, ToolOutboundData.MODEL_CHOSEN_ADDRESSES),
    "minimum_confidence": (ConfidenceLevel, ConfidenceLevel.HIGH),
    "activation": (ToolActivation, ToolActivation.SELECTION),
    "enforces_outbound_restriction": (bool, False),
    "returns_untrusted_content": (bool, True),
    "repeatable": (bool, False),
}


def read_tool(
    tool: Any, named: Named, option_sources: Container[str]
) -> tuple[ToolDefinition, type[ToolSettings]]:
    """Return a copy of a tool's definition, and its settings model.

    Raises:
        Unfit: It cannot be registered.
    """
    if not is_a(tool, Tool):
        raise Unfit(f"it is no Tool but a {type(tool).__name__}")
    definition = getattr(tool, "definition", None)
    if not is_a(definition, ToolDefinition):
        raise Unfit("it has no definition of type ToolDefinition")
    return _definition(definition, named), _settings_model(tool.settings_model, option_sources)


def _definition(given: Any, named: Named) -> ToolDefinition:
    identifier = given.id
    if is_a(identifier, str):
        named.name = str.__str__(identifier)
    version = given.schema_version
    if type(version) is not int or version != 1:
        raise Unfit(f"its schema version is {shown(version)}; this framework knows 1")
    identifier = text(identifier, "ID")
    if not identifier.strip():
        raise Unfit("its ID is blank")
    if not FUNCTION_NAME.fullmatch(identifier):
        raise Unfit(f"its ID {identifier!r} is no function name: 1 to 64 ASCII letters, digits, '_' or '-'")
    parameters = schema_of_object(given.parameters)
    preview = given.preview
    stated = {name: _or_strictest(getattr(given, name), *right) for name, right in _STRICTEST.items()}
    return ToolDefinition(
        id=identifier,
        parameters=parameters,
        description=text(given.description, "description"),
        instructions=text(given.instructions, "instructions"),
        strict=flag(given.strict, "strict"),
        visible_in=_visibility(given.visible_in),
        preview=None if preview is None else text(preview, "preview"),
        sensitive_arguments=sensitive_names(given.sensitive_arguments, parameters),
        companions=names(given.companions, "companions"),
        **stated,
    )


def _or_strictest(value: object, kind: type, strictest: Any) -> Any:
    return value if type(value) is kind else strictest


def _visibility(given: Any) -> Visibility:
    if not is_a(given, Visibility):
        raise Unfit(f"its visible_in is {shown(given)}; right is a Visibility")
    return Visibility(
        flag(given.chat, "visible_in.chat"),
        flag(given.assistants, "visible_in.assistants"),
        _components(given.allowed_components, "visible_in.allowed_components"),
        _components(given.denied_components, "visible_in.denied_components"),
    )


def _components(value: Any, what: str) -> tuple[Components, ...]:
    found = items(sorted(value, key=str) if is_a(value, set, frozenset) else value, what)
    for component in found:
        if type(component) is not Components:
            arrived = repr(str.__str__(component)) if is_a(component, str) else shown(component)
            raise Unfit(f"it names the component {arrived}, which does not exist")
    return found


def _settings_model(model: Any, option_sources: Container[str]) -> type[ToolSettings]:
    if not is_a(model, type) or not issubclass(model, ToolSettings):
        raise Unfit("its settings_model is no ToolSettings")
    read: type[ToolSettings] = model
    for name in read.outside_names():
        setting = read.setting_of(name)
        if not name.strip():
            raise Unfit("a setting has a blank name")
        if setting.group and not setting.group.strip():
            raise Unfit(f"the setting {name!r} has a group made of white space")
        if setting.options is not None and setting.options not in option_sources:
            raise Unfit(f"the setting {name!r} names the option source {setting.options!r}, which does not exist")
    return read


def read_collection(given: Any, named: Named) -> ToolCollection:
    """Return a copy of a collection.

    Raises:
        Unfit: It cannot be registered.
    """
    if not is_a(given, ToolCollection):
        if is_a(found := getattr(given, "id", None), str):
            named.name = str.__str__(found)
        raise Unfit("it is no ToolCollection with a non-blank ID")
    identifier = text(given.id, "ID")
    named.name = identifier
    if not identifier.strip():
        raise Unfit("it is no ToolCollection with a non-blank ID")
    labels = []
    for entry in items(given.labels, "labels"):
        pair = items(entry, "labels: one item")
        if len(pair) != 2:
            raise Unfit(f"one of its labels has {len(pair)} parts; right are two: a language and a ToolTexts")
        labels.append((text(pair[0], "labels"), copies.texts(pair[1])))
    return ToolCollection(
        identifier,
        names(given.tools, "tools"),
        text(given.description, "description"),
        _or_strictest(given.minimum_confidence, *_STRICTEST["minimum_confidence"]),
        tuple(labels),
    )


def read_option_source(given: Any, named: Named) -> Any:
    """Return an option source, once its ID and its method were found.

    Raises:
        Unfit: It cannot be registered.
    """
    try:
        identified(given, named)
        fits = callable(getattr(given, "options", None))
    except Unfit:
        fits = False
    if not fits:
        raise Unfit("it needs a non-blank id and a method options(locale)")
    return given
