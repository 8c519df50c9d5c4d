"""On which line of a TOML file a key stands, so that a person who asks who set a rule is told where.

``tomllib`` gives no places. This scanner reads the same text again and is checked against what ``tomllib`` made of it:
where both do not agree on every key, no line is told at all. A missing line is a pity, a wrong one a lie.
"""

import re
import tomllib
from collections.abc import Mapping

MAX_DEPTH = 3
"""How many names of a key are told apart, such as ``assistants``, an ID, ``component``; what lies deeper is not."""

Path = tuple[str, ...]

_BLANK = re.compile(r"[ \t]*")
_BETWEEN = re.compile(r"(?:[ \t\n]+|#[^\n]*)*")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_BARE_VALUE = re.compile(r"[^,\]}#\n]+")
_IN_BASIC = re.compile(r'\\.|"|\n', re.DOTALL)
_IN_MULTI = re.compile(r'\\.|"""', re.DOTALL)


class _UnsureError(Exception):
    """The text is not what this scanner understands."""


def key_lines(text: str, table: Mapping[str, object]) -> Mapping[Path, int | None]:
    """Return the line of each key of a TOML file, counted from 1.

    Args:
        text: The file.
        table: What ``tomllib`` makes of it.

    Returns:
        Every key of the table outside of lists, to a depth of `MAX_DEPTH`, with its line; None for all of them where
        the scanner is unsure. A table that is never opened by itself has the line on which it is first named.
    """
    there = _paths_of(table)
    try:
        found = _Scanner(text.replace("\r\n", "\n")).scan()
    except (_UnsureError, RecursionError, tomllib.TOMLDecodeError):
        found = {}
    return dict(found) if found.keys() == there else dict.fromkeys(there)


def _paths_of(table: Mapping[str, object]) -> set[Path]:
    paths: set[Path] = set()
    waiting: list[tuple[Path, Mapping[str, object]]] = [((), table)]
    while waiting:
        place, inside = waiting.pop()
        for name, value in inside.items():
            path = (*place, name)
            paths.add(path)
            if isinstance(value, Mapping) and len(path) < MAX_DEPTH:
                waiting.append((path, value))
    return paths


class _Scanner:
    """Walks through a text once. A path of None stands for what lies in a list: it has no name of its own."""

    def __init__(self, text: str) -> None:
        self._text, self._at = text, 0
        self._line, self._counted = 1, 0
        self._found: dict[Path, int] = {}
        self._opened: set[Path] = set()
        self._lists: set[Path] = set()

    def scan(self) -> dict[Path, int]:
        """Return path and line of each key."""
        table: Path | None = ()
        while True:
            self._skip(_BETWEEN)
            if self._at >= len(self._text):
                return self._found
            if self._takes("["):
                table = self._header()
            else:
                self._pair(table)
            self._ends_line()

    # Structure

    def _header(self) -> Path | None:
        line, is_list = self._line_here(), self._takes("[")
        key = self._key()
        self._expect("]]" if is_list else "]")
        if any(key[:length] in self._lists for length in range(1, len(key) + (not is_list))):
            return None
        self._note((), key, line)
        if not is_list:
            return key
        self._lists.add(key)
        return None

    def _pair(self, table: Path | None) -> None:
        line, key = self._line_here(), self._key()
        self._expect("=")
        self._skip(_BLANK)
        if table is not None:
            self._note(table, key, line)
        self._value(None if table is None else (table + key)[: MAX_DEPTH + 1])

    def _note(self, table: Path, key: Path, line: int) -> None:
        """Keep the line of a key, and of the tables on the way to it that were not named before."""
        for length in range(len(table) + 1, min(len(table) + len(key), MAX_DEPTH) + 1):
            path = (table + key)[:length]
            is_whole = length == len(table) + len(key)
            if is_whole and path not in self._opened:
                self._opened.add(path)
                self._found[path] = line
            self._found.setdefault(path, line)

    # Values

    def _value(self, path: Path | None) -> None:
        if self._takes("["):
            self._list()
        elif self._takes("{"):
            self._inline_table(path)
        elif self._text.startswith(('"', "'"), self._at):
            self._string()
        elif not self._skip(_BARE_VALUE):
            raise _UnsureError

    def _list(self) -> None:
        self._skip(_BETWEEN)
        while not self._takes("]"):
            self._value(None)
            self._skip(_BETWEEN)
            if not self._takes(","):
                self._expect("]")
                return
            self._skip(_BETWEEN)

    def _inline_table(self, path: Path | None) -> None:
        self._skip(_BETWEEN)
        while not self._takes("}"):
            self._pair(path)
            self._skip(_BETWEEN)
            if not self._takes(","):
                self._expect("}")
                return
            self._skip(_BETWEEN)

    def _string(self) -> None:
        if self._takes("'''"):
            self._at = self._beyond(self._text.find("'''", self._at), "'")
        elif self._takes('"""'):
            while (found := _IN_MULTI.search(self._text, self._at)) is not None and found[0] != '"""':
                self._at = found.end()
            self._at = self._beyond(-1 if found is None else found.start(), '"')
        else:
            self._short_string()

    def _beyond(self, end: int, quote: str) -> int:
        """Return where a string of several lines is over: up to two quotes of its own may stand before the last three.

        Raises:
            _UnsureError: It does not end.
        """
        if end < 0:
            raise _UnsureError
        end += 3
        for _ in range(2):
            end += self._text.startswith(quote, end)
        return end

    def _short_string(self) -> str:
        """Read a string of one line and return it as it is written, with its quotes."""
        start = self._at
        if self._takes("'"):
            end = self._text.find("'", self._at)
            if end < 0 or "\n" in self._text[start:end]:
                raise _UnsureError
            self._at = end + 1
            return self._text[start : self._at]
        self._expect('"')
        while (found := _IN_BASIC.search(self._text, self._at)) is not None:
            self._at = found.end()
            if found[0] == '"':
                return self._text[start : self._at]
            if found[0] == "\n":
                break
        raise _UnsureError

    # Keys and characters

    def _key(self) -> Path:
        names = [self._name()]
        while True:
            self._skip(_BLANK)
            if not self._takes("."):
                return tuple(names)
            names.append(self._name())

    def _name(self) -> str:
        self._skip(_BLANK)
        if bare := self._skip(_BARE_KEY):
            return bare
        quoted = self._short_string()
        if "\\" not in quoted or quoted.startswith("'"):
            return quoted[1:-1]
        name: str = tomllib.loads(f"name = {quoted}")["name"]  # its escapes are read by who read the whole file
        return name

    def _skip(self, pattern: re.Pattern[str]) -> str:
        found = pattern.match(self._text, self._at)
        if found is None:
            return ""
        self._at = found.end()
        return found[0]

    def _takes(self, characters: str) -> bool:
        if not self._text.startswith(characters, self._at):
            return False
        self._at += len(characters)
        return True

    def _expect(self, characters: str) -> None:
        self._skip(_BLANK)
        if not self._takes(characters):
            raise _UnsureError

    def _ends_line(self) -> None:
        """Check that nothing but a comment follows on this line: else something was misread."""
        self._skip(_BLANK)
        if self._at < len(self._text) and self._text[self._at] not in "\n#":
            raise _UnsureError

    def _line_here(self) -> int:
        self._line += self._text.count("\n", self._counted, self._at)
        self._counted = self._at
        return self._line
