"""Provider profiles: what is known of a host, as data. A new host is a row; it makes no claim of trust.

The configured instance says how far a host is trusted; a profile only says how it speaks.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Evidence:
    """Where a fact of a profile comes from, and when it was true (ISO date)."""

    source: str
    date: str


@dataclass(frozen=True, slots=True)
class ProviderProfile:
    """A row of the table of hosts.

    Attributes:
        id: Its name in settings, such as ``groq``.
        title: Its display name.
        provider_type: The type the confidence schemes rate, such as ``GROQ``. SELF_HOSTED is a kind of
            software here; whether an instance is self-hosted is for the instance to say.
        adapter: ID of the adapter that speaks its API.
        base_url: Where the API lives, without a trailing slash; empty where only the instance can know.
        authentication: ``bearer``, ``x-api-key``, ``api-key`` or ``none``.
        api_key_variable: Environment variable that usually holds the key; empty for none.
        default_model: What is asked for when the instance names no model; empty where it has to.
        enforces_strict_schemas: The host binds the model's output to a strict schema.
        accepts_strict_member: The member ``strict`` may be sent at all.
        accepts_parallel_tool_calls_parameter: The host takes ``parallel_tool_calls``.
        accepts_stream_options: The host takes ``stream_options.include_usage``.
        max_tokens_parameter: The name of the output limit.
        reasoning_field: The member of a delta and of a history message that carries reasoning; empty for
            none.
        returns_reasoning: Reasoning of tool turns has to go back to the host.
        tool_call_id_format: ``any``, or ``nine_alphanumeric`` where the host refuses others (Mistral).
        system_role: The role of the system prompt.
        models_without_tools: Patterns (``*`` stands for anything, case makes no difference) of models that take no
            tools; every other model of the host is taken to call them.
        evidence: Name of a flag → where the fact comes from.
    """

    id: str
    title: str
    provider_type: str
    adapter: str
    base_url: str = ""
    authentication: str = "bearer"
    api_key_variable: str = ""
    default_model: str = ""
    enforces_strict_schemas: bool = False
    accepts_strict_member: bool = True
    accepts_parallel_tool_calls_parameter: bool = True
    accepts_stream_options: bool = True
    max_tokens_parameter: str = "max_tokens"
    reasoning_field: str = ""
    returns_reasoning: bool = False
    tool_call_id_format: str = "any"
    system_role: str = "system"
    models_without_tools: tuple[str, ...] = ()
    evidence: Mapping[str, Evidence] = field(default_factory=dict)
