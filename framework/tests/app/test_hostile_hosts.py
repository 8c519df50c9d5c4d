"""Hosts that plugins bring: what a profile may claim, what only the user or the organization may say."""

from dataclasses import replace
from typing import Any, cast

import pytest

from lockgate.app import ProviderConfig
from lockgate.app.providers import directory
from lockgate.policy import ConfidenceLevel, ConfidenceScheme, SetBy, SetByKind
from lockgate.providers import ProviderProfile
from lockgate.registry import Contribution, Owner, Rules


class Adapter:
    """Speaks nothing."""

    id = "chat_completions"

    def __init__(self, **attributes: Any) -> None:
        self.__dict__.update(attributes)


def _profile(profile_id: str, **facts: Any) -> ProviderProfile:
    values: dict[str, Any] = {"provider_type": "OPEN_AI", "adapter": "adapter", "default_model": "m", **facts}
    return ProviderProfile(profile_id, profile_id.title(), **values)


def _given(kind: str, value: object, distribution: str) -> Contribution:
    return Contribution(kind, value, Owner(distribution, "1.0", entry_point=distribution))


def test_a_profile_or_adapter_with_a_taken_name_comes_too_late() -> None:
    """The honest one is spoken to, at its own address; both owners are told."""
    mine, theirs = _profile("host", base_url="https://honest.example"), _profile("host", base_url="https://evil.example")
    adapters = [Adapter(id="adapter"), Adapter(id="adapter")]
    found = directory(
        [_given("provider_adapters", adapters[1], "zzz-evil"), _given("provider_adapters", adapters[0], "honest")],
        [_given("provider_profiles", theirs, "zzz-evil"), _given("provider_profiles", mine, "honest")], {},
    )  # fmt: skip
    assert found.profiles["host"].base_url == "https://honest.example"
    assert cast("Any", found.adapters["adapter"]) is adapters[0]
    assert len([why for why in found.problems if "zzz-evil" in why and "honest 1.0" in why]) == 2


def test_an_organization_can_pin_who_has_a_name() -> None:
    """A pack whose distribution sorts first cannot take the name of a host's profile for good."""
    mine, theirs = _profile("host", base_url="https://honest.example"), _profile("host", base_url="https://evil.example")
    profiles = [_given("provider_profiles", theirs, "aaa-evil"), _given("provider_profiles", mine, "honest")]
    adapter = [_given("provider_adapters", Adapter(id="adapter"), "honest")]
    assert directory(adapter, profiles, {}).profiles["host"].base_url == "https://evil.example"
    pinned = directory(adapter, profiles, {}, pins={"host": "Honest"})
    assert pinned.profiles["host"].base_url == "https://honest.example"
    assert [why for why in pinned.problems if "aaa-evil" in why and "honest 1.0" in why]


def test_a_pattern_says_which_models_take_no_tools_and_the_user_knows_better() -> None:
    """What a model can do is data of its host; the ground is told, and an entry of the user wins."""
    profile = _profile("host", models_without_tools=("tiny-*",))
    found = directory([_given("provider_adapters", Adapter(id="adapter"), "honest")],
                      [_given("provider_profiles", profile, "honest")], {})  # fmt: skip
    tiny = found.provider(ProviderConfig("mine", "host", model="Tiny-1b", base_url="http://x", api_key="k"), Rules())
    assert not tiny.standing.can_call_tools
    assert "tiny-*" in tiny.standing.capability_ground
    told = replace(tiny.config, can_call_tools=True)
    assert found.provider(told, Rules()).standing.can_call_tools
    assert found.provider(told, Rules()).standing.capability_by == told.set_by
    assert found.provider(replace(tiny.config, model="large"), Rules()).standing.can_call_tools


def test_a_user_cannot_lift_a_provider_above_the_schemes_of_the_organization() -> None:
    """Where the organization chose the scheme, a level of the user's own counts only when it is stricter."""
    found = directory([_given("provider_adapters", Adapter(id="adapter"), "honest")],
                      [_given("provider_profiles", _profile("host", base_url="http://x"), "honest")], {})  # fmt: skip
    by_organization = SetBy(SetByKind.ORGANIZATION)
    strict = Rules(scheme=ConfidenceScheme.LOCAL_TRUST_ONLY, scheme_by=by_organization)
    levels = ConfidenceLevel
    for level, counts in ((levels.HIGH, levels.VERY_LOW), (levels.NONE, levels.NONE)):
        mine = ProviderConfig("mine", "host", confidence=level, api_key="k")
        assert found.provider(mine, strict).standing.confidence is counts
        theirs = replace(mine, set_by=by_organization)
        assert found.provider(theirs, strict).standing.confidence is level
        own = replace(strict, scheme_by=SetBy(SetByKind.USER))
        assert found.provider(mine, own).standing.confidence is level


@pytest.mark.parametrize("type_name", ["SELF_HOSTED", "self_hosted", "Self_Hosted", "NOBODY_KNOWS"])
def test_a_profile_cannot_call_its_host_self_hosted(type_name: str) -> None:
    """Whatever it claims, its provider is unknown until user or organization rates it."""
    profile = _profile("evil", provider_type=type_name, base_url="https://evil.example", authentication="none")
    found = directory(
        [_given("provider_adapters", Adapter(id="adapter"), "evil")], [_given("provider_profiles", profile, "evil")], {}
    )
    config = ProviderConfig("evil", "evil")
    standing = found.provider(config, Rules()).standing
    assert (standing.confidence, standing.self_hosted, standing.trusted) == (ConfidenceLevel.UNKNOWN, False, False)
    stated = found.provider(replace(config, self_hosted=True), Rules()).standing
    assert stated.self_hosted


@pytest.mark.parametrize("name", ["offline", "Offline"])
def test_a_strangers_offline_profile_is_not_trusted_like_the_frameworks(name: str) -> None:
    """The provider that is there without configuration counts as self-hosted only when it is the real one."""
    found = directory([], [_given("provider_profiles", _profile(name, provider_type="SELF_HOSTED"), "aaa-evil")], {})
    assert not any(config.self_hosted for config in found.configs.values())
