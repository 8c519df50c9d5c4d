"""Keys that say in other words what a rule says: what they were to demand is taken as the strictest."""

import tomllib

import pytest

from lockgate.policy import ConfidenceLevel
from lockgate.settings.file_reading import settings_from_table
from lockgate.settings.file_values import SettingsFile


def read(text: str) -> SettingsFile:
    """Read a settings file."""
    return settings_from_table(tomllib.loads(text), text)


@pytest.mark.parametrize("also", ["", "[confidence]\nscheme = \"TRUST_ALL\"\n"], ids=["alone", "beside confidence"])
def test_a_minimum_under_another_name_demands_high_of_everybody(also: str) -> None:
    """Nobody can tell of which tools it was to be demanded; the key is named."""
    found = read(f'{also}[minimum_confidence]\nweb_search = "LOW"\n')
    assert (found.enforce_global_minimum, found.global_minimum) == (True, ConfidenceLevel.HIGH)
    assert any(problem.key == "minimum_confidence" and "HIGH" in problem.text for problem in found.problems)


@pytest.mark.parametrize("key", ["minimum_confidence", "confidence_level", "Confidence", "confidense"])
def test_a_level_of_a_data_source_under_another_name_leaves_it_out(key: str) -> None:
    """It would be searched for everybody otherwise."""
    found = read(f'[data_sources.contracts]\nkind = "local_folder"\npath = "/srv/contracts"\n{key} = "HIGH"\n')
    assert dict(found.data_sources) == {}
    assert "contracts" in found.broken_data_sources
    fine = read('[data_sources.c]\nkind = "k"\nconfidence = "LOW"\nconfidence_note = "x"\n')
    assert "c" in fine.data_sources


def test_a_preview_in_small_letters_is_switched_off_as_well() -> None:
    """Names of previews are written in capitals, and a person may not know."""
    found = read("[previews]\npre_rag_2024 = false\n")
    assert found.previews["PRE_RAG_2024"] is False
    assert "PRE_RAG_2024" not in read("[previews]\npre_rag_2024 = true\n").previews


def test_a_misspelt_ability_of_a_model_leaves_the_provider_out() -> None:
    """It would be offered tools that its user said it cannot take."""
    found = read('[providers.small]\nprofile = "openai"\ncan_call_tool = false\n')
    assert dict(found.providers) == {}
    assert "can_call_tools" in found.broken_providers["small"]
