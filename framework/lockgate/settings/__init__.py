"""Settings: models, layers and who set what, option sources, configured instances."""

from lockgate.settings.effective import NO_SETTINGS, Effective, Layers, Problem, SetValue, effective_settings
from lockgate.settings.instances import Instance, Kind
from lockgate.settings.model import NoSettings, Setting, ToolSettings, read_settings
from lockgate.settings.options import COMMON_LANGUAGES, SAFE_SEARCH, FixedOptions, Option, OptionSource

__all__ = [
    "COMMON_LANGUAGES",
    "NO_SETTINGS",
    "SAFE_SEARCH",
    "Effective",
    "FixedOptions",
    "Instance",
    "Kind",
    "Layers",
    "NoSettings",
    "Option",
    "OptionSource",
    "Problem",
    "SetValue",
    "Setting",
    "ToolSettings",
    "effective_settings",
    "read_settings",
]
