"""Levels and requirements: frozen values, and the only code that compares levels.

Nothing here does I/O or knows a tool. A requirement only ever rises: :class:`ChatRequirements` is a
join-semilattice, and there is no function that lowers one. A value nobody knows is read as the strictest.
The names and tables are those of MindWork AI Studio's ``Tools.md`` and its settings.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import Enum, IntEnum
from types import MappingProxyType

from lockgate.errors import ConfigurationError


class ConfidenceLevel(IntEnum):
    """How far an organization trusts a provider. Compared by number; UNKNOWN lies below every real minimum."""

    NONE = 0
    UNTRUSTED = 1
    UNKNOWN = 10
    VERY_LOW = 90
    LOW = 100
    MODERATE = 150
    MEDIUM = 200
    HIGH = 300

    @classmethod
    def parse(cls, text: str) -> "ConfidenceLevel | None":
        """Return the level of that name, whatever its case, or None for a name nobody knows."""
        return cls.__members__.get(text.strip().upper())


class ConfidenceScheme(Enum):
    """Which table rates a provider type."""

    TRUST_ALL = "TRUST_ALL"
    TRUST_USA_EUROPE = "TRUST_USA_EUROPE"
    TRUST_USA = "TRUST_USA"
    TRUST_EUROPE = "TRUST_EUROPE"
    TRUST_ASIA = "TRUST_ASIA"
    LOCAL_TRUST_ONLY = "LOCAL_TRUST_ONLY"
    CUSTOM = "CUSTOM"


class DataSourceSecurity(IntEnum):
    """Which providers may see the content of a data source."""

    NOT_SPECIFIED = 0
    ALLOW_ANY = 1
    SELF_HOSTED = 2


class ToolOutboundData(IntEnum):
    """Where the arguments of a tool can go. A tool that says nothing counts as the most open kind."""

    NONE = 0
    CONFIGURED_SERVICE = 1
    THIRD_PARTY_QUERIES = 2
    MODEL_CHOSEN_ADDRESSES = 3


class OutboundDataRestriction(IntEnum):
    """Where a chat may still send data, in rising strictness."""

    UNRESTRICTED = 0
    ONLY_LINKS_FROM_CHAT = 1
    ONLY_CONFIGURED_SERVICES = 2


SELF_HOSTED_TYPE = "SELF_HOSTED"
"""The provider type of a host that the user or the organization runs."""

PROVIDER_TYPES: tuple[str, ...] = (
    "OPEN_AI", "ANTHROPIC", "MISTRAL", "GOOGLE", "X", "DEEP_SEEK", "ALIBABA_CLOUD", "PERPLEXITY", "OPEN_ROUTER",
    "HETZNER", "FIREWORKS", "GROQ", "HUGGINGFACE", "SELF_HOSTED", "HELMHOLTZ", "GWDG", "IONOS", "REQUESTY",
)
"""The provider types the schemes were made for. Any other type is UNKNOWN until user or organization rates it."""

_EUROPEAN = ("MISTRAL", "HELMHOLTZ", "GWDG", "HETZNER", "IONOS")
_ASIAN = ("DEEP_SEEK", "ALIBABA_CLOUD")
_L = ConfidenceLevel
_SCHEMES: Mapping[ConfidenceScheme, tuple[ConfidenceLevel, Mapping[str, ConfidenceLevel]]] = MappingProxyType({
    ConfidenceScheme.TRUST_ALL: (_L.MEDIUM, {}),
    ConfidenceScheme.TRUST_USA_EUROPE: (_L.MEDIUM, dict.fromkeys(_ASIAN, _L.LOW)),
    ConfidenceScheme.TRUST_USA: (_L.MEDIUM, dict.fromkeys((*_EUROPEAN, *_ASIAN), _L.LOW)),
    ConfidenceScheme.TRUST_EUROPE: (_L.LOW, dict.fromkeys(_EUROPEAN, _L.MEDIUM)),
    ConfidenceScheme.TRUST_ASIA: (_L.LOW, dict.fromkeys(_ASIAN, _L.MEDIUM)),
    ConfidenceScheme.LOCAL_TRUST_ONLY: (_L.VERY_LOW, {}),
})


def provider_confidence(
    scheme: ConfidenceScheme, provider_type: str, custom: Mapping[str, ConfidenceLevel] | None = None
) -> ConfidenceLevel:
    """Rate a provider type under a scheme.

    Args:
        scheme: The table to read.
        provider_type: A name out of :data:`PROVIDER_TYPES`, ``NONE`` for no provider, or anything else.
        custom: The table of the CUSTOM scheme.

    Returns:
        NONE for no provider; UNKNOWN for a type the table does not rate.
    """
    if provider_type in ("", "NONE"):
        return ConfidenceLevel.NONE
    if scheme is ConfidenceScheme.CUSTOM:
        return (custom or {}).get(provider_type, ConfidenceLevel.UNKNOWN)
    if provider_type not in PROVIDER_TYPES:
        return ConfidenceLevel.UNKNOWN
    if provider_type == SELF_HOSTED_TYPE:
        return ConfidenceLevel.HIGH
    level, exceptions = _SCHEMES[scheme]
    return exceptions.get(provider_type, level)


class SetByKind(Enum):
    """Who can set a rule."""

    BUILT_IN = "built in"
    USER = "user"
    ORGANIZATION = "organization"
    DATA_SOURCE = "data source"


@dataclass(frozen=True, slots=True)
class SetBy:
    """Who set a rule: the kind, a name to show, and where it stands in a file when that is known."""

    kind: SetByKind
    name: str = ""
    file: str = ""
    line: int | None = None

    def __str__(self) -> str:
        """Words for a person, such as ``organization (plugin.lua:12)`` or ``data source 'Contracts'``."""
        place = f"{self.file}:{self.line}" if self.file and self.line is not None else self.file
        named = f"{self.kind.value} {self.name!r}" if self.name else self.kind.value
        return f"{named} ({place})" if place else named

    @property
    def phrase(self) -> str:
        """Words that go on a sentence: ``set by user (settings.toml:3)``, ``built in``."""
        return "built in" if self.kind is SetByKind.BUILT_IN and not self.name else f"set by {self}"


BUILT_IN = SetBy(SetByKind.BUILT_IN)
BY_USER = SetBy(SetByKind.USER)


@dataclass(frozen=True, slots=True)
class ProviderStanding:
    """All that a rule may know of a configured provider.

    Attributes:
        id: The instance's ID.
        type: Its provider type, such as ``OPEN_AI``.
        confidence: The level it has under the scheme in force.
        self_hosted: The user or organization runs it.
        trusted: Its ID is among ``DataSourceSecuritySettings.TrustedProviderIds``; satisfies data-source security only.
        can_call_tools: The model takes tools.
        capability_ground: Why that is believed, for a person.
        confidence_by: Who set the level: the scheme, or a level given to this provider alone.
        capability_by: Who said whether the model takes tools.
    """

    id: str
    type: str
    confidence: ConfidenceLevel
    self_hosted: bool = False
    trusted: bool = False
    can_call_tools: bool = True
    capability_ground: str = "assumed for a model nobody described"
    confidence_by: SetBy = BUILT_IN
    capability_by: SetBy = BUILT_IN


@dataclass(frozen=True, slots=True)
class Minimum:
    """A minimum of provider confidence that somebody set.

    Raises:
        ConfigurationError: The level is no member of its enumeration: its name or its number would compare wrongly.
    """

    level: ConfidenceLevel
    set_by: SetBy

    def __post_init__(self) -> None:
        _check_minimum(self, ConfidenceLevel)


@dataclass(frozen=True, slots=True)
class OutboundMinimum:
    """The least outbound restriction that somebody set for all chats.

    Raises:
        ConfigurationError: The level is no member of its enumeration.
    """

    level: OutboundDataRestriction
    set_by: SetBy

    def __post_init__(self) -> None:
        _check_minimum(self, OutboundDataRestriction)


def is_member(kind: type[Enum], value: object) -> bool:
    """Tell whether a value is itself one of the members of an enumeration, not only equal to one or made like one."""
    return type(value) is kind and any(value is member for member in kind.__members__.values())


def _check_minimum(minimum: Minimum | OutboundMinimum, kind: type[Enum]) -> None:
    """Refuse a minimum of a wrong type. NaN compares with nothing, so that every provider would pass."""
    name = type(minimum).__name__
    level: object = minimum.level
    by: object = minimum.set_by
    if not is_member(kind, level):
        arrived = repr(level)[:60] if type(level) in {str, int, float, bool} else f"of type {type(level).__name__}"
        right = f"a member of {kind.__name__}, such as {kind.__name__}.{list(kind.__members__)[-1]}"
        raise ConfigurationError(f"{name}.level is {arrived}; right is {right}.")
    if not isinstance(by, SetBy) or type(by.kind) is not SetByKind:
        arrived = repr(by)[:60] if type(by) is str else f"of type {type(by).__name__}"
        raise ConfigurationError(f"{name}.set_by is {arrived}; right is a SetBy of a SetByKind, such as BY_USER.")


class DenialReason(Enum):
    """Why a provider may not have the content of a chat."""

    GLOBAL_MINIMUM = "global_minimum"
    CONFIDENCE = "confidence"
    DATA_SECURITY = "data_security"


@dataclass(frozen=True, slots=True)
class Denial:
    """Why a provider may not have the content of a chat: the reason, who demanded it, and words for a person."""

    reason: DenialReason
    set_by: SetBy
    why: str


@dataclass(frozen=True, slots=True)
class ChatRequirements:
    """What a chat demands of providers and tools. Join only raises; no function lowers.

    Attributes:
        confidence: The least level a provider needs.
        data_security: SELF_HOSTED admits only self-hosted or trusted providers.
        outbound: How far data may still travel.
        confidence_by, data_security_by, outbound_by: Who demanded the level reached; the first one stays named.
    """

    confidence: ConfidenceLevel = ConfidenceLevel.NONE
    data_security: DataSourceSecurity = DataSourceSecurity.NOT_SPECIFIED
    outbound: OutboundDataRestriction = OutboundDataRestriction.UNRESTRICTED
    confidence_by: SetBy = BUILT_IN
    data_security_by: SetBy = BUILT_IN
    outbound_by: SetBy = BUILT_IN

    def join(self, other: "ChatRequirements") -> "ChatRequirements":
        """Return the stricter of both in each axis; `self` itself when nothing rises (compare with ``is``)."""
        if (
            other.confidence <= self.confidence
            and other.data_security <= self.data_security
            and other.outbound <= self.outbound
        ):
            return self
        joined = self
        if other.confidence > self.confidence:
            joined = replace(joined, confidence=other.confidence, confidence_by=other.confidence_by)
        if other.data_security > self.data_security:
            joined = replace(joined, data_security=other.data_security, data_security_by=other.data_security_by)
        if other.outbound > self.outbound:
            joined = replace(joined, outbound=other.outbound, outbound_by=other.outbound_by)
        return joined

    def renamed(self, naming: Callable[[str], str]) -> "ChatRequirements":
        """Return the same demands with the names of who demands them passed through a function, such as masking."""
        by = (replace(by, name=naming(by.name)) if by.name else by for by in (
            self.confidence_by, self.data_security_by, self.outbound_by
        ))  # fmt: skip
        return ChatRequirements(self.confidence, self.data_security, self.outbound, *by)

    def admits(self, standing: ProviderStanding) -> Denial | None:
        """Say why this provider may not have the chat's content, or None when it may.

        Being trusted satisfies data-source security, never the confidence level.
        """
        if standing.confidence < self.confidence:
            return Denial(
                DenialReason.CONFIDENCE,
                self.confidence_by,
                f"This chat requires a provider with confidence {self.confidence.name} or higher, "
                f"{self.confidence_by.phrase}; the provider {standing.id!r} has {standing.confidence.name}.",
            )
        if self.data_security >= DataSourceSecurity.SELF_HOSTED and not (standing.self_hosted or standing.trusted):
            return Denial(
                DenialReason.DATA_SECURITY,
                self.data_security_by,
                f"This chat holds content for self-hosted providers only, {self.data_security_by.phrase}; "
                f"the provider {standing.id!r} is not self-hosted.",
            )
        return None


NOTHING = ChatRequirements()
"""The bottom of the lattice: nothing is demanded."""


def admission(
    requirements: ChatRequirements, standing: ProviderStanding, global_minimum: Minimum | None = None
) -> Denial | None:
    """Say why a provider may not have the content of a chat, or None when it may.

    The one question in front of everything that hands content to a provider.

    Args:
        requirements: What the chat demands.
        standing: The provider.
        global_minimum: What is demanded of every provider, whatever a chat holds
            (``EnforceGlobalMinimumConfidence``); None when nothing is.
    """
    if global_minimum is not None and not meets_minimum(standing.confidence, global_minimum.level):
        return Denial(
            DenialReason.GLOBAL_MINIMUM,
            global_minimum.set_by,
            f"Every provider needs confidence {global_minimum.level.name} or higher, {global_minimum.set_by.phrase}; "
            f"the provider {standing.id!r} has {standing.confidence.name}.",
        )
    return requirements.admits(standing)


def meets_minimum(confidence: ConfidenceLevel, minimum: ConfidenceLevel) -> bool:
    """Tell whether a level reaches a minimum. NONE as minimum passes every provider."""
    return minimum is ConfidenceLevel.NONE or confidence >= minimum


def is_outbound_data_allowed(
    restriction: OutboundDataRestriction, outbound_data: ToolOutboundData, *, enforces_itself: bool
) -> bool:
    """Tell whether a tool may run at a chat's outbound level.

    Below UNRESTRICTED only tools whose data stays with configured services may run, and tools which refuse what goes
    too far themselves.
    """
    return (
        restriction is OutboundDataRestriction.UNRESTRICTED
        or outbound_data <= ToolOutboundData.CONFIGURED_SERVICE
        or enforces_itself
    )


def requirements_from_stored(
    confidence: str, data_security: str, outbound: str, *, by: tuple[SetBy, SetBy, SetBy] = (BUILT_IN,) * 3
) -> ChatRequirements:
    """Read requirements back from member names. A name nobody knows becomes the strictest member."""
    level = ConfidenceLevel.parse(confidence)
    security = DataSourceSecurity.__members__.get(data_security, DataSourceSecurity.SELF_HOSTED)
    restriction = OutboundDataRestriction.__members__.get(outbound, OutboundDataRestriction.ONLY_CONFIGURED_SERVICES)
    return ChatRequirements(ConfidenceLevel.HIGH if level is None else level, security, restriction, *by)
