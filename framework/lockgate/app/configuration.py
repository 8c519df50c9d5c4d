"""What a ``Lockgate`` is configured with: one frozen value, made from settings files or handed over in code."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from lockgate.app.templates import Assistant, ChatTemplate
from lockgate.plugin_host.policy import HostPolicy
from lockgate.policy import BY_USER, ConfidenceLevel, SetBy
from lockgate.registry.rules import Rules


@dataclass(frozen=True, slots=True, repr=False)
class ProviderConfig:
    """A configured provider. Trust is stated here, never in a profile.

    Attributes:
        id: Unique among providers.
        profile: ID of the profile that says how its host speaks.
        name: What people call it.
        base_url: Where its API lives; the profile's address when empty.
        model: The model to ask; the profile's default when empty.
        api_key: The key; when empty, the stored secret is used, then the profile's usual environment variable.
        api_key_variable: Environment variable that holds the key. When it is named, nothing else is tried: the key of
            another account would be used by mistake.
        self_hosted: The user or the organization runs it.
        confidence: The level it has whatever the scheme says; None leaves it to the scheme.
        can_call_tools: Whether its model takes tools; None when nobody said.
        parameters: Further members of each request.
        set_by: Who configured it.
    """

    id: str
    profile: str
    name: str = ""
    base_url: str = ""
    model: str = ""
    api_key: str = ""
    api_key_variable: str = ""
    self_hosted: bool = False
    confidence: ConfidenceLevel | None = None
    can_call_tools: bool | None = None
    parameters: Mapping[str, object] = field(default_factory=dict)
    set_by: SetBy = BY_USER

    def __repr__(self) -> str:
        return f"ProviderConfig(id={self.id!r}, profile={self.profile!r}, model={self.model!r})"


@dataclass(frozen=True, slots=True)
class InstanceConfig:
    """A configured instance of a kind that plugins declare, such as a data source: settings as stored."""

    id: str
    kind: str
    family: str
    name: str = ""
    values: Mapping[str, object] = field(default_factory=dict)
    set_by: SetBy = BY_USER


def no_secrets(name: str) -> str | None:
    """Know no secret."""
    del name
    return None


@dataclass(frozen=True, slots=True)
class Configuration:
    """Everything a ``Lockgate`` starts with.

    Attributes:
        rules: The rules in force.
        providers: Configured providers by ID.
        instances: Configured instances of other families.
        host: Which plugins may load.
        default_provider: The provider asked when none is named; empty for the built-in reader.
        secret: Returns a stored secret by name, or None; asked only when a secret is needed.
        chat_templates: What new chats can begin with, by ID.
        assistants: Assistants by ID.
        refused_providers: ID of a provider whose entry in the files cannot be used → why.
        broken_sources: ID of a data source whose entry in the files cannot be used → the texts in it, its path among
            them. What lies there is not free for everybody because the entry is wrong.
        problems: What in the files could not be used, in sentences for a person.
    """

    rules: Rules = field(default_factory=Rules)
    providers: Mapping[str, ProviderConfig] = field(default_factory=dict)
    instances: tuple[InstanceConfig, ...] = ()
    host: HostPolicy = field(default_factory=HostPolicy)
    default_provider: str = ""
    secret: Callable[[str], str | None] = no_secrets
    chat_templates: Mapping[str, ChatTemplate] = field(default_factory=dict)
    assistants: Mapping[str, Assistant] = field(default_factory=dict)
    refused_providers: Mapping[str, str] = field(default_factory=dict)
    broken_sources: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    problems: tuple[str, ...] = ()
