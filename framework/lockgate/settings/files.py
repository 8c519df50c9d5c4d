"""The user's ``settings.toml``: read as values, changed with its comments kept. Its layout: :mod:`.file_values`."""

import re
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lockgate.errors import ConfigurationError, UnknownNameError, UsageError
from lockgate.settings.file_reading import settings_from_table
from lockgate.settings.file_tables import key_of, written
from lockgate.settings.file_values import DataSourceEntry, FileProblem, ProviderEntry, SettingsFile
from lockgate.settings.private_files import read_text, replace_text

if TYPE_CHECKING:
    from tomlkit import TOMLDocument

_PLACE = re.compile(r"\s*\(at (line \d+, column \d+|end of document)\)$")
_ATTEMPTS = 5


class UserSettings:
    """The settings file of a user.

    Every change reads the file again, changes one thing, and replaces the file as a whole. A change that would make the
    file wrong is refused, and a file that cannot be read is left as it is.

    Args:
        path: The file; it need not exist.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> SettingsFile:
        """Return what the file says; the defaults when there is none. Wrong entries are among its problems.

        Raises:
            ConfigurationError: The file is no TOML or cannot be read; names the file and the line.
        """
        text = read_text(self.path) or ""
        return settings_from_table(_parsed(self.path, text), text)

    def add_provider(self, entry: ProviderEntry, *, replace: bool = False) -> None:
        """Write a provider.

        Args:
            entry: The provider; what is empty or None is left out.
            replace: Whether one of that ID may be replaced.

        Raises:
            UsageError: There is one of that ID already.
            ConfigurationError: A value of it is wrong, or the file cannot be read or written.
        """
        values = {
            "profile": entry.profile,
            "name": entry.name if entry.name != entry.id else "",
            "base_url": entry.base_url,
            "model": entry.model,
            "api_key_variable": entry.api_key_variable,
            "self_hosted": entry.self_hosted or None,
            "can_call_tools": entry.can_call_tools,
            "confidence": None if entry.confidence is None else entry.confidence.name,
            "parameters": dict(entry.parameters) or None,
        }
        self._add("providers", "provider", entry.id, values, replace=replace)

    def change_provider(self, provider_id: str, values: Mapping[str, object]) -> None:
        """Change some keys of a provider; the rest of its table stays as it is written.

        Args:
            provider_id: The provider.
            values: Key → value; an empty text or None takes the key out.

        Raises:
            UnknownNameError: The file has none of that ID.
            ConfigurationError: A value of it is wrong, or the file cannot be read or written; nothing was written.
        """

        def change(document: "TOMLDocument") -> None:
            entries: Any = document.get("providers")
            if not isinstance(entries, Mapping) or not isinstance(entries.get(provider_id), Mapping):
                raise UnknownNameError("provider", provider_id, entries if isinstance(entries, Mapping) else ())
            entry: Any = entries[provider_id]
            for name, value in values.items():
                if value is not None and value != "":
                    entry[name] = _inline(value)
                elif name in entry:
                    del entry[name]

        self._change(change, key_of("providers", provider_id))

    def add_data_source(self, entry: DataSourceEntry, *, replace: bool = False) -> None:
        """Write a data source. Arguments and errors are those of :meth:`add_provider`."""
        values = {"kind": entry.kind, "name": entry.name if entry.name != entry.id else "", **entry.settings}
        self._add("data_sources", "data source", entry.id, values, replace=replace)

    def remove_provider(self, provider_id: str) -> None:
        """Take a provider out of the file, and out of ``default_provider``.

        Raises:
            UnknownNameError: The file has none of that ID.
        """

        def change(document: "TOMLDocument") -> None:
            _remove(document, "providers", "provider", provider_id)
            if document.get("default_provider") == provider_id:
                del document["default_provider"]

        self._change(change, "")

    def remove_data_source(self, source_id: str) -> None:
        """Take a data source out of the file.

        Raises:
            UnknownNameError: The file has none of that ID.
        """
        self._change(lambda document: _remove(document, "data_sources", "data source", source_id), "")

    def set_value(self, key: tuple[str, ...], value: object) -> None:
        """Set one value, for example ``("limits", "max_tool_calls")`` or ``("tools", "web_search", "language")``.

        Raises:
            ConfigurationError: The value is wrong there; nothing was written.
        """

        def change(document: "TOMLDocument") -> None:
            _drop_unquoted(document, key)
            _table(document, key[:-1])[key[-1]] = value

        self._change(change, written(key))

    def remove_value(self, key: tuple[str, ...]) -> None:
        """Take one value out of the file, so that the next layer counts. One that is not there is no mistake."""

        def change(document: "TOMLDocument") -> None:
            _drop_unquoted(document, key)
            table: Any = document
            for name in key[:-1]:
                table = table.get(name)
                if not isinstance(table, Mapping):
                    return
            if key[-1] in table:
                del table[key[-1]]

        self._change(change, "")

    def _add(self, place: str, what: str, entry_id: str, values: Mapping[str, object], *, replace: bool) -> None:
        if not entry_id.strip():
            raise UsageError(f"A {what} needs an ID that is not blank.")

        def change(document: "TOMLDocument") -> None:
            import tomlkit

            table = _table(document, (place,))
            if entry_id in table and not replace:
                raise UsageError(f"There is a {what} {entry_id!r} already. Remove it first, or choose another ID.")
            entry = tomlkit.table()
            for name, value in values.items():
                if value is not None and value != "":
                    entry[name] = _inline(value)
            table[entry_id] = entry

        self._change(change, key_of(place, entry_id))

    def _change(self, change: Callable[["TOMLDocument"], None], place: str) -> None:
        import tomlkit
        from tomlkit.exceptions import TOMLKitError

        for _ in range(_ATTEMPTS):
            before = read_text(self.path)
            old_problems = settings_from_table(_parsed(self.path, before or "")).problems
            try:
                document = tomlkit.parse(before or "")
                change(document)
                after = tomlkit.dumps(document)
                problems = settings_from_table(tomllib.loads(after)).problems
            except (TOMLKitError, tomllib.TOMLDecodeError, TypeError, ValueError) as error:
                raise ConfigurationError(f"The file {self.path} cannot be changed here: {error}.") from error
            _check_new_problems(place, old_problems, problems)
            if read_text(self.path) == before:  # nobody changed it meanwhile
                if after != before:
                    replace_text(self.path, after)
                return
        raise ConfigurationError(f"The file {self.path} is being changed by another program. Try again.")


def _check_new_problems(place: str, old: tuple[FileProblem, ...], new: tuple[FileProblem, ...]) -> None:
    """Refuse a change that brings a problem, or that would have no effect because of one."""
    for problem in new:
        if problem not in old or (place and (problem.key == place or problem.key.startswith(f"{place}."))):
            raise ConfigurationError(f"Nothing was written: {problem}")


def _parsed(path: Path, text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found = _PLACE.search(str(error))
        where = found[1] if found else "some line"
        reason = _PLACE.sub("", str(error))
        raise ConfigurationError(
            f"The file {path} is no valid TOML ({where}: {reason}). It is left as it is; correct it in an editor."
        ) from error
    except RecursionError as error:
        raise ConfigurationError(f"The file {path} is nested too deeply to be read. It is left as it is.") from error


def _table(document: Any, names: tuple[str, ...]) -> Any:
    """Return the table of that name, made where it is missing."""
    import tomlkit

    table = document
    for depth, name in enumerate(names):
        if name not in table:
            table[name] = tomlkit.table(is_super_table=depth < len(names) - 1 or name in ("providers", "data_sources"))
        table = table[name]
        if not isinstance(table, Mapping):
            raise ConfigurationError(f"Nothing was written: {written(names[: depth + 1])} has to be a table.")
    return table


def _drop_unquoted(document: Any, key: tuple[str, ...]) -> None:
    """Remove ``a.b = 1`` without quotes, which TOML reads as a table, before ``"a.b"`` is set or removed."""
    if len(key) != 3 or key[0] != "tools" or "." not in key[2]:
        return
    tables = [document]
    for name in (*key[:2], *key[2].split(".")[:-1]):
        inside = tables[-1].get(name)
        if not isinstance(inside, Mapping):
            return
        tables.append(inside)
    tables[-1].pop(key[2].split(".")[-1], None)
    for depth, name in reversed(list(enumerate(key[2].split(".")[:-1]))):
        if not tables[depth + 3]:
            del tables[depth + 2][name]


def _remove(document: "TOMLDocument", place: str, what: str, name: str) -> None:
    table: Any = document.get(place)
    if not isinstance(table, Mapping) or name not in table:
        raise UnknownNameError(what, name, table if isinstance(table, Mapping) else ())
    del table[name]  # type: ignore[attr-defined]  # a TOML table, which isinstance narrowed to a mapping
    if not table:
        del document[place]


def _inline(value: object) -> Any:
    """Return a table as one that is written on its key's line."""
    import tomlkit

    if not isinstance(value, Mapping):
        return value
    table = tomlkit.inline_table()
    for name, inside in value.items():
        table[name] = _inline(inside)
    return table
