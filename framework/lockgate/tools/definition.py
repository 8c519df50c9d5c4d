"""What a tool states about itself. Display names are not part of it: only code can translate them."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from lockgate.policy import ConfidenceLevel, ToolOutboundData

FUNCTION_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""Names every provider takes: 1 to 64 ASCII letters, digits, `_`, `-` (OpenAI's rule; Anthropic allows 128)."""


class Components(Enum):
    """The parts of an application a tool can be visible in."""

    NONE = "NONE"
    GRAMMAR_SPELLING_ASSISTANT = "GRAMMAR_SPELLING_ASSISTANT"
    ICON_FINDER_ASSISTANT = "ICON_FINDER_ASSISTANT"
    REWRITE_ASSISTANT = "REWRITE_ASSISTANT"
    PROMPT_OPTIMIZER_ASSISTANT = "PROMPT_OPTIMIZER_ASSISTANT"
    TRANSLATION_ASSISTANT = "TRANSLATION_ASSISTANT"
    AGENDA_ASSISTANT = "AGENDA_ASSISTANT"
    CODING_ASSISTANT = "CODING_ASSISTANT"
    TEXT_SUMMARIZER_ASSISTANT = "TEXT_SUMMARIZER_ASSISTANT"
    EMAIL_ASSISTANT = "EMAIL_ASSISTANT"
    LEGAL_CHECK_ASSISTANT = "LEGAL_CHECK_ASSISTANT"
    SYNONYMS_ASSISTANT = "SYNONYMS_ASSISTANT"
    MY_TASKS_ASSISTANT = "MY_TASKS_ASSISTANT"
    JOB_POSTING_ASSISTANT = "JOB_POSTING_ASSISTANT"
    BIAS_DAY_ASSISTANT = "BIAS_DAY_ASSISTANT"
    ERI_ASSISTANT = "ERI_ASSISTANT"
    DOCUMENT_ANALYSIS_ASSISTANT = "DOCUMENT_ANALYSIS_ASSISTANT"
    SLIDE_BUILDER_ASSISTANT = "SLIDE_BUILDER_ASSISTANT"
    META_ASSISTANT = "META_ASSISTANT"
    I18N_ASSISTANT = "I18N_ASSISTANT"
    CHAT = "CHAT"
    WRITER = "WRITER"
    APP_SETTINGS = "APP_SETTINGS"
    AGENT_TEXT_CONTENT_CLEANER = "AGENT_TEXT_CONTENT_CLEANER"
    AGENT_DATA_SOURCE_SELECTION = "AGENT_DATA_SOURCE_SELECTION"
    AGENT_RETRIEVAL_CONTEXT_VALIDATION = "AGENT_RETRIEVAL_CONTEXT_VALIDATION"
    AGENT_ASSISTANT_PLUGIN_AUDIT = "AGENT_ASSISTANT_PLUGIN_AUDIT"
    LOG_VIEWER_ASSISTANT = "LOG_VIEWER_ASSISTANT"
    VISUAL_BRIEFING_ASSISTANT = "VISUAL_BRIEFING_ASSISTANT"
    BATCH_PROCESSING_ASSISTANT = "BATCH_PROCESSING_ASSISTANT"
    GATEWAY = "GATEWAY"
    MCP = "MCP"


LIKE_CHAT = frozenset({Components.CHAT, Components.GATEWAY, Components.MCP})
"""Components that follow the flag of chats."""


class ToolActivation(Enum):
    """How a tool comes into a request: somebody selects it, or it offers itself from the context of the chat."""

    SELECTION = "SELECTION"
    CONTEXT = "CONTEXT"


@dataclass(frozen=True, slots=True)
class Visibility:
    """Where a tool may appear.

    As soon as one list has an entry, the two flags no longer count: an empty allow list allows every component, a
    non-empty one only its entries, and the deny list is applied last and wins.
    """

    chat: bool = True
    assistants: bool = True
    allowed_components: tuple[Components, ...] = ()
    denied_components: tuple[Components, ...] = ()

    def includes(self, component: Components) -> bool:
        """Tell whether the tool may appear in a component. GATEWAY and MCP follow the chat flag."""
        if self.allowed_components or self.denied_components:
            allowed = not self.allowed_components or component in self.allowed_components
            return allowed and component not in self.denied_components
        return self.chat if component in LIKE_CHAT else self.assistants


EVERYWHERE = Visibility()


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """Everything the framework has to know of a tool.

    Attributes:
        id: Stable lower-case ID with underscores; also the name of the function.
        parameters: The canonical JSON Schema of the arguments: an optional one is simply absent from `required`.
        description: For the model: what the tool does.
        instructions: For the system prompt: when and in which order to use it, how to answer.
        strict: False keeps the tool out of strict mode everywhere, for a schema that strict mode cannot express.
        visible_in: The components it may appear in.
        activation: SELECTION or CONTEXT.
        preview: The preview feature it belongs to, if any.
        outbound_data: Where the arguments can go; the most open kind unless stated.
        enforces_outbound_restriction: The tool refuses what goes too far itself, on every call.
        minimum_confidence: The least confidence a provider needs to be offered the tool.
        returns_untrusted_content: It brings content from outside, which it passes through the guard.
        sensitive_arguments: Arguments masked in traces, events and logs, at any depth.
        companions: IDs of tools selected with this one.
        repeatable: The same call may be made again and again, for example to poll.
        schema_version: Must be 1.
    """

    id: str
    parameters: Mapping[str, object]
    description: str
    instructions: str = ""
    strict: bool = True
    visible_in: Visibility = EVERYWHERE
    activation: ToolActivation = ToolActivation.SELECTION
    preview: str | None = None
    outbound_data: ToolOutboundData = ToolOutboundData.MODEL_CHOSEN_ADDRESSES
    enforces_outbound_restriction: bool = False
    minimum_confidence: ConfidenceLevel = ConfidenceLevel.NONE
    returns_untrusted_content: bool = False
    sensitive_arguments: tuple[str, ...] = ()
    companions: tuple[str, ...] = ()
    repeatable: bool = False
    schema_version: int = 1


@dataclass(frozen=True, slots=True)
class ToolFunction:
    """What a tool offers in one request.

    Attributes:
        description: For the model.
        parameters: The schema to offer, canonical.
        choices: Argument name → the only values it may have; shown in the schema and enforced on every call.
            For an array argument the values of its items.
    """

    description: str
    parameters: Mapping[str, object]
    choices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
