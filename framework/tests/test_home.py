"""Where a user's things live."""

from pathlib import Path

import pytest

from lockgate.errors import ConfigurationError
from lockgate.settings.home import Home


def test_one_variable_moves_everything(tmp_path: Path) -> None:
    """All files and the keyring's entries of a moved home are its own, and finding it makes nothing."""
    home = Home.find({"LOCKGATE_HOME": str(tmp_path / "h")})
    for path in (home.settings_file, home.secrets_file, home.chats_file):
        assert path.is_relative_to(tmp_path / "h")
    assert home.keyring_service != Home.find({}).keyring_service
    assert not (tmp_path / "h").exists()
    assert home == Home.at(tmp_path / "h")


def test_without_the_variable_the_system_says_where(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The folders are those the platform means for configuration and data; a blank variable is none."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "c"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "d"))
    home = Home.find({"LOCKGATE_HOME": " "})
    assert home.settings_file.name == "settings.toml"
    assert "lockgate" in str(home.config_dir)
    assert "lockgate" in str(home.data_dir)


def test_a_relative_home_is_refused() -> None:
    """It would be another one in every folder."""
    with pytest.raises(ConfigurationError, match=r"absolute.*'some/where'"):
        Home.find({"LOCKGATE_HOME": "some/where"})
