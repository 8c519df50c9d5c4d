"""Settings that arrive as data: the schema of a tool's settings becomes a settings model.

The rules for it are the documented ones, in their order: each is held against the whole schema before the next.
"""

import keyword
import re
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, SecretStr, create_model

from lockgate.settings.model import NoSettings, Setting, ToolSettings
from lockgate.tools.members import (
    check_names,
    flag_in,
    members,
    plain_object,
    refusing,
    short,
    text_in,
    texts_in,
)
from lockgate.tools.plain import Unfit, shown

MAX_SETTINGS = 200
"""Settings that one tool may have."""
MAX_SETTING_NAME = 100
"""Characters in the name of a setting."""
MAX_SETTING_VALUES = 500
"""Values that one setting may spell out."""

_SCHEMA = ("type", "properties", "required")
_FIELD = ("type", "title", "description", "enum", "optionSource", "secret", "group")
_PLAIN_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class _Field:
    """One setting, read but not yet held against the rules."""

    kind: object
    title: str
    description: str
    values: tuple[str, ...]
    source: str
    secret: bool
    group: str


def settings_from_data(schema: object, *, option_sources: Container[str] | None = None) -> type[ToolSettings]:
    """Make a settings model of a schema of settings.

    The schema is an object: ``type`` (``object``), ``properties`` (name → an object with ``type`` (``string``),
    ``title``, ``description``, ``enum``, ``optionSource``, ``secret``, ``group``) and ``required`` (a list of names).
    A member that is null counts as absent. The outside name of each setting is the name in the schema. Inside, a name
    of ASCII letters, digits and underscores that means nothing else is also the name of the attribute; ``model_dump``
    with ``by_alias=True`` gives the value of any setting by its outside name. A setting that nobody set is None.

    Args:
        schema: The schema.
        option_sources: The option sources there are. Left out, they are looked for when the tool is registered.

    Raises:
        SchemaRefused: It breaks one of the documented rules, is too large, or has a name that cannot be one. The
            message names the first offender.
    """
    what = "the schema of the settings"
    given = plain_object(schema, what)
    with refusing(what):
        return read_settings_schema(given, option_sources)


def read_settings_schema(given: Mapping[str, Any], option_sources: Container[str] | None) -> type[ToolSettings]:
    """Do the work of `settings_from_data` on a plain value.

    Raises:
        Unfit: It does not fit.
    """
    present = members(given, "the schema of settings")
    _check_type(present.get("type", "object"), "object", "the type of the settings")
    check_names(present, _SCHEMA, "the schema of settings")
    fields = {name: _field(name, field) for name, field in _properties(present).items()}
    required = texts_in(present, "required", "the schema of settings")
    for rule in _RULES:
        for name, field in fields.items():
            rule(name, field)
    _check_sources(fields, option_sources)
    _check_required(required, fields)
    for name, field in fields.items():
        _check_possible(name, field)
    return _model(fields, frozenset(required)) if fields else NoSettings


def _properties(present: Mapping[str, Any]) -> dict[str, Any]:
    found = members(present.get("properties", {}), "the table of settings")
    if len(found) > MAX_SETTINGS:
        raise Unfit(f"it has {len(found)} settings; at most {MAX_SETTINGS} are accepted")
    return found


def _field(name: str, given: object) -> _Field:
    called = f"the setting {short(name)}"
    present = members(given, called)
    check_names(present, _FIELD, called)
    values = texts_in(present, "enum", called)
    if len(values) > MAX_SETTING_VALUES:
        raise Unfit(f"{called} spells out {len(values)} values; at most {MAX_SETTING_VALUES} are accepted")
    return _Field(
        present.get("type", "string"),
        text_in(present, "title", called),
        text_in(present, "description", called),
        tuple(dict.fromkeys(values)),
        text_in(present, "optionSource", called),
        flag_in(present, "secret", called, default=False),
        text_in(present, "group", called),
    )


def _check_type(given: object, right: str, what: str) -> None:
    if not isinstance(given, str) or given.lower() != right:
        raise Unfit(f"{what} is {shown(given)}; right is {right!r}")


def _named_text(name: str, field: _Field) -> None:
    if not name.strip():
        raise Unfit("a setting has a blank name")
    _check_type(field.kind, "string", f"the type of the setting {short(name)}")


def _grouped(name: str, field: _Field) -> None:
    if field.group and not field.group.strip():
        raise Unfit(f"the setting {short(name)} has a group made of white space")


def _one_list(name: str, field: _Field) -> None:
    if field.source and field.values:
        raise Unfit(f"the setting {short(name)} has the option source {short(field.source)} and spells its values "
                    "out; right is one of the two")  # fmt: skip


_RULES: tuple[Callable[[str, _Field], None], ...] = (_named_text, _grouped, _one_list)


def _check_sources(fields: Mapping[str, _Field], option_sources: Container[str] | None) -> None:
    if option_sources is None:
        return
    for name, field in fields.items():
        if field.source and field.source not in option_sources:
            raise Unfit(f"the setting {short(name)} names the option source {short(field.source)}, which does not "
                        "exist")  # fmt: skip


def _check_required(required: Sequence[str], fields: Mapping[str, _Field]) -> None:
    if any(not name.strip() for name in required):
        raise Unfit("a required setting has a blank name")
    for name in required:
        if name not in fields:
            raise Unfit(f"the setting {short(name)} is required, but there is no setting of that name")


def _check_possible(name: str, field: _Field) -> None:
    """Refuse what no file could hold, and a secret whose value everybody could look up in the list."""
    if len(name) > MAX_SETTING_NAME:
        raise Unfit(f"the name {short(name)} has {len(name)} characters; at most {MAX_SETTING_NAME} are accepted")
    if not name.isprintable() or name != name.strip():
        raise Unfit(f"the name {name!r} has white space around it or characters that cannot be seen")
    if field.secret and (field.source or field.values):
        raise Unfit(f"the setting {short(name)} is a secret and is chosen from a list; a value from a list is "
                    "no secret")  # fmt: skip


def _model(fields: Mapping[str, _Field], required: frozenset[str]) -> type[ToolSettings]:
    made: dict[str, Any] = {}
    number = 0
    for name, field in fields.items():
        inside = name
        while not _is_free(inside) or (inside != name and inside in fields):
            number += 1
            inside = f"setting_{number}"
        made[inside] = _annotated(name, field, is_required=name in required)
    return create_model("SettingsFromData", __base__=ToolSettings, __module__=__name__, **made)


def _is_free(name: str) -> bool:
    """Tell whether pydantic and Python let an attribute have that name, and nothing else of a model has it."""
    if not _PLAIN_NAME.fullmatch(name) or keyword.iskeyword(name):
        return False
    return not name.startswith("model_") and not hasattr(ToolSettings, name)


def _annotated(name: str, field: _Field, *, is_required: bool) -> tuple[Any, Any]:
    kind: Any = SecretStr if field.secret else Literal[field.values] if field.values else str
    facts = Field(alias=name, title=field.title or None, description=field.description or None)
    setting = Setting(group=field.group, options=field.source or None)
    if is_required:
        return (Annotated[kind, BeforeValidator(_as_text), facts, setting], ...)
    return (Annotated[kind | None, BeforeValidator(_as_text), facts, setting], None)


def _as_text(value: object) -> object:
    """Write a stored number or boolean as the text it stands for; every setting that arrives as data is a text."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, int | float):
        return str(value)
    return value.strip() if isinstance(value, str) else value
