"""Configured instances: a provider, a data source, a mailbox. Plugins declare kinds, people configure instances."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from lockgate.policy import BY_USER, SetBy
from lockgate.settings.model import ToolSettings


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of instance.

    Attributes:
        id: Its name in settings files, such as ``local_folder``.
        family: What it counts as, such as ``provider`` or ``data_source``.
        settings_model: The model its settings are read with.
        create: Makes the object that does the work out of an instance and the services; None where none is needed.
        title: A display name.
    """

    id: str
    family: str
    settings_model: type[ToolSettings]
    create: Callable[["Instance", Any], Any] | None = None
    title: str = ""


@dataclass(frozen=True, slots=True)
class Instance:
    """One configured instance.

    Attributes:
        kind: Its kind.
        id: Unique within the family.
        name: What people call it.
        settings: The effective settings, secrets included.
        set_by: Who configured it.
        revision: Changes whenever the settings do.
    """

    kind: Kind
    id: str
    name: str
    settings: ToolSettings
    set_by: SetBy = field(default=BY_USER)
    revision: int = 0
