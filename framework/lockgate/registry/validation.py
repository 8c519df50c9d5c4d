"""What can be registered: each part is read in the documented order, copied, and the first offence decides.

The documented rules come first, one after the other over the whole definition; what they leave open (texts, flags,
lists of names) is read after them. What a definition does not state properly about a rule is read as the strictest;
anything else that does not fit is an offence. These functions run a stranger's code: see `lockgate.registry.copies`.
"""

from collections.abc import Container, Iterable
from enum import Enum
from typing import Any

from lockgate.registry import copies
from lockgate.registry.copies import Unfit, flag, is_a, items, names, schema_of_object, sensitive_names, shown, text
from lockgate.registry.reading import Named, identified
from lockgate.settings.model import Setting, ToolSettings, spells_values_out
from lockgate.tools.base import Tool
from lockgate.tools.collection import ToolCollection
from lockgate.tools.definition import FUNCTION_NAME, Components, ToolDefinition, Visibility
from lockgate.tools.strictness import STRICTEST, is_member, or_strictest

_SHOWN = 40


def read_tool(
    tool: Any, named: Named, option_sources: Container[str]
) -> tuple[ToolDefinition, type[ToolSettings]]:
    """Return a copy of a tool's definition, and its settings model.

    Raises:
        Unfit: It cannot be registered.
    """
    if not is_a(tool, Tool):
        raise Unfit(f"it is no Tool but a {type(tool).__name__}")
    given: Any = getattr(tool, "definition", None)
    if not is_a(given, ToolDefinition):
        raise Unfit("it has no definition of type ToolDefinition")
    identifier = _identifier(given, named)
    parameters = schema_of_object(given.parameters)
    visible = given.visible_in
    lists = _component_lists(visible)
    model = _settings_model(tool.settings_model, option_sources)
    preview = given.preview
    stated = {name: _stated(name, getattr(given, name), named) for name in STRICTEST}
    definition = ToolDefinition(
        id=identifier,
        parameters=parameters,
        description=text(given.description, "description"),
        instructions=text(given.instructions, "instructions"),
        strict=flag(given.strict, "strict"),
        visible_in=Visibility(
            flag(visible.chat, "visible_in.chat"), flag(visible.assistants, "visible_in.assistants"), *lists
        ),
        preview=None if preview is None else text(preview, "preview"),
        sensitive_arguments=sensitive_names(given.sensitive_arguments, parameters),
        companions=names(given.companions, "companions"),
        **stated,
    )
    return definition, model


def _stated(field: str, value: Any, named: Named) -> Any:
    """Return what is stated of a rule, or the strictest with a note that it was read so."""
    read = or_strictest(field, value)
    if read is not value:
        arrived = repr(str.__str__(value)[:_SHOWN]) if is_a(value, str) else shown(value)
        counts = read.name if isinstance(read, Enum) else read
        kind = "True or False" if isinstance(read, bool) else f"a {type(read).__name__}"
        named.doubts.append(f"its {field} is {arrived}, which is not {kind}; it is read as {counts}, the strictest")
    return read


def _identifier(given: Any, named: Named) -> str:
    identifier = given.id
    if is_a(identifier, str):
        named.name = str.__str__(identifier)
    version = given.schema_version
    if type(version) is not int or version != 1:
        raise Unfit(f"its schema version is {shown(version)}; this framework knows 1")
    plain = text(identifier, "ID")
    if not plain.strip():
        raise Unfit("its ID is blank")
    if not FUNCTION_NAME.fullmatch(plain):
        raise Unfit(f"its ID {plain!r} is no function name: 1 to 64 ASCII letters, digits, '_' or '-'")
    return plain


def _component_lists(given: Any) -> tuple[tuple[Components, ...], tuple[Components, ...]]:
    if not is_a(given, Visibility):
        raise Unfit(f"its visible_in is {shown(given)}; right is a Visibility")
    return (
        _components(given.allowed_components, "visible_in.allowed_components"),
        _components(given.denied_components, "visible_in.denied_components"),
    )


def _components(value: Any, what: str) -> tuple[Components, ...]:
    found = items(sorted(value, key=str) if is_a(value, set, frozenset) else value, what)
    for component in found:
        if not is_member(component, Components):
            arrived = repr(str.__str__(component)) if is_a(component, str) else shown(component)
            raise Unfit(f"it names the component {arrived}, which does not exist")
    return found


def _settings_model(model: Any, option_sources: Container[str]) -> type[ToolSettings]:
    if not is_a(model, type) or not issubclass(model, ToolSettings):
        raise Unfit("its settings_model is no ToolSettings")
    read: type[ToolSettings] = model
    fields = [(text(name, "settings: one name"), field) for name, field in read.outside_names().items()]
    for name, _ in fields:
        if not name.strip():
            raise Unfit("a setting has a blank name")
    stated = {name: read.setting_of(name) for name, _ in fields}
    for name, setting in stated.items():
        group = text(setting.group, f"group of the setting {name!r}")
        if group and not group.strip():
            raise Unfit(f"the setting {name!r} has a group made of white space")
    sources = {
        name: text(setting.options, f"option source of the setting {name!r}")
        for name, setting in stated.items() if setting.options is not None
    }  # fmt: skip
    for name, field in fields:
        if name in sources and spells_values_out(read.model_fields[field].annotation):
            raise Unfit(f"the setting {name!r} has the option source {sources[name]!r} and spells its values out; "
                        "right is one of the two")  # fmt: skip
    for name, source in sources.items():
        if source not in option_sources:
            raise Unfit(f"the setting {name!r} names the option source {source!r}, which does not exist")
    _no_list_of_secrets(read.secret_names(), stated)
    return read


def _no_list_of_secrets(secrets: Iterable[str], stated: dict[str, Setting]) -> None:
    """Refuse a secret chosen from a list: telling that a value is not in the list would show the value."""
    for name in secrets:
        if stated[name].options is not None:
            raise Unfit(f"the setting {name!r} is a secret and has an option source; a value from a list is no secret")


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
        _stated("minimum_confidence", given.minimum_confidence, named),
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
