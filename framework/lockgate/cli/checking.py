"""What `lockgate settings check` prints: everything in a settings file that cannot be used or means nothing."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lockgate.app.home import LazySecrets, configuration_from, open_lockgate
from lockgate.app.lockgate import Lockgate
from lockgate.cli.exit_status import ExitStatus
from lockgate.cli.folders import looked_at
from lockgate.cli.sources import missing_sources
from lockgate.cli.terminal import console, indented, notes, safe, write_json
from lockgate.errors import DocumentError
from lockgate.settings.files import UserSettings
from lockgate.settings.home import Home

_OF_PROVIDER = re.compile(r"The provider '([^']*)' ")


@dataclass(frozen=True, slots=True)
class Found:
    """One thing that is wrong: on which line, where that is known, and a sentence."""

    line: int | None
    text: str


@dataclass(frozen=True, slots=True)
class _OtherFile(Home):
    """The user's home with another settings file."""

    file: Path = Path()

    @property
    def settings_file(self) -> Path:
        """The file that is checked."""
        return self.file


async def check(file: Path | None, *, as_json: bool) -> int:
    """Check the user's settings, or another file as if it were theirs.

    Raises:
        DocumentError: The file that was named is not there.
        ConfigurationError: It is no TOML; the message names the line.
    """
    home = Home.find()
    if file is not None:
        home = _OtherFile(home.config_dir, home.data_dir, home.keyring_service, _place_of(file))
    settings = UserSettings(home.settings_file).read()
    configuration = configuration_from(settings, home, LazySecrets(home))
    async with open_lockgate(home, configuration) as gate:
        found = problems_of(gate, settings.lines, home.settings_file)
    if as_json:
        rows = [{"line": item.line, "text": item.text} for item in found]
        write_json({"file": str(home.settings_file), "problems": rows})
        return ExitStatus.CONFIGURATION if found else ExitStatus.OK
    return _print(home.settings_file, found)


def _place_of(file: Path) -> Path:
    place = looked_at(file, Path.absolute)
    if not place.is_file():
        raise DocumentError(f"{file} is no file.")
    return place


def _print(place: Path, found: list[Found]) -> int:
    out = console()
    if not found:
        out.print("All is well.", style="green")
        what = "" if place.exists() else " is not there, so the defaults hold"
        notes().print(f"{safe(str(place))}{what}", style="dim", soft_wrap=True)
        return ExitStatus.OK
    count = "1 problem" if len(found) == 1 else f"{len(found)} problems"
    out.print(f"{safe(str(place))}: {count}", style="bold", soft_wrap=True)
    for item in found:
        where = "" if item.line is None else f"line {item.line}: "
        indented(safe(where + item.text), 2)
    return ExitStatus.CONFIGURATION


def problems_of(gate: Lockgate, lines: Mapping[tuple[str, ...], int | None], place: Path) -> list[Found]:
    """Return what is wrong with a settings file, in the order of its lines; what plugins did wrong is not among it.

    Args:
        gate: Entered, under these settings.
        lines: The keys of the file → their lines.
        place: The file.
    """
    found = []
    begins = re.compile(rf"In {re.escape(str(place))}(?::(\d+))?: ")
    for problem in (*gate.assembly.problems, *missing_sources(gate)):
        if (head := begins.match(problem)) is not None:
            found.append(Found(int(head[1]) if head[1] else None, problem[head.end() :]))
        elif (named := _OF_PROVIDER.match(problem)) is not None:
            found.append(Found(lines.get(("providers", named[1])), problem))
    return sorted(dict.fromkeys(found), key=lambda item: item.line or 0)
