"""Secrets: in the keyring of the system where there is a real one, else in a file for the user alone.

A keyring that stores plain text, or nothing, counts as none. A secret that cannot be read is absent, and the reason is
told. https://keyring.readthedocs.io/
"""

import os
import stat
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from lockgate.errors import ConfigurationError
from lockgate.settings.private_files import read_text, replace_text

_FILE_HEAD = "# Secrets, as plain text. This file is for you alone (mode 0600).\n\n"
_NO_KEYRINGS = ("keyring.backends.fail", "keyring.backends.null", "keyring.backends.chainer", "keyrings.alt")


class SecretBackend(Protocol):
    """What is asked of a keyring."""

    def get_password(self, service: str, username: str) -> str | None:
        """Return a secret, or None."""

    def set_password(self, service: str, username: str, password: str) -> None:
        """Keep a secret."""

    def delete_password(self, service: str, username: str) -> None:
        """Forget a secret; raises when there is none."""


def tool_secret_name(tool_id: str, field_name: str) -> str:
    """Return the name under which a secret of a tool's settings is kept: ``toolId.fieldName``."""
    return f"{tool_id}.{field_name}"


def provider_secret_name(provider_id: str) -> str:
    """Return the name under which the key of a provider is kept. Its colon sets it apart from those of tools."""
    return f"provider:{provider_id}"


def system_keyring() -> SecretBackend | None:
    """Return the keyring of the system, or None where there is none that keeps secrets secret."""
    try:
        import keyring

        backend = keyring.get_keyring()
        members = list(getattr(backend, "backends", ())) or [backend]
    except Exception:  # noqa: BLE001 (a broken backend of the system must not stop anything: the file is used)
        return None
    return next((item for item in members if _keeps_secrets(item)), None)


def _keeps_secrets(backend: object) -> bool:
    module = type(backend).__module__
    if module.startswith(_NO_KEYRINGS):
        return False
    return "plaintext" not in type(backend).__name__.lower()


class SecretStore:
    """The user's secrets by name.

    Args:
        file: Where secrets are kept without a keyring.
        service: The name under which a keyring keeps them.
        backend: The keyring, or None for none; see :func:`system_keyring`.
    """

    def __init__(self, file: Path, *, service: str = "lockgate", backend: SecretBackend | None) -> None:
        self._file, self._service, self._backend = file, service, backend
        self._reasons: dict[str, str] = {}

    def __repr__(self) -> str:
        return f"SecretStore({'keyring' if self._backend else 'file'})"

    @property
    def warning(self) -> str:
        """What to tell the person before a secret is kept; empty where a keyring keeps it."""
        if self._backend is not None:
            return ""
        return (
            f"This system has no keyring, so secrets are kept as plain text in {self._file}, readable for your account "
            "only."
        )

    @property
    def reasons(self) -> Mapping[str, str]:
        """Name → why a secret that was asked for could not be read."""
        return dict(self._reasons)

    def get(self, name: str) -> str | None:
        """Return a secret, or None. Where it is None because something failed, `reasons` says what."""
        self._reasons.pop(name, None)
        if self._backend is not None:
            try:
                value = self._backend.get_password(self._service, name)
            except Exception as error:  # noqa: BLE001 (backends raise what they like; the reason is reported)
                self._reasons[name] = f"The keyring could not be read ({type(error).__name__}); it may be locked."
                return None
            if value:
                return value
        try:
            return self._from_file(name)
        except ConfigurationError as error:
            self._reasons[name] = str(error)
            return None

    def set(self, name: str, value: str) -> None:
        """Keep a secret. Blanks around it are cut; a blank one is deleted.

        Raises:
            ConfigurationError: It could not be kept. It is never put into the file because a keyring failed.
        """
        value = value.strip()
        if not value:
            self.delete(name)
            return
        if any(ord(mark) < 32 or ord(mark) == 127 for mark in value):
            raise ConfigurationError("A secret cannot hold control characters; paste it as one line.")
        if self._backend is None:
            self._write_file(name, value)
        else:
            try:
                self._backend.set_password(self._service, name, value)
            except Exception as error:  # noqa: BLE001 (backends raise what they like)
                # Without the cause: a backend may put the secret into its message.
                raise ConfigurationError(
                    f"The keyring did not take the secret ({type(error).__name__}). Unlock it and try again."
                ) from None
            self._forget_in_file(name)
        self._reasons.pop(name, None)

    def delete(self, name: str) -> None:
        """Forget a secret, in the keyring and in the file. One that is not there is no mistake.

        Raises:
            ConfigurationError: It is still there because something failed.
        """
        if self._backend is not None:
            try:
                if self._backend.get_password(self._service, name) is not None:
                    self._backend.delete_password(self._service, name)
            except Exception as error:  # noqa: BLE001 (backends raise what they like)
                raise ConfigurationError(
                    f"The keyring did not delete the secret ({type(error).__name__}). Unlock it and try again."
                ) from None
        self._forget_in_file(name)
        self._reasons.pop(name, None)

    def _text(self) -> str:
        """Return the text of the file, empty where there is none."""
        text = read_text(self._file)
        if text is None:
            return ""
        if (mode := stat.S_IMODE(self._file.stat().st_mode)) & 0o077 and _has_modes():
            raise ConfigurationError(
                f"The file {self._file} is open to other accounts (mode {mode:04o}), so its secrets are not used. "
                f"Replace them if others may have read them, then run: chmod 600 '{self._file}'"
            )
        return text

    def _in_file(self) -> Mapping[str, object]:
        try:
            table = tomllib.loads(self._text()).get("secrets", {})
        except (tomllib.TOMLDecodeError, RecursionError):
            # Without the parser's words, which may quote the line.
            raise ConfigurationError(f"The file {self._file} is no valid TOML. It is left as it is.") from None
        if not isinstance(table, dict):
            raise ConfigurationError(f"In the file {self._file}, secrets has to be a table, written as [secrets].")
        return table

    def _from_file(self, name: str) -> str | None:
        value = self._in_file().get(name)
        if value is not None and not isinstance(value, str):
            raise ConfigurationError(f"In the file {self._file}, the secret {name!r} is no text in quotes.")
        return value or None

    def _forget_in_file(self, name: str) -> None:
        if name in self._in_file():
            self._write_file(name, None)

    def _write_file(self, name: str, value: str | None) -> None:
        """Set one secret in the file, or take it out; whatever else stands there stays."""
        import tomlkit

        self._in_file()  # refuses a file that cannot be changed safely
        document = tomlkit.parse(self._text() or _FILE_HEAD)
        table: Any = document.setdefault("secrets", tomlkit.table())
        if value is None:
            table.pop(name, None)
        else:
            table[name] = value
        replace_text(self._file, tomlkit.dumps(document))


def _has_modes() -> bool:
    return os.name == "posix"


@dataclass(frozen=True, slots=True)
class FoundKey:
    """A provider's key and where it came from, in words. The key is not part of its repr."""

    value: str = field(repr=False)
    origin: str


def find_provider_key(
    provider_id: str,
    own_variable: str,
    usual_variable: str,
    secret: Callable[[str], str | None],
    environment: Mapping[str, str],
) -> FoundKey | None:
    """Look for the key of a provider.

    The variable its entry names wins; then the stored secret; then the variable that is usual for its host. When the
    entry names a variable, nothing else is tried: a key of another account would be used by mistake.

    Args:
        provider_id: The configured provider.
        own_variable: ``api_key_variable`` of its entry; empty for none.
        usual_variable: ``api_key_variable`` of its profile; empty for none.
        secret: Returns a stored secret by name, or None.
        environment: Environment variables.
    """
    if own_variable:
        value = environment.get(own_variable, "").strip()
        return FoundKey(value, f"environment variable {own_variable}") if value else None
    stored = secret(provider_secret_name(provider_id))
    if stored:
        return FoundKey(stored, "stored secret")
    value = environment.get(usual_variable, "").strip() if usual_variable else ""
    return FoundKey(value, f"environment variable {usual_variable}") if value else None
