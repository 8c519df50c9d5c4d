"""The documentation says what is: names, settings, limits and commands come from the code, and examples run."""

import contextlib
import importlib
import io
import os
import re
import shlex
import subprocess
import sys
import tomllib
import types
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Any

import click
import docs_kit
import pytest
from docs_kit import DOCS, ROOT, Block, blocks, code_words, headings_of, links_of, pages, rows_of, text_of

import lockgate
import lockgate.testing
from lockgate import ChatThread, Configuration, DataSourceOptions, InstanceConfig, Lockgate
from lockgate.calling.job import Stopped
from lockgate.errors import FailureKind
from lockgate.guard import Category, SourceKind
from lockgate.plugin_host.hookspecs import Hooks
from lockgate.plugin_host.records import PluginState
from lockgate.policy import (
    PROVIDER_TYPES,
    ConfidenceLevel,
    ConfidenceScheme,
    DataSourceSecurity,
    OutboundDataRestriction,
    SetByKind,
    ToolOutboundData,
    provider_confidence,
)
from lockgate.providers import ProviderProfile, StopReason
from lockgate.registry.beyond import BeyondKind
from lockgate.registry.checks import CHECKS, ToolOfferBlockReason
from lockgate.retrieval import Gap
from lockgate.settings.file_reading import PROVIDER_KEYS, TOP_KEYS, settings_from_table
from lockgate.tools import ToolDefinition

EXPECTED_PAGES = {
    "architecture", "chats", "command-line", "data-sources", "getting-started", "guard", "index", "limits", "plugins",
    "providers", "rules", "security", "settings", "testing", "tools", "why-not",
}  # fmt: skip


def all_blocks() -> list[Block]:
    """Every fenced block of every page."""
    return [block for page in pages() for block in blocks(page)]


# --- pages and links -------------------------------------------------------------------------------------------------


def test_every_page_is_there_and_on_the_map() -> None:
    """The map of the documentation leads to every page."""
    assert {page.stem for page in DOCS.glob("*.md")} == EXPECTED_PAGES
    targets = {target.partition("#")[0] for target in links_of(DOCS / "index.md")}
    assert {f"{name}.md" for name in EXPECTED_PAGES - {"index"}} <= targets


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_every_relative_link_resolves(page: Path) -> None:
    """A link leads to a file that is there, and an anchor to a heading that is there."""
    for target in links_of(page):
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        assert file.exists(), f"{page.name}: {target}"
        assert file.is_relative_to(ROOT), f"{page.name}: {target}"
        if anchor:
            assert anchor in docs_kit.anchors_of(file), f"{page.name}: {target}"


def test_every_mark_of_a_block_is_known() -> None:
    """A misspelt mark would keep a block from being run."""
    marks = {block.mark for block in all_blocks()}
    assert marks <= {"", "runs", "goes on", "prints", "settings", "shell"}
    for page in pages():
        assert text_of(page.name).count("<!--") == sum(bool(block.mark) for block in blocks(page)), page.name


# --- examples --------------------------------------------------------------------------------------------------------


def chains() -> Iterator[list[Block]]:
    """Yield the blocks that belong together: one that runs, those that go on with it, and what they print."""
    chain: list[Block] = []
    for block in all_blocks():
        if block.mark == "runs":
            if chain:
                yield chain
            chain = [block]
        elif block.mark in ("goes on", "prints"):
            assert chain, f"{block.place} follows no block that runs"
            assert chain[0].page == block.page, f"{block.place} follows no block of its page that runs"
            chain.append(block)
    if chain:
        yield chain


@pytest.mark.parametrize("chain", list(chains()), ids=lambda chain: chain[0].place)
def test_an_example_runs(chain: list[Block], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An example that is marked as running runs, and prints what the page says it prints."""
    monkeypatch.chdir(tmp_path)
    module = types.ModuleType("documented_example")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    printed = io.StringIO()
    for block in chain:
        if block.mark == "prints":
            assert printed.getvalue().rstrip() == block.text.rstrip(), block.place
            continue
        assert block.language == "python", block.place
        printed = io.StringIO()
        source = compile("\n" * block.line + block.text, str(block.page), "exec")
        with contextlib.redirect_stdout(printed):
            exec(source, module.__dict__)  # noqa: S102 - the project's own documentation


def shell_blocks() -> Iterator[tuple[Block, str]]:
    """Yield the shell examples that run, each with the settings file that stands before it on its page."""
    for page in pages():
        settings = ""
        for block in blocks(page):
            settings = block.text if block.mark == "settings" else settings
            if block.mark == "shell":
                yield block, settings


@pytest.mark.parametrize(("block", "settings"), list(shell_blocks()), ids=lambda item: getattr(item, "place", ""))
def test_a_shell_example_prints_what_the_page_says(block: Block, settings: str, tmp_path: Path) -> None:
    """Each command is run in a home with the settings before it, beside a folder `handbook` with one document."""
    (tmp_path / "settings.toml").write_text(settings, "utf-8")
    (tmp_path / "handbook").mkdir()
    (tmp_path / "handbook" / "harbour.txt").write_text("The harbour opens at six in the morning.\n", "utf-8")
    environment = {**os.environ, "LOCKGATE_HOME": str(tmp_path), "COLUMNS": "200"}
    commands = re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]
    assert commands, block.place
    for command in commands:
        line, _, expected = command.partition("\n")
        program, *arguments = shlex.split(line)
        assert program == "lockgate", block.place
        done = subprocess.run(
            [sys.executable, "-m", "lockgate", *arguments], cwd=tmp_path, env=environment, capture_output=True,
            text=True, timeout=60, check=False,
        )  # fmt: skip
        assert done.stdout.replace(f"{tmp_path}{os.sep}", "").rstrip() == expected.rstrip(), done.stderr


def test_python_on_the_pages_runs_or_at_least_compiles() -> None:
    """Every Python block is Python, and most of them run."""
    found = [block for block in all_blocks() if block.language == "python"]
    for block in found:
        compile(block.text, block.place, "exec")
    assert sum(block.mark in ("runs", "goes on") for block in found) > len(found) // 2


def test_every_settings_example_is_right() -> None:
    """What is shown as a settings file is read without a problem."""
    found = [block for block in all_blocks() if block.mark == "settings"]
    assert found
    for block in found:
        assert settings_from_table(tomllib.loads(block.text)).problems == (), block.place


def test_every_toml_block_is_toml() -> None:
    """Other TOML blocks can be read, too."""
    for block in all_blocks():
        if block.language == "toml":
            tomllib.loads(block.text)


# --- names -----------------------------------------------------------------------------------------------------------


def test_every_public_name_is_mentioned() -> None:
    """Whoever meets a name of the public interface finds it in the documentation."""
    words = set(re.findall(r"\w+", docs_kit.all_text()))
    assert sorted(set(lockgate.__all__) - words) == []


def test_every_name_for_tests_is_on_its_page() -> None:
    """The page on testing mentions everything that `lockgate.testing` brings."""
    assert sorted(set(lockgate.testing.__all__) - set(re.findall(r"\w+", text_of("testing.md")))) == []


def test_every_hook_has_a_heading() -> None:
    """The page on plugins has a section for every hook, and for nothing else that looks like one."""
    hooks = {name for name in dir(Hooks) if name.startswith("lockgate_")}
    headings = {heading.strip("`") for heading in headings_of(DOCS / "plugins.md")}
    assert {heading for heading in headings if heading.startswith("lockgate_")} == hooks


MEMBERS: list[tuple[str, type[Enum], str]] = [
    ("rules.md", ToolOfferBlockReason, "name"),
    ("rules.md", ConfidenceLevel, "name"),
    ("rules.md", ConfidenceScheme, "name"),
    ("rules.md", DataSourceSecurity, "name"),
    ("rules.md", OutboundDataRestriction, "name"),
    ("tools.md", ToolOutboundData, "name"),
    ("rules.md", SetByKind, "value"),
    ("rules.md", BeyondKind, "name"),
    ("providers.md", FailureKind, "name"),
    ("providers.md", StopReason, "name"),
    ("command-line.md", Stopped, "value"),
    ("guard.md", Category, "value"),
    ("guard.md", SourceKind, "name"),
    ("data-sources.md", Gap, "value"),
    ("plugins.md", PluginState, "value"),
]


@pytest.mark.parametrize(("page", "enum", "form"), MEMBERS, ids=lambda item: getattr(item, "__name__", None))
def test_every_member_is_on_its_page(page: str, enum: type[Enum], form: str) -> None:
    """Each reason, level, scheme and status that a person may meet is on the page that explains it."""
    wanted = {str(getattr(member, form)) for member in enum}
    assert sorted(wanted - code_words(text_of(page))) == []


@pytest.mark.parametrize(
    ("page", "owner"), [("tools.md", ToolDefinition), ("providers.md", ProviderProfile)], ids=["tools", "providers"]
)
def test_every_field_is_on_its_page(page: str, owner: Any) -> None:
    """Everything a definition or a profile can state is explained."""
    assert sorted(set(owner.__dataclass_fields__) - code_words(text_of(page))) == []


def test_the_checks_are_listed_in_order() -> None:
    """The page on rules has the checks in the order in which they are made."""
    listed = [row[1] for row in rows_of("rules.md", "No.")[1:]]
    assert listed == [name for name, _ in CHECKS]


def test_the_schemes_are_those_of_the_code() -> None:
    """The table of schemes gives every provider type the level that the code gives it."""
    head, *rows = rows_of("rules.md", "Provider type")
    schemes = [ConfidenceScheme[cell.strip("`")] for cell in head[1:]]
    assert set(schemes) == set(ConfidenceScheme) - {ConfidenceScheme.CUSTOM}
    listed: list[str] = []
    for row in rows:
        for provider_type in re.findall(r"`(\w+)`", row[0]):
            listed.append(provider_type)
            found = [provider_confidence(scheme, provider_type).name for scheme in schemes]
            assert found == [cell.strip("`") for cell in row[1:]], provider_type
    assert sorted(listed) == sorted(PROVIDER_TYPES)


# --- settings and limits ---------------------------------------------------------------------------------------------


def keys_known_in(table: str) -> set[str]:
    """Return the keys a table of the settings file may have, asked of the reader itself."""
    problems = settings_from_table({table: {"qqqqqqqq": 1}}).problems
    assert len(problems) == 1
    found = re.search(r"Known are (.*)\.$", problems[0].text)
    assert found, problems[0].text
    return set(found[1].split(", "))


def test_every_settings_key_is_documented() -> None:
    """The page on settings explains each key, and its whole example has each."""
    page = code_words(text_of("settings.md"))
    nested = {table: keys_known_in(table) for table in ("limits", "plugins", "confidence")}
    wanted = {*TOP_KEYS, *PROVIDER_KEYS, *(f"{table}.{key}" for table, keys in nested.items() for key in keys)}
    assert sorted(wanted - page) == []
    whole = next(block for block in blocks(DOCS / "settings.md") if block.mark == "settings")
    table = tomllib.loads(whole.text.replace("# allowed = ", "allowed = "))  # whoever copies it keeps the other packs
    assert set(table) == set(TOP_KEYS)
    assert {key: set(table[key]) for key in nested} == nested
    assert set().union(*table["providers"].values()) == set(PROVIDER_KEYS)


def test_the_settings_of_local_data_sources_are_documented() -> None:
    """The page on data sources explains each key of a folder."""
    from lockgate_semantic_search.sources import LocalSourceSettings

    assert sorted(set(LocalSourceSettings.outside_names()) - code_words(text_of("data-sources.md"))) == []


def constant(path: str) -> Any:
    """Return a constant by its whole name."""
    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(module), name)


@pytest.mark.parametrize("row", rows_of("limits.md", "Limit")[1:], ids=lambda row: row[2].strip("`"))
def test_a_limit_is_that_of_the_code(row: list[str]) -> None:
    """A number of the page on limits is the constant it names."""
    _, value, path = row
    number = re.match(r"[\d,.]+", value)
    assert number, value
    factor = 1024 * 1024 if "MiB" in value else 1024 if "KiB" in value else 1
    assert float(number[0].replace(",", "")) * factor == constant(path.strip("`"))


QUOTED = [
    ("tools.md", r"(\d+) seconds unless", "lockgate.tools.base.DEFAULT_TIMEOUT"),
    ("tools.md", r"first (\d+) characters", "lockgate.tools.wording.ECHO_CHARACTERS"),
    ("rules.md", r"([\d,]+) calls", "lockgate.registry.rules.MAX_TOOL_CALLS"),
    ("rules.md", r"([\d,]+) characters of results", "lockgate.registry.rules.MAX_TOOL_RESULT_CHARACTERS"),
    ("plugins.md", r"([\d,]+) items", "lockgate.plugin_host.host.MAX_ITEMS"),
    ("plugins.md", r"(\d+) seconds for an import", "lockgate.plugin_host.policy.IMPORT_DEADLINE"),
    ("plugins.md", r"(\d+) seconds for a hook", "lockgate.plugin_host.policy.HOOK_DEADLINE"),
    ("data-sources.md", r"(\d+) passages deep", "lockgate.retrieval.paging.MAX_RESULT_WINDOW"),
    ("data-sources.md", r"([\d,]+) characters long", "lockgate.documents.chunking.DEFAULT_MAX_CHARACTERS"),
]


@pytest.mark.parametrize(("page", "pattern", "path"), QUOTED, ids=lambda item: item if "." in item else "")
def test_a_number_in_the_text_is_that_of_the_code(page: str, pattern: str, path: str) -> None:
    """Numbers that pages repeat in their text are those of the constants."""
    found = re.findall(pattern, " ".join(text_of(page).split()))
    assert found, f"{page} says nothing of {path}"
    assert {float(number.replace(",", "")) for number in found} == {constant(path)}


# --- command line ----------------------------------------------------------------------------------------------------


def commands(group: click.Group, words: tuple[str, ...] = ("lockgate",)) -> Iterator[tuple[str, click.Command]]:
    """Yield every command below a group with its whole name."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None, name
        yield " ".join((*words, name)), command
        if isinstance(command, click.Group):
            yield from commands(command, (*words, name))


def test_every_command_and_option_is_documented() -> None:
    """The page on the command line has a heading for every command and names each of its options and arguments."""
    from lockgate.cli import cli

    headings = {heading.strip("`") for heading in headings_of(DOCS / "command-line.md")}
    text = text_of("command-line.md")
    found = dict(commands(cli))
    assert "lockgate ask" in found
    for name, command in found.items():
        assert name in headings, name
        section = text.partition(f"`{name}`\n")[2].partition("\n## ")[0].partition("\n### ")[0]
        for parameter in command.params:
            if isinstance(parameter, click.Argument):
                assert str(parameter.name).upper() in section.upper(), f"{name}: {parameter.name}"
            for option in parameter.opts if isinstance(parameter, click.Option) else ():
                assert f"`{option}" in section or f" {option}`" in section, f"{name}: {option}"
    documented = {heading for heading in headings if heading.startswith("lockgate ")}
    assert documented <= set(found), "the page has commands that are not there"


def test_every_exit_status_is_documented() -> None:
    """The table of exit statuses is that of the code."""
    from lockgate.cli.exit_status import ExitStatus

    assert [int(row[0].strip("`")) for row in rows_of("command-line.md", "Status")[1:]] == list(ExitStatus)


def test_the_json_object_has_the_documented_members(capsys: pytest.CaptureFixture[str]) -> None:
    """`lockgate ask --json` prints the members that the page lists."""
    import json

    from lockgate.calling.run import Run
    from lockgate.chat import ChatThread
    from lockgate.cli.rendering import print_json

    nothing: Any = None
    print_json(Run(ChatThread(), nothing, nothing, nothing), None)
    assert [row[0].strip("`") for row in rows_of("command-line.md", "Member")[1:]] == list(
        json.loads(capsys.readouterr().out)
    )


# --- what is shown, and what is only coming --------------------------------------------------------------------------

PLANNED = re.compile(
    r"plugin\.lua|Responses API|Messages API|(?<!PRE_)mailbox|gateway|web console|web_search|read_web_page|"
    r"search by meaning",
    re.IGNORECASE,
)


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_what_is_planned_is_marked_as_coming(page: Path) -> None:
    """Each page speaks of what does not exist yet in one place, behind a mark."""
    mark = "\n**Coming, not there yet:**" if page.name == "README.md" else "\n## Coming later\n"
    there, _, coming = text_of(page.name).partition(mark)
    assert PLANNED.findall(there) == []
    assert mark not in coming


def test_the_picture_shows_the_question_of_the_demo() -> None:
    """`make demo`, the picture and the script that makes it ask the same; the picture loads nothing from a server."""
    question = re.search(r"^DEMO_QUESTION := (.+)$", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    assert question
    script = (DOCS / ".images" / "make_ask_svg.py").read_text("utf-8")
    assert f'QUESTION = "{question[1]}"' in script
    picture = (DOCS / ".images" / "ask.svg").read_text("utf-8")
    assert question[1].replace(" ", "&#160;") in picture
    assert set(re.findall(r"https?://[^\"'\s<]+", picture)) == {"http://www.w3.org/2000/svg"}


async def test_the_documentation_answers_the_question_of_the_demo(tmp_path: Path) -> None:
    """The offline reader finds and quotes the sentence that answers it."""
    folder = InstanceConfig("docs", "local_folder", "data_source", values={"path": str(DOCS)})
    names = ("offline", "local_index", "semantic_search")
    plugins = [importlib.import_module(f"lockgate_{name}.plugin") for name in names]
    chat = ChatThread(data_sources=DataSourceOptions(disabled=False, automatic=True))
    question = "How does Lockgate decide which tools a model may use?"
    async with (
        Lockgate(Configuration(instances=(folder,)), plugins=plugins, data_dir=tmp_path) as gate,
        gate.ask(chat, question) as run,
    ):
        await run.wait()
    assert "ordered table of checks" in run.text
    assert "rules.md" in {source.title.partition(" ")[0] for source in run.sources}
