"""Which tools are selected: by whom, normalized to collections, expanded to tools, with what comes along."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum

from lockgate.policy import BUILT_IN, ConfidenceLevel, SetBy
from lockgate.registry.registration import Registered, Registrations
from lockgate.registry.rules import Rules
from lockgate.settings.typed import Fields, checked_texts
from lockgate.tools.definition import LIKE_CHAT, Components, ToolActivation

ALWAYS_VISIBLE = LIKE_CHAT | {
    Components.CODING_ASSISTANT, Components.SLIDE_BUILDER_ASSISTANT, Components.DOCUMENT_ANALYSIS_ASSISTANT,
}  # fmt: skip
"""Components whose selection a person sees without having asked for it."""


class SelectionOrigin(Enum):
    """Where a selection comes from; GONE stands for an assistant that is no longer configured."""

    CALLER = "caller"
    ASSISTANT = "assistant"
    GONE = "gone"
    CHAT = "chat"
    DEFAULTS = "defaults"


@dataclass(frozen=True, slots=True)
class Selection:
    """The tools that are selected for a request.

    Attributes:
        identifiers: IDs of tools or collections, as they were stored or named.
        origin: Where they come from.
        set_by: Who set them.
        name: Of the assistant or the component, where one of these selects.
        hidden: No tool may run, not even one that offers itself: the component shows no selection and no rule of an
            assistant names the tools, or these rules name none, or the assistant is gone.

    Raises:
        ConfigurationError: A value has a wrong type, such as a text for the IDs. A list is taken for a tuple.
    """

    identifiers: tuple[str, ...]
    origin: SelectionOrigin = SelectionOrigin.CALLER
    set_by: SetBy = BUILT_IN
    name: str = ""
    hidden: bool = False

    def __post_init__(self) -> None:
        check = Fields(self)
        check.tuple_of_texts("identifiers")
        check.member("origin", SelectionOrigin)
        check.set_by("set_by")
        check.texts("name")
        check.flags("hidden")

    @classmethod
    def of(cls, identifiers: "Iterable[str] | Selection") -> "Selection":
        """Return a selection; plain IDs are those a caller names."""
        return identifiers if isinstance(identifiers, Selection) else cls(checked_texts(identifiers, "The selection"))

    def __str__(self) -> str:
        """Words for a person: who chose."""
        if self.origin is SelectionOrigin.ASSISTANT:
            return f"the assistant {self.name!r}"
        if self.origin is SelectionOrigin.GONE:
            return f"the assistant {self.name!r}, which is no longer configured"
        if self.origin is SelectionOrigin.DEFAULTS:
            return f"the defaults of {self.name} ({self.set_by.phrase})"
        return "the chat" if self.origin is SelectionOrigin.CHAT else "whoever asks"


def is_selection_visible(rules: Rules, component: Components) -> bool:
    """Tell whether a person sees the selection of a component, so that it counts."""
    return component in ALWAYS_VISIBLE or component.value in rules.visible_selection_components


def selection_of_chat(rules: Rules, component: Components, stored: tuple[str, ...] | None) -> Selection:
    """Return what a chat selects in a component: what was chosen for it, else the defaults.

    Args:
        rules: The rules in force.
        component: Where the question comes from.
        stored: The chat's selection; None when nobody ever chose, empty when all are off on purpose.
    """
    hidden = not is_selection_visible(rules, component)
    if stored is not None:
        return Selection(stored, SelectionOrigin.CHAT, name=component.value, hidden=hidden)
    defaults = rules.default_tools.get(component.value, ())
    return Selection(defaults, SelectionOrigin.DEFAULTS, rules.default_tools_by, component.value, hidden)


class Selections:
    """Translates between what people select, collections, and what runs, tools.

    Args:
        found: What was registered.
        is_off: Tells whether the rules keep a tool from running whoever is asked: it brings nothing along then.
    """

    def __init__(self, found: Registrations, is_off: Callable[[Registered], bool] = lambda _: False) -> None:
        self._is_off = is_off
        self._settings_ids: dict[str, tuple[str, ...]] = {}
        self._tools: Mapping[str, Registered] = found.tools
        self._collection_of = found.collection_of
        self._nameless = found.nameless
        self._members = {key: item.tools for key, item in found.collections.items()}

    def collection_id(self, identifier: str) -> str:
        """Return the collection of a tool; any other ID passes through."""
        return self._collection_of.get(identifier, identifier)

    def tool_ids(self, collection_id: str) -> tuple[str, ...]:
        """Return the tools of a collection, in its order; an unknown ID stands for itself."""
        return self._members.get(collection_id, (collection_id,))

    def settings_ids(self, identifier: str) -> tuple[str, ...]:
        """Return every ID that stands for a collection in rules: its own first, then those of its tools."""
        collection_id = self.collection_id(identifier)
        known = self._settings_ids.get(collection_id)
        if known is not None:
            return known
        tools = self.tool_ids(collection_id)
        lost = (collection.id for tool_id in tools for collection in self._nameless.get(tool_id, ()))
        found = tuple(dict.fromkeys((collection_id, *tools, *lost)))
        if collection_id in self._members or collection_id in self._tools:  # a model or a chat may name anything
            self._settings_ids[collection_id] = found
        return found

    def lost_minimum(self, collection_id: str) -> ConfidenceLevel:
        """Return the highest minimum of collections that lost their name and hold a tool of this one."""
        tools = self.tool_ids(collection_id)
        lost = [collection.minimum_confidence for tool_id in tools for collection in self._nameless.get(tool_id, ())]
        return max(lost, default=ConfidenceLevel.NONE)

    def _with_companions(self, identifiers: Iterable[str]) -> dict[str, str]:
        """Return the selected collections → the tool that brought one along; empty for what was selected itself."""
        selected = dict.fromkeys(sorted({self.collection_id(identifier) for identifier in identifiers}), "")
        queue = list(selected)
        while queue:
            for tool_id in self.tool_ids(queue.pop()):
                registered = self._tools.get(tool_id)
                if registered is None or self._is_off(registered):
                    continue
                for companion in registered.definition.companions:
                    collection = self.collection_id(companion)
                    if collection not in selected:
                        selected[collection] = tool_id
                        queue.append(collection)
        return {item: by for item, by in selected.items() if not self._is_context(item)}

    def _is_context(self, identifier: str) -> bool:
        registered = self._tools.get(identifier)
        return registered is not None and registered.definition.activation is ToolActivation.CONTEXT

    def normalized(self, identifiers: Iterable[str]) -> frozenset[str]:
        """Turn a selection into the collections that run, companions added. Unknown IDs stay; idempotent."""
        return frozenset(self._with_companions(identifiers))

    def expanded(self, identifiers: Iterable[str]) -> frozenset[str]:
        """Turn a selection into the tools that run. Unknown IDs stay."""
        return frozenset(tool_id for item in self._with_companions(identifiers) for tool_id in self.tool_ids(item))

    def companions(self, identifiers: Iterable[str]) -> dict[str, str]:
        """Return the collections nobody selected → the tool that brought each along."""
        return {item: by for item, by in self._with_companions(identifiers).items() if by}
