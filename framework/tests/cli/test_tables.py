"""Tables on narrow and wide terminals."""

import io
from pathlib import Path

import pytest
from rich.console import Console
from terminal_runs import OnTerminal

from lockgate.cli import tables
from lockgate.cli.tables import Column, shape, table
from lockgate.cli.terminal import brief

COLUMNS = (Column("tool", whole=True), Column("state"), Column("from", below=1), Column("needs", below=2))
ROWS = [
    ("weather_of_the_world/get_tide", "not configured: api_url is required and not set", "tide-tools 1.0",
     "HIGH, set by user (/srv/somebody/settings.toml:12)"),
    ("short", "ready", "", "LOW"),
]  # fmt: skip


def printed(monkeypatch: pytest.MonkeyPatch, width: int, *, is_terminal: bool = True) -> list[str]:
    """Return the lines of the table on a terminal of that width."""
    out = io.StringIO()
    made = Console(
        file=out, width=width, force_terminal=is_terminal, soft_wrap=not is_terminal, color_system=None, markup=False,
    )  # fmt: skip
    monkeypatch.setattr(tables, "console", lambda: made)
    table(COLUMNS, ROWS)
    return out.getvalue().splitlines()


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_a_table_fits_and_breaks_no_id(monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    """Each line is within the terminal, an ID is in one piece, and a state is folded between words."""
    lines = printed(monkeypatch, width)
    assert max(map(len, lines)) <= width
    assert any(line.startswith("weather_of_the_world/get_tide ") for line in lines)
    words = {word for line in lines for word in line.split()}
    assert {"configured:", "required", "api_url"} <= words


def test_columns_go_below_their_row_in_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """The least useful goes first; an empty cell has no line of its own."""
    wide, middle, narrow = (printed(monkeypatch, width) for width in (200, 80, 60))
    assert not any(":" in line[:12] for line in wide)
    assert "    needs: HIGH, set by user (settings.toml:12)" in middle
    assert not any(line.startswith("    from:") for line in middle)
    assert [line for line in narrow if line.startswith("    from:")] == ["    from: tide-tools 1.0"]


def test_an_id_that_is_wider_than_the_terminal_stays_in_one_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    """The terminal breaks it, so that it can be copied."""
    assert any("weather_of_the_world/get_tide" in line for line in printed(monkeypatch, 20))


def test_without_a_terminal_a_row_is_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other programs read it."""
    lines = printed(monkeypatch, 30, is_terminal=False)
    assert len(lines) == 3
    assert lines[1].endswith("HIGH, set by user (settings.toml:12)")


def test_widths_count_cells() -> None:
    """A wide letter takes two."""
    assert shape((Column("a", whole=True), Column("b")), [("漢字", "x")], 40) == {0: 4, 1: 1}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("set by user (/a/b c/settings.toml:3).", "set by user (settings.toml:3)."),
        (r"user (C:\x\settings.toml:3)", "user (settings.toml:3)"),
        ("organization 'Us' (/etc/plugin.lua)", "organization 'Us' (plugin.lua)"),
        ("user (settings.toml:3)", "user (settings.toml:3)"),
        ("a path (/a/b) stays", "a path (/a/b) stays"),
        ("user (/a (b)/settings.toml:3)", "user (/a (b)/settings.toml:3)"),
    ],
)
def test_who_set_a_rule_is_told_with_the_name_of_the_file(text: str, told: str) -> None:
    """What is no place of a rule stays as it is."""
    assert brief(text) == told


@pytest.mark.parametrize("width", ["80", "120"])
@pytest.mark.parametrize("command", ["tools", "providers", "previews", "assistants", "templates", "plugins", "chats"])
def test_every_list_fits_a_terminal(tmp_path: Path, command: str, width: str) -> None:
    """IDs in one piece, no line wider than the terminal, no folder in who set a rule."""
    (tmp_path / "settings.toml").write_text(
        '[minimum_provider_confidence_by_tool_id]\nsemantic_search = "HIGH"\n[previews]\nPRE_MAILBOXES_2026 = false\n'
        '[assistants.minutes-of-meetings]\ntool_ids = ["semantic_search"]\ndescription = "Turns notes into minutes."\n'
        '[chat_templates.wiki-and-more]\nsystem_prompt = "Search the wiki first, and then say where it was found."\n'
    )
    with OnTerminal(tmp_path, command, "list", COLUMNS=width, NO_COLOR="1") as run:
        assert run.end() == 0
    lines = run.text.splitlines()
    assert max(map(len, lines)) <= int(width), run.text
    assert f"({tmp_path}" not in run.text
    whole = {
        "tools": "semantic_search", "providers": "offline (default)", "previews": "PRE_MAILBOXES_2026",
        "assistants": "minutes-of-meetings", "templates": "wiki-and-more", "plugins": "semantic_search",
    }  # fmt: skip
    assert any(line.startswith(whole.get(command, "No chat")) for line in lines), run.text
