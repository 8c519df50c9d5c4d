"""Changing a provider that is there: what no option names stays, and what changes is said."""

import ipaddress
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from lockgate.app.home import LazySecrets
from lockgate.cli.terminal import note, notes, safe
from lockgate.errors import ConfigurationError
from lockgate.policy import SELF_HOSTED_TYPE
from lockgate.providers.endpoint import without_credentials
from lockgate.providers.profile import ProviderProfile
from lockgate.settings.file_values import ProviderEntry
from lockgate.settings.files import UserSettings
from lockgate.settings.home import Home
from lockgate.settings.secrets import provider_secret_name

_KEYS = (
    "profile", "name", "base_url", "model", "api_key_variable", "self_hosted", "can_call_tools", "confidence",
    "parameters",
)  # fmt: skip


def is_loopback(url: str) -> bool:
    """Tell whether an address is on this machine."""
    try:
        host = urlsplit(url).hostname or ""
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def tell_unusable(why: str) -> None:
    """Say that nothing of an entry is kept, since it cannot be read."""
    note(f"the entry that was there could not be used, so it is written anew and nothing of it is kept: {why}")


@dataclass(frozen=True, slots=True)
class Change:
    """A change of an entry, worked out and not written yet.

    Attributes:
        old, new: The entry as it is, and as it is to be.
        values: Key → value that is written; an empty one takes the key out.
        before, now: The address that is asked, before and after.
    """

    old: ProviderEntry
    new: ProviderEntry
    values: Mapping[str, object]
    before: str
    now: str

    @property
    def is_another_host(self) -> bool:
        """Whether somebody else is asked after it."""
        return _host(self.before) != _host(self.now)

    def write(self, settings: UserSettings, and_then: Callable[[], None]) -> None:
        """Write it, then do the rest; when that fails, the entry is what it was.

        Raises:
            ConfigurationError: A value is wrong, or something cannot be written.
        """
        settings.change_provider(self.old.id, self.values)
        try:
            and_then()
        except ConfigurationError:
            settings.change_provider(self.old.id, {key: _value(self.old, key) for key in self.values})
            raise


def change_of(
    old: ProviderEntry, stated: Mapping[str, str | bool], profiles: Mapping[str, ProviderProfile]
) -> Change:
    """Work out how an entry changes.

    Trust was given to a host: where that changes, `self_hosted` and `confidence` go unless an option states them.

    Args:
        old: The entry as it is.
        stated: Key → value, for what an option names; an empty value takes the key out.
        profiles: All profiles there are, the new one among them.
    """
    changes: dict[str, object] = {key: value for key, value in stated.items() if value != _value(old, key)}
    new = replace(old, **changes)  # type: ignore[arg-type]  # the keys are names of fields, each with its type
    made = Change(old, new, changes, _address(old, profiles), _address(new, profiles))
    if made.is_another_host:
        if old.confidence is not None:
            changes["confidence"], new = "", replace(new, confidence=None)
        if "self_hosted" not in stated:
            is_own = profiles[new.profile].provider_type == SELF_HOSTED_TYPE and is_loopback(made.now)
            if is_own != old.self_hosted:
                changes["self_hosted"], new = is_own or "", replace(new, self_hosted=is_own)
    return replace(made, new=new)


def tell_change(change: Change, home: Home, settings: UserSettings) -> None:
    """Say what changes and what stays, and another host loudly.

    Args:
        change: The change.
        home: Where the key of the provider lies.
        settings: The settings, for what else trusts the provider.
    """
    old, new = change.old, change.new
    for key in change.values:
        notes().print(safe(f"changes: {key} from {_shown(key, _value(old, key))} to {_shown(key, _value(new, key))}"))
    kept = [key for key in _KEYS if key not in change.values and _value(old, key)]
    stays = ", ".join(f"{key} = {_shown(key, _value(old, key))}" for key in kept)
    notes().print(safe(f"stays: {stays or 'nothing else stands in its entry'}"), style="dim")
    if change.is_another_host:
        _tell_host(change, home, settings)


def _value(entry: ProviderEntry, key: str) -> object:
    """Return what the file says; empty where it says nothing."""
    value = getattr(entry, key)
    if key == "name" and value == entry.id:
        return ""
    if key == "confidence":
        return "" if value is None else value.name
    return dict(value) if key == "parameters" else value


def _address(entry: ProviderEntry, profiles: Mapping[str, ProviderProfile]) -> str:
    profile = profiles.get(entry.profile)
    return entry.base_url or ("" if profile is None else profile.base_url)


def _host(address: str) -> tuple[str, str, int | None]:
    """Return scheme, host and port: whoever answers there is one and the same."""
    parts = urlsplit(address)
    try:
        port = parts.port
    except ValueError:
        return address, "", None
    return parts.scheme, parts.hostname or "", port or {"https": 443, "http": 80}.get(parts.scheme)


def _shown(key: str, value: object) -> str:
    if value in ("", None, False):
        return "nothing"
    if key == "parameters":
        return "a table"
    return without_credentials(str(value)) if key == "base_url" else str(value).lower() if value is True else str(value)


def _tell_host(change: Change, home: Home, settings: UserSettings) -> None:
    name, variable = change.new.id, change.new.api_key_variable
    before = without_credentials(change.before) or "an address that nobody knows"
    loud = [f"ANOTHER HOST: what {name!r} is asked goes to {without_credentials(change.now)} then, not to {before}."]
    if variable:
        loud.append(f"The key in {variable} goes there, too.")
    elif has_key(home, name):
        loud.append("The key that is stored for it goes there, too, unless you give another one.")
    if name.lower() in {trusted.lower() for trusted in settings.read().trusted_provider_ids}:
        loud.append("It is in trusted_provider_ids, which means that host then.")
    for text in loud:
        notes().print(safe(text), style="bold red")


def has_key(home: Home, provider_id: str) -> bool:
    """Tell whether a key is stored for a provider; yes where nobody can tell."""
    try:
        return bool(LazySecrets(home).read(provider_secret_name(provider_id)))
    except ConfigurationError:
        return True
