"""Settings models: one class is the schema, the form, and what ``plugin.lua`` may set.

Every setting is stored as text (or a Lua number or boolean); the model reads it. A blank value counts as absent for
reading, yet it is a value: it masks what a lower layer says.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, ClassVar, Literal, TypeVar, get_origin

from pydantic import BaseModel, ConfigDict, SecretStr, ValidationError


@dataclass(frozen=True, slots=True)
class Setting:
    """Facts of a setting that its type does not tell. Stands outermost in ``Annotated``.

    Attributes:
        group: Identifier of the group it is shown in; empty for none.
        options: ID of the option source its values come from.
        area: The area an administrator exports it with; empty for the tool's only one.
        tighter: Which way a number gets stricter, ``lower`` or ``higher``; empty where neither is. An organization can
            set a ceiling to it: a user may then go further that way, and not back. A ceiling on a setting that does not
            say so is taken as a fixed value.
    """

    group: str = ""
    options: str | None = None
    area: str = ""
    tighter: str = ""


class ToolSettings(BaseModel):
    """The base of every settings model. A field of type ``SecretStr`` is a secret and is kept apart.

    The outside name of a setting, in files and in Lua, is the field's alias where it has one.
    """

    model_config = ConfigDict(
        frozen=True, extra="ignore", populate_by_name=True, hide_input_in_errors=True, str_strip_whitespace=True
    )

    @classmethod
    def outside_names(cls) -> dict[str, str]:
        """Return outside name → field name, in the order of declaration."""
        return {info.alias or name: name for name, info in cls.model_fields.items()}

    @classmethod
    def secret_names(cls) -> frozenset[str]:
        """Return the outside names of the secrets."""
        return frozenset(
            outside for outside, name in cls.outside_names().items() if _is_secret(cls.model_fields[name].annotation)
        )

    @classmethod
    def setting_of(cls, outside: str) -> Setting:
        """Return the facts stated of a setting, by outside name; the defaults where nothing is stated."""
        info = cls.model_fields[cls.outside_names()[outside]]
        return next((item for item in info.metadata if isinstance(item, Setting)), Setting())

    def secret_values(self) -> Iterator[str]:
        """Yield the secrets in plain text, for masking."""
        for name in type(self).model_fields:
            yield from _secrets_in(getattr(self, name))


S = TypeVar("S", bound=ToolSettings)


class NoSettings(ToolSettings):
    """The settings of a tool that has none."""

    EMPTY: ClassVar["NoSettings"]


NoSettings.EMPTY = NoSettings()


_DEEPEST = 12
"""How deep an annotation is looked into; one that is deeper counts as holding anything."""


def _holds(annotation: Any, wanted: Callable[[Any], bool], levels: int = _DEEPEST) -> bool:
    """Tell whether a type, or one inside it (of a union, a list, an ``Annotated``, an alias), is wanted."""
    if not levels or wanted(annotation):
        return True
    aliases = (getattr(annotation, name, None) for name in ("__value__", "__supertype__", "__origin__"))
    inner = (*getattr(annotation, "__args__", ()), *aliases)
    return any(_holds(part, wanted, levels - 1) for part in inner if part is not None)


def _is_secret(annotation: Any) -> bool:
    return _holds(annotation, lambda part: isinstance(part, type) and issubclass(part, SecretStr))


def spells_values_out(annotation: Any) -> bool:
    """Tell whether a type names its values itself: a ``Literal`` or an ``Enum``, also inside a union or a list."""
    return _holds(
        annotation, lambda part: get_origin(part) is Literal or (isinstance(part, type) and issubclass(part, Enum))
    )


def _secrets_in(value: object) -> Iterator[str]:
    if isinstance(value, SecretStr):
        if value.get_secret_value():
            yield value.get_secret_value()
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _secrets_in(item)
    elif isinstance(value, list | tuple | set | frozenset):
        for item in value:
            yield from _secrets_in(item)


def is_blank(value: object) -> bool:
    """Tell whether a stored value counts as absent for reading."""
    return value is None or (isinstance(value, str) and not value.strip())


def read_settings(model: type[S], values: Mapping[str, object]) -> tuple[S | None, dict[str, str]]:
    """Read stored values.

    Args:
        model: The settings model.
        values: Outside name → stored value; unknown names are passed over.

    Returns:
        The settings and no problems, or None and outside name → what is wrong and what is valid. The problem of a
        secret never repeats its value.
    """
    present = {name: value for name, value in values.items() if not is_blank(value)}
    try:
        return model.model_validate(present), {}
    except ValidationError as error:
        outside = {field: name for name, field in model.outside_names().items()}
        problems: dict[str, str] = {}
        for item in error.errors(include_url=False, include_context=False):
            place = str(item["loc"][0]) if item["loc"] else ""
            name = outside.get(place, place)
            problems.setdefault(name, _problem(model, name, item["type"], item["msg"], present.get(name)))
        return None, problems


def _problem(model: type[ToolSettings], name: str, kind: str, message: str, value: object) -> str:
    if kind == "missing":
        return "is required and not set"
    if name in model.secret_names():
        return "has a value that cannot be used"
    shown = str(value)
    return f"has the value {shown[:40] + ('...' if len(shown) > 40 else '')!r}: {_in_words(kind, message)}"


def _in_words(kind: str, message: str) -> str:
    """Return what pydantic says without its own names for kinds of errors; the words of a validator as they are."""
    if kind in ("value_error", "assertion_error"):
        message = message.partition(", ")[2] or "it is not valid"
    for start, ours in (("Input should be ", "it has to be "), ("Input should ", "it should ")):
        if message.startswith(start):
            message = ours + message[len(start) :]
    return message[:1].lower() + message[1:]
