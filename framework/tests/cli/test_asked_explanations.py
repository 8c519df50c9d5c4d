"""`lockgate tools explain` answers as a question now would."""

import json
from pathlib import Path

import pytest
from cli_runs import add_fake, lockgate
from made_packs import make_pack

SETTINGS = """
[assistants.minutes]
tool_ids = []
provider = "mine"

[providers.mine]
profile = "half"
base_url = "http://127.0.0.1:9/v1"
model = "big"
api_key_variable = "MINE"
"""
PROFILE = """
from dataclasses import replace
from lockgate import hookimpl
from lockgate_openai.plugin import lockgate_provider_profiles as known

@hookimpl
def lockgate_provider_profiles():
    return [replace(next(item for item in known() if item.id == "openai"), id="half", models_without_tools=("tiny*",))]
"""


@pytest.fixture
def packs(tmp_path: Path) -> str:
    """A folder for ``PYTHONPATH`` with a pack that brings a profile, and a home that uses it."""
    (tmp_path / "settings.toml").write_text(SETTINGS)
    return make_pack(tmp_path / "packs", "half-profile", PROFILE, lockgate="half = half_profile")


def test_another_model_can_be_named(tmp_path: Path, packs: str) -> None:
    """`--model` is the model that would be asked: here one of which the profile knows that it takes no tools."""
    for given, takes in ((["--model", "tiny-1"], False), (["-m", "tiny-1"], False), ([], True)):
        command = ["tools", "explain", "semantic_search", "-p", "mine", *given, "--json"]
        ran = lockgate(tmp_path, *command, MINE="k", PYTHONPATH=packs)
        assert ran.status == 0, ran
        assert json.loads(ran.out)["model_takes_tools"] is takes


def test_a_tool_beside_the_rules_of_an_assistant_is_told(tmp_path: Path, packs: str) -> None:
    """A question with it could not be asked, so there is nothing to explain; without it the assistant's provider is."""
    ran = lockgate(tmp_path, "ask", "--assistant", "minutes", "-p", "offline", "What was said?")
    assert ran.status == 0, ran
    command = ["tools", "explain", "semantic_search", "--chat", "last"]
    ran = lockgate(tmp_path, *command, "-t", "semantic_search", MINE="k", PYTHONPATH=packs)
    assert ran.status == 2, ran
    assert "The rules of the assistant 'minutes' name its tools" in ran.err
    ran = lockgate(tmp_path, *command, "--json", MINE="k", PYTHONPATH=packs)
    assert ran.status == 0, ran
    assert (json.loads(ran.out)["provider"], json.loads(ran.out)["offered"]) == ("mine", False)


def test_a_switch_in_a_read_only_file_is_refused(tmp_path: Path) -> None:
    """`previews off` does not write over what somebody protected."""
    add_fake(tmp_path, "http://127.0.0.1:9/v1")
    file = tmp_path / "settings.toml"
    before = file.read_text()
    file.chmod(0o400)
    ran = lockgate(tmp_path, "previews", "off", "PRE_RAG_2024")
    assert (ran.status, "read-only (mode 0400)" in ran.err, file.read_text()) == (3, True, before)
