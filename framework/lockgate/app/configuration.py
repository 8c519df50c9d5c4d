"""What a ``Lockgate`` is configured with: one frozen value, made from settings files or handed over in code."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from lockgate.app.templates import Assistant, ChatTemplate
from lockgate.plugin_host.policy import HostPolicy
from lockgate.policy import BY_USER, ConfidenceLevel, SetBy
from lockgate.registry.rules import Rules
from lockgate.settings.typed import Fields


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

    def __post_init__(self) -> None:
        check = Fields(self)
        check.ids("id", "profile")
        check.texts("name", "base_url", "model", "api_key_variable")
        check.texts("api_key", is_private=True)
        check.flags("self_hosted")
        check.member("confidence", ConfidenceLevel, optional=True)
        check.flags("can_call_tools", optional=True)
        check.open_tables("parameters", plain=True)
        check.set_by("set_by")

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

    def __post_init__(self) -> None:
        check = Fields(self)
        check.ids("id", "kind", "family")
        check.texts("name")
        check.open_tables("values", plain=True)
        check.set_by("set_by")


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
        place: The settings file it was read from; empty for a configuration made in code.
        lines: Key as it is written in that file, such as ``limits.max_tool_calls`` → its line, where that is certain.
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
    place: str = ""
    lines: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check = Fields(self)
        check.values(Rules, "rules")
        check.named("providers", ProviderConfig)
        check.tuple_of("instances", InstanceConfig)
        check.values(HostPolicy, "host")
        check.texts("default_provider", "place")
        if not callable(self.secret):
            raise check.wrong("secret", "a function that returns the secret of a name, or None", is_private=True)
        check.named("chat_templates", ChatTemplate)
        check.named("assistants", Assistant)
        check.table("refused_providers", str)
        check.table_of_tuples("broken_sources")
        check.tuple_of_texts("problems", "sentences")
        check.table("lines", int)

    def told(self, text: str, *keys: str) -> str:
        """Return a sentence about a setting with the file it stands in, and the line of the first key that has one."""
        return told_in(self.place, self.lines, text, *keys)


def told_in(place: str, lines: Mapping[str, int], text: str, *keys: str) -> str:
    """Return a sentence about a setting with file and line; see `Configuration.told`."""
    if not place:
        return text
    line = next((lines[key] for key in keys if key in lines), None)
    return f"In {place}: {text}" if line is None else f"In {place}:{line}: {text}"
