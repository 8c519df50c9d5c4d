"""Layers of a tool's settings: locked by the organization, the user's, the organization's default, the tool's own.

Pure functions over values: reading files and secrets is done elsewhere.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic_core import PydanticUndefined

from lockgate.policy import BUILT_IN, BY_USER, SetBy, SetByKind
from lockgate.settings.model import NoSettings, ToolSettings, is_blank, read_settings
from lockgate.settings.options import OptionSource


@dataclass(frozen=True, slots=True)
class SetValue:
    """A stored value and who set it."""

    value: object
    set_by: SetBy


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with a setting, and who set it."""

    text: str
    set_by: SetBy


@dataclass(frozen=True, slots=True)
class Effective:
    """The settings of a tool as they count now. Made once per revision.

    Attributes:
        settings: The settings, or None when they cannot be used.
        by_field: Outside name → the winning value, for settings somebody set.
        problems: Outside name → what is wrong; empty exactly when `settings` is there.
    """

    settings: ToolSettings | None
    by_field: Mapping[str, SetValue] = field(default_factory=dict)
    problems: Mapping[str, Problem] = field(default_factory=dict)

    @property
    def problem_text(self) -> str:
        """All problems in one sentence for a person; empty when there are none."""
        return "; ".join(f"{name} {problem.text}" for name, problem in self.problems.items())


NO_SETTINGS = Effective(NoSettings.EMPTY)


@dataclass(frozen=True, slots=True)
class Layers:
    """Stored values of all tools, ``toolId.fieldName`` → value, one table a layer.

    Attributes:
        locked: What the organization fixed.
        user: What the user saved; a blank text is a value.
        defaults: What the organization proposes.
        secrets: The user's secrets that could be read.
        ceilings: How far the organization lets a user go.
        locked_by, defaults_by, ceilings_by: Who set a key of `locked`, `defaults` or `ceilings`, where known.
    """

    locked: Mapping[str, object] = field(default_factory=dict)
    user: Mapping[str, object] = field(default_factory=dict)
    defaults: Mapping[str, object] = field(default_factory=dict)
    secrets: Mapping[str, str] = field(default_factory=dict)
    locked_by: Mapping[str, SetBy] = field(default_factory=dict)
    defaults_by: Mapping[str, SetBy] = field(default_factory=dict)
    ceilings: Mapping[str, object] = field(default_factory=dict)
    ceilings_by: Mapping[str, SetBy] = field(default_factory=dict)


_ORGANIZATION = SetBy(SetByKind.ORGANIZATION)


def _winner(layers: Layers, key: str, *, secret: bool) -> SetValue | None:
    if key in layers.locked:
        return SetValue(layers.locked[key], layers.locked_by.get(key, _ORGANIZATION))
    if secret:
        return SetValue(layers.secrets[key], BY_USER) if key in layers.secrets else None
    if key in layers.user:
        return SetValue(layers.user[key], BY_USER)
    if key in layers.defaults:
        return SetValue(layers.defaults[key], layers.defaults_by.get(key, _ORGANIZATION))
    return None


def effective_settings(
    tool_id: str, model: type[ToolSettings], layers: Layers, sources: Mapping[str, OptionSource] | None = None
) -> Effective:
    """Resolve the settings of a tool.

    A locked secret wins even when it is blank: the user's own key is then not used. An organization's default never
    counts for a secret. A value outside its option source is a problem, and the value is kept.
    """
    if model is NoSettings:
        return NO_SETTINGS
    secrets = model.secret_names()
    by_field: dict[str, SetValue] = {}
    for name in model.outside_names():
        winner = _winner(layers, f"{tool_id}.{name}", secret=name in secrets)
        if winner is not None:
            by_field[name] = winner
    bounded = _bounded(tool_id, model, layers, by_field)
    settings, wrong = read_settings(model, {name: item.value for name, item in bounded.items()})
    by_field = bounded
    for name, item in by_field.items():
        if name not in wrong and (text := _outside_options(model, name, item.value, sources or {})):
            wrong[name] = text
    problems = {
        name: Problem(text, by_field[name].set_by if name in by_field else BUILT_IN) for name, text in wrong.items()
    }
    return Effective(None if problems else settings, by_field, problems)


def _bounded(
    tool_id: str, model: type[ToolSettings], layers: Layers, by_field: Mapping[str, SetValue]
) -> dict[str, SetValue]:
    """Return the values with those that go beyond a ceiling replaced by it; what the organization fixed stays.

    A value that cannot be compared is left to the model, which says what is wrong with it.
    """
    found = dict(by_field)
    for name in model.outside_names():
        key = f"{tool_id}.{name}"
        if key not in layers.ceilings or key in layers.locked or name in model.secret_names():
            continue
        bound = SetValue(layers.ceilings[key], layers.ceilings_by.get(key, _ORGANIZATION))
        if _goes_beyond(_own_value(model, name, found.get(name)), bound.value, model.setting_of(name).tighter):
            found[name] = bound
    return found


def _goes_beyond(own: object, bound: object, tighter: str) -> bool:
    """Tell whether a value is looser than a ceiling. Nothing set at all might mean "as much as there is"."""
    number, most = _number(own), _number(bound)
    if tighter not in ("lower", "higher") or most is None or own is None or own is PydanticUndefined:
        return True
    return number is not None and (number > most if tighter == "lower" else number < most)


def _own_value(model: type[ToolSettings], name: str, item: SetValue | None) -> object:
    """Return what would count without a ceiling: the stored value, or the model's default."""
    if item is not None and not is_blank(item.value):
        return item.value
    return model.model_fields[model.outside_names()[name]].get_default(call_default_factory=False)


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _outside_options(
    model: type[ToolSettings], name: str, value: object, sources: Mapping[str, OptionSource]
) -> str | None:
    source_id = model.setting_of(name).options
    if source_id is None or is_blank(value) or source_id not in sources:
        return None
    valid = [option.value for option in sources[source_id].options("en")]
    if str(value).strip() in valid:
        return None
    if name in model.secret_names():
        return "has a value that is none of its choices"
    return f"has the value {str(value)[:40]!r}; valid are {', '.join(valid)}"
