"""The table of hosts, and what the plugin contributes."""

import re
from dataclasses import fields

import pytest

from lockgate.policy import PROVIDER_TYPES
from lockgate.providers import ProviderProfile
from lockgate_openai import plugin
from lockgate_openai.chat_completions import ChatCompletionsAdapter
from lockgate_openai.profiles import PROFILES

PLAIN = {"id", "title", "provider_type", "adapter", "base_url", "api_key_variable", "default_model", "evidence"}
FLAGS = {field.name: field.default for field in fields(ProviderProfile) if field.name not in PLAIN}


@pytest.mark.parametrize("profile", PROFILES, ids=lambda profile: profile.id)
def test_every_flag_that_differs_has_its_evidence(profile: ProviderProfile) -> None:
    """What a row says beyond the defaults has a source and a day; and no evidence is for nothing."""
    different = {name for name, default in FLAGS.items() if getattr(profile, name) != default}
    assert different | {"provider_type"} <= profile.evidence.keys() <= FLAGS.keys() | {"provider_type"}
    for evidence in profile.evidence.values():
        assert evidence.source
        assert re.fullmatch(r"20\d\d-\d\d-\d\d", evidence.date)


@pytest.mark.parametrize("profile", PROFILES, ids=lambda profile: profile.id)
def test_a_row_can_be_used_as_it_is(profile: ProviderProfile) -> None:
    """Type, adapter and address of a row are ones that exist."""
    assert profile.provider_type in PROVIDER_TYPES
    assert profile.adapter == ChatCompletionsAdapter.id
    assert not profile.base_url or re.fullmatch(r"https?://[a-z0-9.:-]+/[a-z0-9/]*[a-z0-9]", profile.base_url)


def test_names_are_unique() -> None:
    """No two rows share an ID."""
    assert len({profile.id for profile in PROFILES}) == len(PROFILES)


def test_only_hosts_elsewhere_are_asked_over_https() -> None:
    """Plain http is for this machine alone."""
    for profile in PROFILES:
        if profile.base_url.startswith("http://"):
            assert profile.base_url.startswith("http://localhost:")
            assert profile.provider_type == "SELF_HOSTED"


def test_the_plugin_contributes_the_adapter_and_all_rows() -> None:
    """The hooks return what this distribution brings."""
    assert [adapter.id for adapter in plugin.lockgate_provider_adapters()] == ["chat_completions"]
    assert tuple(plugin.lockgate_provider_profiles()) == PROFILES
