"""Where a configured provider lives, and what of it may be shown."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, repr=False)
class Endpoint:
    """Where a configured provider lives, and what opens it. `repr` shows no key and no value of a header.

    Attributes:
        base_url: The address of its API; empty for the one in the profile, or for an adapter that needs none.
        api_key: The key; empty for none.
        headers: Further headers of every request; one of the adapter's own names replaces its value.
        name: What people call the provider; errors name it.
    """

    base_url: str
    api_key: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    name: str = ""

    def __repr__(self) -> str:
        key = "'*****'" if self.api_key else "''"
        return (
            f"Endpoint(base_url={without_credentials(self.base_url)!r}, api_key={key}, "
            f"headers={sorted(self.headers)}, name={self.name!r})"
        )


def without_credentials(url: str) -> str:
    """Return an address without user, password, query and fragment: what may be shown of it."""
    start, separator, rest = url.partition("://")
    if not separator:
        return url.partition("?")[0].rpartition("@")[2]
    authority, slash, path = rest.partition("#")[0].partition("?")[0].partition("/")
    return f"{start}://{authority.rpartition('@')[2]}{slash}{path}"
