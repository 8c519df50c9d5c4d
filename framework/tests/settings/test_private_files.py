"""Files of the user are replaced as they are, and nothing that is no file is replaced by one."""

import os
import stat
from pathlib import Path

import pytest

from lockgate.errors import ConfigurationError
from lockgate.settings.files import UserSettings
from lockgate.settings.private_files import read_text, replace_text, write_new


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o640])
def test_a_file_keeps_its_mode(tmp_path: Path, mode: int) -> None:
    """Whoever made it readable for a group, or for nobody else, decided that."""
    path = tmp_path / "settings.toml"
    path.write_text("enable_tools = true\n")
    path.chmod(mode)
    UserSettings(path).set_value(("enable_tools",), False)
    assert stat.S_IMODE(path.stat().st_mode) == mode
    assert "false" in path.read_text()


def test_a_mode_can_be_demanded(tmp_path: Path) -> None:
    """A chat in a file that others could read is private from then on."""
    path = tmp_path / "x"
    path.write_text("old")
    path.chmod(0o644)
    replace_text(path, "new", 0o600)
    assert (path.read_text(), stat.S_IMODE(path.stat().st_mode)) == ("new", 0o600)


@pytest.mark.parametrize("mode", [0o400, 0o444])
def test_a_read_only_file_is_refused_in_words(tmp_path: Path, mode: int) -> None:
    """Renaming another file over it would work, and is not what was meant by it."""
    path = tmp_path / "settings.toml"
    path.write_text("enable_tools = true\n")
    path.chmod(mode)
    with pytest.raises(ConfigurationError, match=rf"is read-only \(mode 0{mode:o}\) and is left as it is"):
        UserSettings(path).set_value(("enable_tools",), False)
    assert (path.read_text(), stat.S_IMODE(path.stat().st_mode)) == ("enable_tools = true\n", mode)
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("linked", [False, True])
def test_a_pipe_is_neither_waited_for_nor_replaced(tmp_path: Path, *, linked: bool) -> None:
    """The same for what a link leads to."""
    place = tmp_path / "pipe"
    os.mkfifo(place)
    path = tmp_path / "link" if linked else place
    if linked:
        path.symlink_to(place)
    with pytest.raises(ConfigurationError, match="no regular file"):
        read_text(path)
    with pytest.raises(ConfigurationError, match="no regular file"):
        replace_text(path, "x")
    assert stat.S_ISFIFO(place.stat().st_mode)


def test_a_device_is_not_replaced(tmp_path: Path) -> None:
    """A link to one neither."""
    path = tmp_path / "settings.toml"
    path.symlink_to(os.devnull)
    with pytest.raises(ConfigurationError, match="no regular file"):
        replace_text(path, "x")
    with pytest.raises(ConfigurationError, match="no regular file"):
        UserSettings(path).set_value(("enable_tools",), False)
    assert stat.S_ISCHR(Path(os.devnull).stat().st_mode)


def test_a_new_file_touches_nothing_that_is_there(tmp_path: Path) -> None:
    """Neither a file, nor what a link leads to, nor a folder that is missing."""
    path, link = tmp_path / "a", tmp_path / "link"
    write_new(path, "first")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    link.symlink_to(tmp_path / "elsewhere")
    for place in (path, link, tmp_path / "none" / "b"):
        with pytest.raises(ConfigurationError, match="cannot be written"):
            write_new(place, "second")
    assert path.read_text() == "first"
    assert sorted(item.name for item in tmp_path.iterdir()) == ["a", "link"]


def test_a_new_file_that_cannot_be_finished_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk leaves no half of a chat behind."""

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ConfigurationError, match="No space left"):
        write_new(tmp_path / "a", "x")
    assert list(tmp_path.iterdir()) == []
