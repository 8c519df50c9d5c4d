"""What stands in ``settings.toml``, as values.

The layout (everything is optional)::

    enable_tools = true                        # false switches all tools off
    disabled_tool_ids = ["web_search"]         # tools or collections
    trusted_provider_ids = ["office"]          # may see content that is for self-hosted providers only
    default_provider = "office"

    [confidence]
    scheme = "TRUST_ALL"                       # or TRUST_EUROPE, LOCAL_TRUST_ONLY, ..., CUSTOM
    custom = { MISTRAL = "HIGH" }              # provider type -> level, for CUSTOM

    [minimum_provider_confidence_by_tool_id]
    web_search = "MEDIUM"

    [default_tool_ids_by_component]
    CHAT = ["semantic_search"]

    [limits]
    max_tool_calls = 15                        # calls in one answer
    max_tool_result_characters = 300000        # characters of results in one answer

    [plugins]
    disabled = ["some-plugin"]                 # never imported
    allowed = ["lockgate-web"]                 # when it is there: no others are imported

    [tools.web_search]                         # settings of a tool, by their outside names
    "searxng.baseUrl" = "https://search.example.org"

    [providers.office]                         # a configured provider
    profile = "vllm"
    name = "Office"
    base_url = "https://llm.example.org/v1"
    model = "some-model"
    api_key_variable = "OFFICE_KEY"            # environment variable with the key; else the stored secret is used
    self_hosted = true
    can_call_tools = true
    confidence = "HIGH"                        # instead of what the scheme says
    parameters = { temperature = 0.2 }         # sent with every request

    [data_sources.docs]                        # a configured data source; further keys belong to its kind
    kind = "local_folder"
    name = "Documents"
    path = "/srv/documents"

Secrets do not belong here: they are in the keyring or in ``secrets.toml``.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from lockgate.policy import ConfidenceLevel, ConfidenceScheme


@dataclass(frozen=True, slots=True)
class FileProblem:
    """A value that could not be used: its key, and what arrived, what is valid, and what counts meanwhile."""

    key: str
    text: str

    def __str__(self) -> str:
        """One sentence for a person."""
        return f"{self.key} {self.text}"


@dataclass(frozen=True, slots=True)
class ProviderEntry:
    """A configured provider as the file has it. None and empty texts stand for what the file does not say.

    Attributes:
        id: Its name in the file.
        profile: ID of the provider profile.
        name: What people call it; the ID where the file gives none.
        base_url: Address of the API, where it is not the profile's.
        model: The model to ask for, where it is not the profile's.
        api_key_variable: Environment variable with the key.
        self_hosted: The user runs it.
        can_call_tools: Whether the model takes tools, where the user knows better.
        confidence: The level the user gives it instead of the scheme's.
        parameters: Members sent with every request.
    """

    id: str
    profile: str
    name: str = ""
    base_url: str = ""
    model: str = ""
    api_key_variable: str = ""
    self_hosted: bool = False
    can_call_tools: bool | None = None
    confidence: ConfidenceLevel | None = None
    parameters: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DataSourceEntry:
    """A configured data source as the file has it; `settings` is what its kind reads."""

    id: str
    kind: str
    name: str = ""
    settings: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SettingsFile:
    """The user's settings. A wrong value is among `problems`; what it leaves behind is the safe choice.

    Attributes:
        enable_tools: The switch for all tools.
        disabled_tool_ids: Tools and collections switched off.
        trusted_provider_ids: Providers that count as self-hosted for data security.
        default_provider: ID of the provider that is asked when none is named; empty for none.
        confidence_scheme: The scheme that rates provider types.
        custom_confidence: Provider type → level, for the CUSTOM scheme.
        minimum_provider_confidence_by_tool_id: Least level a tool or collection needs.
        default_tool_ids_by_component: Component → what is selected unless the user chose.
        max_tool_calls: Calls in one answer; None where the file does not say.
        max_tool_result_characters: Characters of results in one answer; None where the file does not say.
        disabled_plugins: Plugins that are never imported.
        allowed_plugins: The only plugins that may be imported; None when all may.
        tool_settings: ``toolId.fieldName`` → stored value.
        providers: Configured providers by ID.
        data_sources: Configured data sources by ID.
        problems: What could not be used.
    """

    enable_tools: bool = True
    disabled_tool_ids: frozenset[str] = frozenset()
    trusted_provider_ids: frozenset[str] = frozenset()
    default_provider: str = ""
    confidence_scheme: ConfidenceScheme = ConfidenceScheme.TRUST_ALL
    custom_confidence: Mapping[str, ConfidenceLevel] = field(default_factory=dict)
    minimum_provider_confidence_by_tool_id: Mapping[str, ConfidenceLevel] = field(default_factory=dict)
    default_tool_ids_by_component: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    max_tool_calls: int | None = None
    max_tool_result_characters: int | None = None
    disabled_plugins: frozenset[str] = frozenset()
    allowed_plugins: frozenset[str] | None = None
    tool_settings: Mapping[str, object] = field(default_factory=dict)
    providers: Mapping[str, ProviderEntry] = field(default_factory=dict)
    data_sources: Mapping[str, DataSourceEntry] = field(default_factory=dict)
    problems: tuple[FileProblem, ...] = ()
