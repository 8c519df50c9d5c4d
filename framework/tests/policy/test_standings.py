"""How far a configured provider is trusted: its type, the scheme, a level of its own, and who said so."""

from dataclasses import replace
from itertools import product

import pytest

from lockgate.app.configuration import ProviderConfig
from lockgate.app.providers import standing_of
from lockgate.policy import (
    BUILT_IN,
    BY_USER,
    ConfidenceLevel,
    ConfidenceScheme,
    ProviderStanding,
    SetBy,
    SetByKind,
)
from lockgate.providers import ProviderProfile
from lockgate.registry import Rules

L = ConfidenceLevel
ORGANIZATION = SetBy(SetByKind.ORGANIZATION, "Acme", "plugin.lua", 3)
PROFILE = ProviderProfile(
    "host", "Host", provider_type="MISTRAL", adapter="scripted", default_model="Small-1",
    models_without_tools=("small-*", "TINY?"),
)
SERVER = replace(PROFILE, provider_type="SELF_HOSTED")
EUROPE = Rules(scheme=ConfidenceScheme.TRUST_EUROPE, scheme_by=BY_USER)


def _standing(config: ProviderConfig | None = None, profile: ProviderProfile = PROFILE, rules: Rules = EUROPE,
              **changes: object) -> ProviderStanding:
    made = replace(config or ProviderConfig("P", "host"), **changes)  # type: ignore[arg-type] # fields of a provider
    return standing_of(made, profile, rules)


def test_the_scheme_rates_the_type_of_the_profile() -> None:
    """Its level and whoever chose the scheme; nothing else is trusted about it."""
    standing = _standing()
    assert (standing.id, standing.type) == ("P", "MISTRAL")
    assert (standing.confidence, standing.confidence_by) == (L.MEDIUM, BY_USER)
    assert (standing.self_hosted, standing.trusted) == (False, False)
    assert _standing(rules=Rules(scheme=ConfidenceScheme.TRUST_USA)).confidence is L.LOW
    assert _standing(rules=Rules()).confidence_by == BUILT_IN


def test_a_custom_scheme_is_the_table_of_the_rules() -> None:
    """Types it does not rate are unknown."""
    rules = Rules(scheme=ConfidenceScheme.CUSTOM, custom_scheme={"MISTRAL": L.HIGH}, scheme_by=ORGANIZATION)
    standing = _standing(rules=rules)
    assert (standing.confidence, standing.confidence_by) == (L.HIGH, ORGANIZATION)
    assert _standing(profile=replace(PROFILE, provider_type="GROQ"), rules=rules).confidence is L.UNKNOWN


def test_only_an_instance_can_say_that_it_is_self_hosted() -> None:
    """A profile for servers that people run themselves says nothing of where this one stands."""
    here = _standing(self_hosted=True)
    assert (here.type, here.self_hosted, here.confidence) == ("SELF_HOSTED", True, L.HIGH)
    server = _standing(profile=SERVER)
    assert (server.type, server.self_hosted, server.confidence) == ("UNKNOWN", False, L.UNKNOWN)
    both = _standing(profile=SERVER, self_hosted=True)
    assert (both.type, both.self_hosted, both.confidence) == ("SELF_HOSTED", True, L.HIGH)


def test_trust_of_the_organization_is_by_id_whatever_its_case() -> None:
    """The rules hold IDs in lower case."""
    rules = replace(EUROPE, trusted_provider_ids=frozenset({"p"}))
    assert _standing(rules=rules).trusted
    assert not _standing(rules=rules, id="Q").trusted
    assert not _standing(rules=rules).self_hosted


@pytest.mark.parametrize("own", list(L), ids=lambda level: level.name)
@pytest.mark.parametrize("scheme_by", [BUILT_IN, BY_USER, ORGANIZATION], ids=lambda by: by.kind.name)
@pytest.mark.parametrize("config_by", [BUILT_IN, BY_USER, ORGANIZATION], ids=lambda by: by.kind.name)
def test_a_level_of_its_own_counts_unless_it_loosens_the_scheme_of_the_organization(
    own: ConfidenceLevel, scheme_by: SetBy, config_by: SetBy
) -> None:
    """Over all levels: under the organization's scheme others may only trust less, the organization as it says."""
    standing = _standing(rules=replace(EUROPE, scheme_by=scheme_by), confidence=own, set_by=config_by)
    bound = scheme_by is ORGANIZATION and config_by is not ORGANIZATION
    if bound and own >= L.MEDIUM:
        assert (standing.confidence, standing.confidence_by) == (L.MEDIUM, scheme_by)
    else:
        assert (standing.confidence, standing.confidence_by) == (own, config_by)


def test_whether_the_model_takes_tools_is_said_by_the_provider_then_by_the_profile() -> None:
    """The word for the provider goes first; then patterns of the profile, on the model asked or the default one."""
    for stated, model, by in product((True, False), ("small-2", "large"), (BY_USER, ORGANIZATION)):
        standing = _standing(can_call_tools=stated, model=model, set_by=by)
        assert standing.can_call_tools is stated
        assert standing.capability_by == by
        assert standing.capability_ground == "stated for the provider 'P'"
    listed = _standing()  # the default model of the profile
    assert (listed.can_call_tools, listed.capability_by) == (False, BUILT_IN)
    assert listed.capability_ground == "the profile 'host' lists 'small-*' among models without tools"
    assert "'TINY?'" in _standing(model="tinyX").capability_ground
    for model in ("Large-1", "tiny", "my-small-1"):
        open_question = _standing(model=model)
        assert (open_question.can_call_tools, open_question.capability_by) == (True, BUILT_IN)
        assert open_question.capability_ground == "assumed for a model nobody described"


def test_a_standing_nobody_described_is_trusted_with_nothing_more_than_its_level() -> None:
    """What is left out is the safe side: not self-hosted, not trusted, by nobody's word; models take tools."""
    standing = ProviderStanding("p", "T", L.LOW)
    assert (standing.self_hosted, standing.trusted, standing.can_call_tools) == (False, False, True)
    assert (standing.confidence_by, standing.capability_by) == (BUILT_IN, BUILT_IN)
