"""Layers of a tool's settings: locked by the organization, the user's, the organization's default, the tool's own.

Pure functions over values: reading files and secrets is done elsewhere.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

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
        locked_by, defaults_by: Who set a key of `locked` or `defaults`, where known.
    """

    locked: Mapping[str, object] = field(default_factory=dict)
    user: Mapping[str, object] = field(default_factory=dict)
    defaults: Mapping[str, object] = field(default_factory=dict)
    secrets: Mapping[str, str] = field(default_factory=dict)
    locked_by: Mapping[str, SetBy] = field(default_factory=dict)
    defaults_by: Mapping[str, SetBy] = field(default_factory=dict)


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
    settings, wrong = read_settings(model, {name: item.value for name, item in by_field.items()})
    for name, item in by_field.items():
        if name not in wrong and (text := _outside_options(model, name, item.value, sources or {})):
            wrong[name] = text
    problems = {
        name: Problem(text, by_field[name].set_by if name in by_field else BUILT_IN) for name, text in wrong.items()
    }
    return Effective(None if problems else settings, by_field, problems)


def _outside_options(
    model: type[ToolSettings], name: str, value: object, sources: Mapping[str, OptionSource]
) -> str | None:
    source_id = model.setting_of(name).options
    if source_id is None or is_blank(value) or source_id not in sources:
        return None
    valid = [option.value for option in sources[source_id].options("en")]
    if str(value).strip() in valid:
        return None
    return f"has the value {str(value)[:40]!r}; valid are {', '.join(valid)}"
