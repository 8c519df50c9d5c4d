"""The contract for authors of tools. Importing it loads no HTTP library, no XML library, no database, no pluggy."""

from lockgate.tools.admission import admit_schema
from lockgate.tools.arguments import Line, PositiveInt, ToolArguments, parameters_of
from lockgate.tools.base import DEFAULT_TIMEOUT, Tool
from lockgate.tools.collection import ToolCollection
from lockgate.tools.context import CallState, GivenAddresses, RequestContext, ToolContext, ToolServices
from lockgate.tools.data import DataTool, ToolDefinitionSource
from lockgate.tools.definition import Components, ToolActivation, ToolDefinition, ToolFunction, Visibility
from lockgate.tools.definition_data import definition_from_data
from lockgate.tools.function import FunctionTool, tool
from lockgate.tools.members import SchemaRefused
from lockgate.tools.result import ToolResult, to_compact_json
from lockgate.tools.schema import canonical_schema
from lockgate.tools.settings_data import settings_from_data
from lockgate.tools.texts import ToolTexts

__all__ = [
    "DEFAULT_TIMEOUT",
    "CallState",
    "Components",
    "DataTool",
    "FunctionTool",
    "GivenAddresses",
    "Line",
    "PositiveInt",
    "RequestContext",
    "SchemaRefused",
    "Tool",
    "ToolActivation",
    "ToolArguments",
    "ToolCollection",
    "ToolContext",
    "ToolDefinition",
    "ToolDefinitionSource",
    "ToolFunction",
    "ToolResult",
    "ToolServices",
    "ToolTexts",
    "Visibility",
    "admit_schema",
    "canonical_schema",
    "definition_from_data",
    "parameters_of",
    "settings_from_data",
    "to_compact_json",
    "tool",
]
