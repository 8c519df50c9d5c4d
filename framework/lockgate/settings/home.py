"""Where a user's things live. Nothing is written elsewhere, and no folder is made before something is written."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lockgate.errors import ConfigurationError

HOME_VARIABLE = "LOCKGATE_HOME"
"""The environment variable that moves everything into one folder."""

_SERVICE = "lockgate"


@dataclass(frozen=True, slots=True)
class Home:
    """The folders of one user.

    Attributes:
        config_dir: Holds ``settings.toml``, and ``secrets.toml`` where there is no keyring.
        data_dir: Holds chats and indexes.
        keyring_service: The name under which the OS keyring keeps the secrets of this home.
    """

    config_dir: Path
    data_dir: Path
    keyring_service: str = _SERVICE

    @classmethod
    def find(cls, environment: Mapping[str, str] | None = None) -> "Home":
        """Return the home of the user: the folder in ``LOCKGATE_HOME``, else the folders the system means for it.

        Args:
            environment: Variables to look at; those of the process by default.

        Raises:
            ConfigurationError: ``LOCKGATE_HOME`` is no absolute path.
        """
        moved = (os.environ if environment is None else environment).get(HOME_VARIABLE, "").strip()
        if moved:
            return cls.at(moved)
        import platformdirs

        return cls(
            platformdirs.user_config_path("lockgate", appauthor=False),
            platformdirs.user_data_path("lockgate", appauthor=False),
        )

    @classmethod
    def at(cls, folder: str | Path) -> "Home":
        """Return the home that lies in one folder, secrets in the keyring kept apart as well.

        Raises:
            ConfigurationError: The path is not absolute; it would mean another home in every working folder.
        """
        path = Path(folder).expanduser()
        if not path.is_absolute():
            raise ConfigurationError(f"{HOME_VARIABLE} has to be an absolute path; it is {str(folder)[:200]!r}.")
        return cls(path, path / "data", f"{_SERVICE}:{path}")

    @property
    def settings_file(self) -> Path:
        """The user's settings."""
        return self.config_dir / "settings.toml"

    @property
    def secrets_file(self) -> Path:
        """Secrets, where the system has no keyring."""
        return self.config_dir / "secrets.toml"

    @property
    def chats_file(self) -> Path:
        """The chat store."""
        return self.data_dir / "chats.sqlite3"
