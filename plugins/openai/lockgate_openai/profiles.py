"""Hosts that speak Chat Completions: one row each, every flag that is not the default with its evidence.

A row says how a host speaks. It makes no claim about how far one may trust it.
"""

from lockgate import Evidence, ProviderProfile

ADAPTER = "chat_completions"
"""The adapter's ID."""

_AI_STUDIO = Evidence("MindWork AI Studio, Tools.md, Provider API Shapes", "2026-11-30")
_SCHEMES = Evidence("MindWork AI Studio, Tools.md and the provider types its confidence schemes rate", "2026-11-30")
_VLLM_REASONING = Evidence("docs.vllm.ai, Reasoning Outputs: `reasoning`, formerly `reasoning_content`", "2026-11-30")

OPENAI = ProviderProfile(
    id="openai",
    title="OpenAI",
    provider_type="OPEN_AI",
    adapter=ADAPTER,
    base_url="https://api.openai.com/v1",
    api_key_variable="OPENAI_API_KEY",
    default_model="gpt-5-mini",
    enforces_strict_schemas=True,
    max_tokens_parameter="max_completion_tokens",
    evidence={
        "provider_type": _SCHEMES,
        "enforces_strict_schemas": Evidence("OpenAI, guide Structured Outputs, and Tools.md", "2026-11-30"),
        "max_tokens_parameter": Evidence(
            "OpenAI, API reference, chat: max_tokens is deprecated and refused by reasoning models", "2026-11-30"
        ),
    },
)

OLLAMA = ProviderProfile(
    id="ollama",
    title="Ollama",
    provider_type="SELF_HOSTED",
    adapter=ADAPTER,
    base_url="http://localhost:11434/v1",
    authentication="none",
    default_model="qwen3",
    reasoning_field="reasoning",
    returns_reasoning=True,
    evidence={
        "provider_type": _SCHEMES,
        "authentication": Evidence("docs.ollama.com, OpenAI compatibility: the key is ignored", "2026-11-30"),
        "reasoning_field": Evidence("a recorded stream of qwen3: deltas with `reasoning`", "2026-11-30"),
        "returns_reasoning": Evidence(
            "ollama/ollama, openai/openai.go: `reasoning` of an assistant message is read as its thinking",
            "2026-11-30",
        ),
    },
)

VLLM = ProviderProfile(
    id="vllm",
    title="vLLM",
    provider_type="SELF_HOSTED",
    adapter=ADAPTER,
    base_url="http://localhost:8000/v1",
    reasoning_field="reasoning",
    evidence={"provider_type": _SCHEMES, "reasoning_field": _VLLM_REASONING},
)

GROQ = ProviderProfile(
    id="groq",
    title="Groq",
    provider_type="GROQ",
    adapter=ADAPTER,
    base_url="https://api.groq.com/openai/v1",
    api_key_variable="GROQ_API_KEY",
    max_tokens_parameter="max_completion_tokens",
    reasoning_field="reasoning",
    evidence={
        "provider_type": _SCHEMES,
        # The default, and still worth a source: Groq checks calls against the schema and binds no model to it.
        "enforces_strict_schemas": _AI_STUDIO,
        "max_tokens_parameter": Evidence(
            "console.groq.com, API reference: max_tokens is deprecated in favor of it", "2026-11-30"
        ),
        "reasoning_field": Evidence("console.groq.com, Reasoning: reasoning_format parsed", "2026-11-30"),
    },
)

HUGGINGFACE = ProviderProfile(
    id="huggingface",
    title="Hugging Face",
    provider_type="HUGGINGFACE",
    adapter=ADAPTER,
    base_url="https://router.huggingface.co/v1",
    api_key_variable="HF_TOKEN",
    accepts_parallel_tool_calls_parameter=False,
    reasoning_field="reasoning",
    evidence={
        "provider_type": _SCHEMES,
        "accepts_parallel_tool_calls_parameter": _AI_STUDIO,
        "reasoning_field": Evidence("recorded answers of the router carry `reasoning`", "2026-11-30"),
    },
)

OPENAI_COMPATIBLE = ProviderProfile(
    id="openai-compatible",
    title="OpenAI compatible",
    provider_type="SELF_HOSTED",
    adapter=ADAPTER,
    evidence={"provider_type": _SCHEMES},
)
"""For a host nobody described: an address is all it takes."""

PROFILES = (OPENAI, OLLAMA, VLLM, GROQ, HUGGINGFACE, OPENAI_COMPATIBLE)
