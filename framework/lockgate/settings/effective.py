"""Layers of a tool's settings: locked by the organization, the user's, the organization's default, the tool's own.

Pure functions over values: reading files and secrets is done elsewhere.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from lockgate.policy import BUILT_IN, BY_USER, SetBy, SetByKind
from lockgate.settings.model import NoSettings, ToolSettings, is_blank, read_settings
from lockgate.settings.options import OptionSource
from lockgate.settings.typed import Fields


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
        locked_by, user_by, defaults_by, ceilings_by: Who set a key of `locked`, `user`, `defaults` or `ceilings`, where
            known.
    """

    locked: Mapping[str, object] = field(default_factory=dict)
    user: Mapping[str, object] = field(default_factory=dict)
    defaults: Mapping[str, object] = field(default_factory=dict)
    secrets: Mapping[str, str] = field(default_factory=dict)
    locked_by: Mapping[str, SetBy] = field(default_factory=dict)
    defaults_by: Mapping[str, SetBy] = field(default_factory=dict)
    ceilings: Mapping[str, object] = field(default_factory=dict)
    ceilings_by: Mapping[str, SetBy] = field(default_factory=dict)
    user_by: Mapping[str, SetBy] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check = Fields(self)
        check.open_tables("locked", "user", "defaults", "ceilings")
        check.lazy_tables("secrets")
        for name in ("locked_by", "user_by", "defaults_by", "ceilings_by"):
            check.table(name, SetBy)


_ORGANIZATION = SetBy(SetByKind.ORGANIZATION)


def _winner(layers: Layers, key: str, *, secret: bool) -> SetValue | None:
    if key in layers.locked:
        return SetValue(layers.locked[key], layers.locked_by.get(key, _ORGANIZATION))
    if secret:
        return SetValue(layers.secrets[key], BY_USER) if key in layers.secrets else None
    if key in layers.user:
        return SetValue(layers.user[key], layers.user_by.get(key, BY_USER))
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
    by_field, unreadable = _bounded(tool_id, model, layers, by_field)
    settings, wrong = read_settings(model, {name: item.value for name, item in by_field.items()})
    for name, item in by_field.items():
        if name not in wrong and (text := _outside_options(model, name, item.value, sources or {})):
            wrong[name] = text
    problems = {
        name: Problem(text, by_field[name].set_by if name in by_field else BUILT_IN) for name, text in wrong.items()
    } | unreadable
    return Effective(None if problems else settings, by_field, problems)


def _bounded(
    tool_id: str, model: type[ToolSettings], layers: Layers, by_field: Mapping[str, SetValue]
) -> tuple[dict[str, SetValue], dict[str, Problem]]:
    """Hold values against ceilings; what the organization fixed stays, and so does what the model itself refuses.

    Returns:
        The values with those that go beyond a ceiling replaced by it, and what is wrong with ceilings themselves: one
        that is no number cannot tell how far is too far, so the tool cannot be used until it is.
    """
    found, unreadable = dict(by_field), dict[str, Problem]()
    bounds = [
        name for name in model.outside_names()
        if (key := f"{tool_id}.{name}") in layers.ceilings and key not in layers.locked
        and name not in model.secret_names()
    ]
    if not bounds:
        return found, unreadable
    _, refused = read_settings(model, {name: item.value for name, item in by_field.items()})
    for name in bounds:
        key = f"{tool_id}.{name}"
        bound = SetValue(layers.ceilings[key], layers.ceilings_by.get(key, _ORGANIZATION))
        tighter = model.setting_of(name).tighter
        if tighter not in _DIRECTIONS:
            found[name] = bound
            continue
        most = _number(bound.value)
        if most is None:
            text = f"has the ceiling {str(bound.value)[:40]!r}, which is no number"
            unreadable[name] = Problem(text, bound.set_by)
            continue
        own = _number(_own_value(model, name, found.get(name)))
        is_refused = name in refused and not is_blank(found[name].value if name in found else None)
        if not is_refused and (own is None or (own > most if tighter == "lower" else own < most)):
            found[name] = bound
    return found, unreadable


_DIRECTIONS = ("lower", "higher")


def _own_value(model: type[ToolSettings], name: str, item: SetValue | None) -> object:
    """Return what would count without a ceiling: the stored value, or the model's default."""
    if item is not None and not is_blank(item.value):
        return item.value
    info = model.model_fields[model.outside_names()[name]]
    return None if info.default_factory_takes_validated_data else info.get_default(call_default_factory=True)


def _number(value: object) -> int | float | None:
    """Read a number; None for what cannot be compared: it might mean "as much as there is", as infinity does."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    for kind in (int, float):
        try:
            number = kind(value) if isinstance(value, str) else value
        except ValueError:
            continue
        return number if isinstance(number, int) or math.isfinite(number) else None
    return None


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
