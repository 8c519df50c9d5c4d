"""Whether a tool's definition can be registered: the documented order, the first offence decides."""

from collections.abc import Container, Mapping
from dataclasses import replace
from typing import Any

from lockgate.policy import ConfidenceLevel, ToolOutboundData
from lockgate.settings.model import ToolSettings
from lockgate.tools.base import Tool
from lockgate.tools.definition import FUNCTION_NAME, Components, ToolActivation, ToolDefinition

_STRICTEST: Mapping[str, tuple[type, Any]] = {
    "outbound_data": (ToolOutboundData, ToolOutboundData.MODEL_CHOSEN_ADDRESSES),
    "minimum_confidence": (ConfidenceLevel, ConfidenceLevel.HIGH),
    "activation": (ToolActivation, ToolActivation.SELECTION),
    "enforces_outbound_restriction": (bool, False),
    "returns_untrusted_content": (bool, True),
    "repeatable": (bool, False),
}


def definition_problem(tool: object, option_sources: Container[str]) -> str:
    """Say why a tool cannot be registered, naming the offender; an empty text when it can."""
    if not isinstance(tool, Tool):
        return f"it is no Tool but a {type(tool).__name__}"
    definition: Any = getattr(tool, "definition", None)
    if not isinstance(definition, ToolDefinition):
        return "it has no definition of type ToolDefinition"
    return _problem_of(definition) or _settings_problem(tool.settings_model, option_sources)


def _problem_of(definition: Any) -> str:
    """Check the parts in the documented order; a stranger may have put anything into them, so nothing is assumed."""
    if definition.schema_version != 1:
        return f"its schema version is {definition.schema_version!r}; this framework knows 1"
    if not isinstance(definition.id, str) or not definition.id.strip():
        return "its ID is blank"
    if not FUNCTION_NAME.fullmatch(definition.id):
        return f"its ID {definition.id!r} is no function name: 1 to 64 ASCII letters, digits, '_' or '-'"
    if not isinstance(definition.parameters, Mapping) or definition.parameters.get("type", "object") != "object":
        return "its parameters are no JSON Schema of an object"
    visible = definition.visible_in
    for component in (*visible.allowed_components, *visible.denied_components):
        if not isinstance(component, Components):
            return f"it names the component {component!r}, which does not exist"
    return ""


def _settings_problem(model: Any, option_sources: Container[str]) -> str:
    if not isinstance(model, type) or not issubclass(model, ToolSettings):
        return "its settings_model is no ToolSettings"
    for name in model.outside_names():
        setting = model.setting_of(name)
        if not name.strip():
            return "a setting has a blank name"
        if setting.group and not setting.group.strip():
            return f"the setting {name!r} has a group made of white space"
        if setting.options is not None and setting.options not in option_sources:
            return f"the setting {name!r} names the option source {setting.options!r}, which does not exist"
    return ""


def on_the_safe_side(definition: ToolDefinition) -> ToolDefinition:
    """Read what a definition does not state properly as the strictest: most open sink, highest confidence."""
    changes: dict[str, Any] = {
        name: strictest
        for name, (kind, strictest) in _STRICTEST.items()
        if not isinstance(getattr(definition, name), kind)
    }
    return replace(definition, **changes) if changes else definition
