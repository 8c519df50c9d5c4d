"""Secrets: kept by a keyring where there is a real one, else in a private file; never shown."""

import functools
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from lockgate.errors import ConfigurationError
from lockgate.settings.secrets import (
    FoundKey,
    SecretStore,
    find_provider_key,
    provider_secret_name,
    system_keyring,
    tool_secret_name,
)

CANARY = "sk-CANARY-1"


class Keyring:
    """A keyring in memory; `broken` makes every operation fail with the secret in the message."""

    def __init__(self) -> None:
        self.entries: dict[tuple[str, str], str] = {}
        self.broken = False

    def _check(self) -> None:
        if self.broken:
            raise RuntimeError(f"locked while holding {CANARY}")

    def get_password(self, service: str, username: str) -> str | None:
        self._check()
        return self.entries.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self._check()
        self.entries[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        self._check()
        del self.entries[service, username]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file in a folder that does not exist yet."""
    return tmp_path / "config" / "secrets.toml"


def test_a_keyring_keeps_secrets(file: Path) -> None:
    """With a keyring nothing is on disk and no warning is given; services are apart."""
    keyring = Keyring()
    store = SecretStore(file, service="lockgate:/a", backend=keyring)
    store.set("web.key", f" {CANARY}\n")
    assert store.get("web.key") == CANARY
    assert SecretStore(file, service="lockgate:/b", backend=keyring).get("web.key") is None
    assert store.warning == ""
    assert not file.parent.exists()
    store.delete("web.key")
    store.delete("web.key")
    assert store.get("web.key") is None
    assert store.reasons == {}


def test_without_a_keyring_a_private_file_keeps_them(file: Path) -> None:
    """Mode 0600 in a folder of mode 0700, names with dots and colons, and a warning that says where."""
    store = SecretStore(file, backend=None)
    assert store.get("web.key") is None
    assert str(file) in store.warning
    assert not file.parent.exists()
    store.set("web.key", CANARY)
    store.set("provider:a b", 'quote " and \\ ü')
    again = SecretStore(file, backend=None)
    assert again.get("web.key") == CANARY
    assert again.get("provider:a b") == 'quote " and \\ ü'
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    again.delete("web.key")
    assert CANARY not in file.read_text(encoding="utf-8")
    assert again.get("provider:a b") is not None


def test_a_blank_secret_is_deleted(file: Path) -> None:
    """Saving an empty field takes the secret away."""
    store = SecretStore(file, backend=None)
    store.set("a", CANARY)
    store.set("a", "  ")
    assert store.get("a") is None
    assert CANARY not in file.read_text(encoding="utf-8")


def test_a_keyring_takes_over_from_the_file(file: Path) -> None:
    """A secret in the file is still found once there is a keyring, and moves there when it is set again."""
    SecretStore(file, backend=None).set("a", "old")
    store = SecretStore(file, backend=Keyring())
    assert store.get("a") == "old"
    store.set("a", CANARY)
    assert store.get("a") == CANARY
    assert SecretStore(file, backend=None).get("a") is None


def test_a_keyring_that_fails_makes_a_secret_absent_with_a_reason(file: Path) -> None:
    """Reading gives None and a reason, writing and deleting raise; none of the words holds the secret."""
    keyring = Keyring()
    store = SecretStore(file, backend=keyring)
    store.set("a", CANARY)
    keyring.broken = True
    assert store.get("a") is None
    assert "keyring" in store.reasons["a"]
    operations: list[Callable[[], None]] = [lambda: store.set("a", CANARY), lambda: store.delete("a")]
    for operation in operations:
        with pytest.raises(ConfigurationError, match="keyring") as caught:
            operation()
        assert "CANARY" not in str(caught.value)
        assert caught.value.__suppress_context__
    assert "CANARY" not in str(store.reasons)
    assert not file.exists()
    keyring.broken = False
    assert store.get("a") == CANARY
    assert store.reasons == {}


def test_a_file_open_to_others_is_not_used(file: Path) -> None:
    """The reason says how to put it right; nothing is written over it."""
    store = SecretStore(file, backend=None)
    store.set("a", CANARY)
    file.chmod(0o644)
    assert store.get("a") is None
    assert "chmod 600" in store.reasons["a"]
    with pytest.raises(ConfigurationError, match="chmod 600"):
        store.set("b", "x")
    file.chmod(0o600)
    assert store.get("a") == CANARY


@pytest.mark.parametrize("text", [f"a = {CANARY}", "[secrets\n", "secrets = 1\n", "[secrets]\na = 1\n", "\ufeff"])
def test_a_file_that_cannot_be_read_makes_secrets_absent(file: Path, text: str) -> None:
    """Broken content is no traceback and never quoted."""
    file.parent.mkdir()
    file.write_text(text, encoding="utf-8")
    file.chmod(0o600)
    store = SecretStore(file, backend=None)
    assert store.get("a") is None
    assert "CANARY" not in str(store.reasons)
    assert file.read_text(encoding="utf-8") == text


def test_what_else_stands_in_the_file_stays(file: Path) -> None:
    """Comments and entries of others survive setting and deleting."""
    file.parent.mkdir()
    file.write_text("# mine\n[other]\nx = 1\n[secrets]\nb = 'B' # b\n", encoding="utf-8")
    file.chmod(0o600)
    store = SecretStore(file, backend=None)
    store.set("a", CANARY)
    assert (store.get("a"), store.get("b")) == (CANARY, "B")
    store.delete("a")
    text = file.read_text(encoding="utf-8")
    assert "# mine\n[other]\nx = 1\n" in text
    assert "b = 'B' # b" in text
    assert CANARY not in text


@pytest.mark.parametrize(("text", "word"), [("secrets = 1\n", "table"), ("[secrets]\na = 1\n", "quotes")])
def test_an_entry_that_is_no_text_is_told(file: Path, text: str, word: str) -> None:
    """A wrong kind of value makes the secret absent, with the reason."""
    file.parent.mkdir()
    file.write_text(text, encoding="utf-8")
    file.chmod(0o600)
    store = SecretStore(file, backend=None)
    assert store.get("a") is None
    assert word in store.reasons["a"]


def test_a_broken_file_is_never_written_over(file: Path) -> None:
    """Setting a secret beside broken content raises and leaves every byte."""
    file.parent.mkdir()
    file.write_text("[secrets\n", encoding="utf-8")
    file.chmod(0o600)
    with pytest.raises(ConfigurationError, match="left as it is"):
        SecretStore(file, backend=None).set("a", CANARY)
    assert file.read_text(encoding="utf-8") == "[secrets\n"


def test_nothing_shows_a_secret(file: Path) -> None:
    """Neither the store's repr nor that of a found key."""
    store = SecretStore(file, backend=None)
    store.set("a", CANARY)
    store.get("a")
    assert "CANARY" not in repr(store)
    assert "CANARY" not in repr(vars(store))
    assert "CANARY" not in repr(FoundKey(CANARY, "stored secret"))


def test_control_characters_are_refused(file: Path) -> None:
    """They would end up in a header; the refusal does not repeat the secret."""
    with pytest.raises(ConfigurationError, match="one line") as caught:
        SecretStore(file, backend=None).set("a", f"{CANARY}\nX: y")
    assert "CANARY" not in str(caught.value)


def test_only_a_real_keyring_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Backends that fail, keep nothing, or keep plain text count as none; a chain is looked through."""
    import keyring

    def backend(module: str, name: str = "Keyring", **members: object) -> object:
        class Backend:
            pass

        Backend.__name__, Backend.__module__ = name, module
        made = Backend()
        vars(made).update(members)
        return made

    real = backend("keyring.backends.SecretService")
    plain = backend("keyrings.alt.file", "PlaintextKeyring")
    cases: list[tuple[object, object]] = [
        (real, real),
        (backend("keyring.backends.fail"), None),
        (backend("keyring.backends.null"), None),
        (plain, None),
        (backend("someones", "PlaintextKeyring"), None),
        (backend("keyring.backends.chainer", "ChainerBackend", backends=[plain, real]), real),
        (backend("keyring.backends.chainer", "ChainerBackend", backends=[]), None),
    ]
    for there, expected in cases:
        monkeypatch.setattr(keyring, "get_keyring", functools.partial(lambda backend: backend, there))
        assert system_keyring() is expected

    def broken() -> object:
        raise RuntimeError("no bus")

    monkeypatch.setattr(keyring, "get_keyring", broken)
    assert system_keyring() is None


def test_names_of_secrets() -> None:
    """A tool's secret and a provider's key never share a name."""
    assert tool_secret_name("web_search", "searxng.key") == "web_search.searxng.key"
    assert provider_secret_name("web_search") == "provider:web_search"


def test_where_a_providers_key_comes_from(file: Path) -> None:
    """The entry's own variable wins and excludes the rest; then the stored secret; then the host's usual variable."""
    store = SecretStore(file, backend=None)
    environment = {"OWN": " own ", "USUAL": "usual"}
    usual = FoundKey("usual", "environment variable USUAL")
    assert find_provider_key("p", "", "USUAL", store.get, environment) == usual
    store.set(provider_secret_name("p"), "stored")
    assert find_provider_key("p", "", "USUAL", store.get, environment) == FoundKey("stored", "stored secret")
    assert find_provider_key("p", "OWN", "USUAL", store.get, environment) == FoundKey("own", "environment variable OWN")
    assert find_provider_key("p", "ABSENT", "USUAL", store.get, environment) is None
    assert find_provider_key("q", "", "", store.get, environment) is None
    assert find_provider_key("q", "", "ABSENT", store.get, environment) is None
