"""What stands in ``settings.toml``, as values.

The layout (everything is optional)::

    enable_tools = true                        # false switches all tools off
    disabled_tool_ids = ["web_search"]         # tools or collections
    trusted_provider_ids = ["office"]          # may see content that is for self-hosted providers only
    default_provider = "office"
    visible_tool_selection_components = ["WRITER"]   # components that show the tool selection although others hide it

    [confidence]
    scheme = "CUSTOM"                          # or TRUST_ALL, TRUST_EUROPE, LOCAL_TRUST_ONLY, ...
    custom = { MISTRAL = "HIGH" }              # provider type -> level, for CUSTOM
    enforce_global_minimum = true              # every provider needs the next level, whatever a chat holds
    global_minimum = "LOW"

    [minimum_provider_confidence_by_tool_id]
    web_search = "MEDIUM"

    [default_tool_ids_by_component]
    CHAT = ["semantic_search"]

    [previews]
    PRE_RAG_2024 = true                        # preview features are on unless they are switched off

    [limits]
    max_tool_calls = 15                        # calls in one answer
    max_tool_result_characters = 300000        # characters of results in one answer
    max_restricted_calls = 10                  # calls in one answer that leave the configured services of a bound chat

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

    [chat_templates.research]                  # what a new chat can begin with
    name = "Research"
    system_prompt = "Name the source of each fact."
    tool_ids = ["web_search"]                  # left out: the defaults of chats

    [assistants.minutes]                       # a prompt for one kind of work, with rules of its own about tools
    name = "Minutes"
    description = "Turns notes into minutes."
    system_prompt = "Write minutes of a meeting."
    component = "META_ASSISTANT"
    tool_ids = []                              # no tool at all; left out: it has no rule about tools
    provider = "office"

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
class ChatTemplateEntry:
    """A chat template as the file has it; no `tool_ids` leaves the selection to the defaults."""

    id: str
    name: str = ""
    system_prompt: str = ""
    tool_ids: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class AssistantEntry:
    """An assistant as the file has it.

    Attributes:
        id: Its name in the file.
        name: What people call it; the ID where the file gives none.
        system_prompt: What it is told.
        component: Name of the component it counts as, upper-cased; whether there is such a component is not known here.
        tool_ids: The tools its rules name; None when it has no such rule.
        provider: ID of the provider it asks; empty for the default one.
        description: What it is for.
    """

    id: str
    name: str = ""
    system_prompt: str = ""
    component: str = "META_ASSISTANT"
    tool_ids: tuple[str, ...] | None = None
    provider: str = ""
    description: str = ""


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
        enforce_global_minimum: Every provider needs `global_minimum`; also while nobody can tell whether it does.
        global_minimum: That level; NONE while it is not enforced.
        previews: Name of a preview feature → whether it is on.
        all_previews_off: Nobody can tell which previews the file switches off.
        visible_selection_components: Components that show the tool selection although others hide it.
        max_restricted_calls: Calls in one answer beyond configured services while the chat restricts where its data
            goes; None where the file does not say.
        chat_templates: Chat templates by ID.
        assistants: Assistants by ID.
        tools_off_by: The key that switches all tools off, while they are off.
        global_minimum_by: The key that says so, while a minimum is enforced.
        unusable_tools: Tools that are off because their settings cannot be read.
        default_provider_problem: What is wrong with `default_provider`; empty when nothing is.
        broken_providers: ID of a provider whose entry cannot be used → what is wrong with it.
        broken_data_sources: ID of a data source whose entry cannot be used → the texts in it, its path among them.
        lines: Each key there is, to a depth of three names → its line, None where that is not certain.
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
    enforce_global_minimum: bool = False
    global_minimum: ConfidenceLevel = ConfidenceLevel.NONE
    previews: Mapping[str, bool] = field(default_factory=dict)
    all_previews_off: bool = False
    visible_selection_components: frozenset[str] = frozenset()
    max_restricted_calls: int | None = None
    chat_templates: Mapping[str, ChatTemplateEntry] = field(default_factory=dict)
    assistants: Mapping[str, AssistantEntry] = field(default_factory=dict)
    tools_off_by: tuple[str, ...] = ("enable_tools",)
    global_minimum_by: tuple[str, ...] = ("confidence", "global_minimum")
    unusable_tools: frozenset[str] = frozenset()
    default_provider_problem: str = ""
    broken_providers: Mapping[str, str] = field(default_factory=dict)
    broken_data_sources: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    lines: Mapping[tuple[str, ...], int | None] = field(default_factory=dict, compare=False, repr=False)
