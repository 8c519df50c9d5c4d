"""Preview features: registered names, some on top of others, that a person or an organization switches.

A tool of a preview that is off is absent from lists, settings, requests and counts. A selection keeps its name, so the
tool comes back with the preview. A name that nobody registered is off: nobody could say what it is.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from lockgate.policy import BUILT_IN, SetBy
from lockgate.registry.copies import Unfit, is_a, names, shown, text
from lockgate.registry.reading import Named, identified
from lockgate.settings.typed import Fields


@dataclass(frozen=True, slots=True)
class Preview:
    """A registered preview feature.

    Attributes:
        id: Its name, such as ``PRE_RAG_2024``.
        title: What people call it.
        requires: Names of the previews it stands on; it is on only while all of them are.
    """

    id: str
    title: str = ""
    requires: tuple[str, ...] = ()


def read_preview(given: Any, named: Named) -> Preview:
    """Return a copy of a contributed preview.

    Raises:
        Unfit: It is none.
    """
    if not is_a(given, Preview):
        raise Unfit(f"it is {shown(given)} and no Preview")
    return Preview(identified(given, named), text(given.title, "title"), names(given.requires, "requires"))


BUILT_IN_PREVIEWS: tuple[Preview, ...] = (
    Preview("PRE_RAG_2024", "Searching data sources"),
    Preview("PRE_MAILBOXES_2026", "Searching mailboxes", ("PRE_RAG_2024",)),
)
"""The previews of the framework; they are on unless somebody switches them off."""


@dataclass(frozen=True, slots=True)
class PreviewSwitch:
    """Whether a preview was switched on or off, and by whom."""

    is_on: bool
    set_by: SetBy

    def __post_init__(self) -> None:
        check = Fields(self)
        check.flags("is_on")
        check.set_by("set_by")


@dataclass(frozen=True, slots=True)
class PreviewOff:
    """Why a preview is off: which one was switched off (itself, or one it stands on), by whom, in words."""

    id: str
    set_by: SetBy
    why: str


def switches(
    user: Mapping[str, PreviewSwitch], enabled: Mapping[str, SetBy], disabled: Mapping[str, SetBy]
) -> dict[str, PreviewSwitch]:
    """Merge who says what about previews.

    Args:
        user: The user's own switches.
        enabled: The organization's list; what is on it is on, whatever the user says.
        disabled: What the organization switches off; it wins over everything.
    """
    on = {name: PreviewSwitch(True, by) for name, by in enabled.items()}
    off = {name: PreviewSwitch(False, by) for name, by in disabled.items()}
    return {**user, **on, **off}


class Previews:
    """All registered previews under the switches in force.

    Args:
        registered: The previews; of two with one name the first counts.
        switched: Name → switch.
    """

    def __init__(self, registered: Iterable[Preview], switched: Mapping[str, PreviewSwitch]) -> None:
        self._known: dict[str, Preview] = {}
        for preview in registered:
            self._known.setdefault(preview.id, preview)
        self._switched = switched

    @property
    def all(self) -> tuple[Preview, ...]:
        """The registered previews, in order of registration."""
        return tuple(self._known.values())

    def off(self, name: str) -> PreviewOff | None:
        """Say why a preview is off, or None while it is on."""
        seen: set[str] = set()
        waiting = [name]
        while waiting:
            current = waiting.pop(0)
            if current in seen:
                continue
            seen.add(current)
            preview, switch = self._known.get(current), self._switched.get(current)
            if preview is None:
                return PreviewOff(current, BUILT_IN, _worded(name, current, "which nobody has registered"))
            if switch is not None and not switch.is_on:
                return PreviewOff(current, switch.set_by, _worded(name, current, "which is switched off"))
            waiting.extend(preview.requires)
        return None


def _worded(name: str, cause: str, state: str) -> str:
    if name == cause:
        return f"It belongs to the preview {name}, {state}."
    return f"It belongs to the preview {name}, which stands on {cause}, {state}."
