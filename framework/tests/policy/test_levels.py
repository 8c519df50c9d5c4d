"""Levels, schemes and what they compare to."""

import pytest

from lockgate.policy import (
    PROVIDER_TYPES,
    ConfidenceLevel,
    ConfidenceScheme,
    OutboundDataRestriction,
    ToolOutboundData,
    is_outbound_data_allowed,
    meets_minimum,
    provider_confidence,
)

L = ConfidenceLevel
S = ConfidenceScheme


def test_levels_have_the_documented_numbers() -> None:
    """The numbers are part of the documents: UNKNOWN lies below every real minimum."""
    assert {level.name: level.value for level in L} == {
        "NONE": 0, "UNTRUSTED": 1, "UNKNOWN": 10, "VERY_LOW": 90, "LOW": 100, "MODERATE": 150, "MEDIUM": 200,
        "HIGH": 300,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("scheme", "expected"),
    [
        (S.TRUST_ALL, {"OPEN_AI": L.MEDIUM, "MISTRAL": L.MEDIUM, "DEEP_SEEK": L.MEDIUM}),
        (S.TRUST_USA_EUROPE, {"OPEN_AI": L.MEDIUM, "MISTRAL": L.MEDIUM, "DEEP_SEEK": L.LOW, "ALIBABA_CLOUD": L.LOW}),
        (S.TRUST_USA, {"OPEN_AI": L.MEDIUM, "MISTRAL": L.LOW, "GWDG": L.LOW, "DEEP_SEEK": L.LOW}),
        (S.TRUST_EUROPE, {"OPEN_AI": L.LOW, "MISTRAL": L.MEDIUM, "HELMHOLTZ": L.MEDIUM, "IONOS": L.MEDIUM}),
        (S.TRUST_ASIA, {"OPEN_AI": L.LOW, "MISTRAL": L.LOW, "DEEP_SEEK": L.MEDIUM, "ALIBABA_CLOUD": L.MEDIUM}),
        (S.LOCAL_TRUST_ONLY, {"OPEN_AI": L.VERY_LOW, "MISTRAL": L.VERY_LOW}),
    ],
)
def test_a_scheme_rates_provider_types_by_its_table(scheme: S, expected: dict[str, L]) -> None:
    """Each scheme follows the documented table; SELF_HOSTED is HIGH under all of them."""
    assert {name: provider_confidence(scheme, name) for name in expected} == expected
    assert provider_confidence(scheme, "SELF_HOSTED") is L.HIGH


@pytest.mark.parametrize("scheme", [scheme for scheme in S if scheme is not S.CUSTOM])
def test_a_type_no_scheme_lists_is_unknown(scheme: S) -> None:
    """A type nobody rated is UNKNOWN, and no provider at all is NONE."""
    assert provider_confidence(scheme, "SOMEBODY_NEW") is L.UNKNOWN
    assert provider_confidence(scheme, "NONE") is L.NONE
    assert all(provider_confidence(scheme, name) >= L.VERY_LOW for name in PROVIDER_TYPES)


def test_the_custom_scheme_reads_its_table_and_nothing_else() -> None:
    """A type missing from a custom table is UNKNOWN, SELF_HOSTED included."""
    table = {"OPEN_AI": L.HIGH}
    assert provider_confidence(S.CUSTOM, "OPEN_AI", table) is L.HIGH
    assert provider_confidence(S.CUSTOM, "SELF_HOSTED", table) is L.UNKNOWN
    assert provider_confidence(S.CUSTOM, "GROQ") is L.UNKNOWN


@pytest.mark.parametrize("level", list(L))
def test_only_none_as_minimum_passes_everyone(level: L) -> None:
    """NONE as minimum passes any provider; otherwise the numbers decide."""
    assert meets_minimum(level, L.NONE)
    assert meets_minimum(level, L.MEDIUM) == (level.value >= 200)


@pytest.mark.parametrize("restriction", list(OutboundDataRestriction))
@pytest.mark.parametrize("data", list(ToolOutboundData))
@pytest.mark.parametrize("enforces", [True, False])
def test_outbound_data_follows_the_documented_table(
    restriction: OutboundDataRestriction, data: ToolOutboundData, *, enforces: bool
) -> None:
    """Below UNRESTRICTED only NONE and CONFIGURED_SERVICE pass, and tools that enforce the restriction themselves."""
    expected = restriction.name == "UNRESTRICTED" or data.name in ("NONE", "CONFIGURED_SERVICE") or enforces
    assert is_outbound_data_allowed(restriction, data, enforces_itself=enforces) is expected


@pytest.mark.parametrize(("text", "level"), [("medium", L.MEDIUM), (" HIGH ", L.HIGH), ("300", None), ("", None)])
def test_a_level_is_read_by_name_only(text: str, level: L | None) -> None:
    """Names count whatever their case; numbers and unknown names do not."""
    assert L.parse(text) is level
