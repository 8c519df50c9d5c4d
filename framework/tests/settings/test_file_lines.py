"""On which line a key of a settings file stands."""

import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockgate.settings import file_lines
from lockgate.settings.file_lines import MAX_DEPTH, Path, key_lines

TRICKY = '''\
# enable_tools = false
enable_tools = true  # [limits]

"quoted key".'lit "eral' = """
disabled_tool_ids = ["a"]
[limits]
\\""" max_tool_calls = 1
""""" # two quotes of its own
[ limits ] # comment = 3
max_tool_calls = 5
list = [ # ] in a comment
  "]", ']', { inside = 1 },
  """
x = 1
""",
]

[providers . "a.b"]
profile = \'\'\'
profile = "no"
\'\'\'
parameters = { temperature = 0.2, "}" = "{", nested.deep = [1,
  2] }

[[tables]]
enable_tools = 1
[tables.inside]
y = 2
[[tables]]
[providers]
z.profile = 1979-05-27 07:32:00
z.name = "Z"
["\\u0061ssistants"."tab\\there"]
component = "CHAT"\t
'''
LINES: dict[Path, int] = {
    ("enable_tools",): 2, ("quoted key",): 4, ("quoted key", 'lit "eral'): 4, ("limits",): 9,
    ("limits", "max_tool_calls"): 10, ("limits", "list"): 11, ("providers",): 30, ("providers", "a.b"): 18,
    ("providers", "a.b", "profile"): 19, ("providers", "a.b", "parameters"): 22, ("tables",): 25,
    ("providers", "z"): 31, ("providers", "z", "profile"): 31, ("providers", "z", "name"): 32,
    ("assistants",): 33, ("assistants", "tab\there"): 33, ("assistants", "tab\there", "component"): 34,
}  # fmt: skip


@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["lf", "crlf"])
@pytest.mark.parametrize("last", ["\n", ""], ids=["ended", "open"])
def test_each_key_of_a_tricky_file_has_its_line(end: str, last: str) -> None:
    """Strings that look like keys, comments, quotes, escapes, lists of tables and Windows line ends mislead nobody."""
    text = (TRICKY.rstrip("\n") + last).replace("\n", end)
    assert key_lines(text, tomllib.loads(text)) == LINES


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("a = ''\nb = \"\"\nc = ''''''\nd = \"\"\"\"\"\"\ne = 1", {"a": 1, "b": 2, "c": 3, "d": 4, "e": 5}),
        ("a = ''''x'''''\nb = 1", {"a": 1, "b": 2}),
        ('a = "\\\\"\nb = "\\""\nc = 1', {"a": 1, "b": 2, "c": 3}),
        ("a = []\nb = {}\nc = [[], [[]]]\nd = [\n\n1\n,]\ne = 1", {"a": 1, "b": 2, "c": 3, "d": 4, "e": 8}),
        ("\n\n\t a\t=\t1 \n 1 = 2\n-=3", {"a": 3, "1": 4, "-": 5}),
        ("", {}),
        ("# only a comment", {}),
    ],
)
def test_small_files_are_followed(text: str, lines: dict[str, int]) -> None:
    """Empty strings and lists, quotes at the end of strings, odd blanks, keys of digits."""
    assert key_lines(text, tomllib.loads(text)) == {(name,): line for name, line in lines.items()}


def test_a_table_that_is_opened_later_has_the_line_where_it_is_opened() -> None:
    """Before that, the line on which it is first named is the best there is."""
    text = "[a.b.c.d.e]\nx = 1\n[a.b]\ny = 1\n"
    assert key_lines(text, tomllib.loads(text)) == {
        ("a",): 1, ("a", "b"): 3, ("a", "b", "c"): 1, ("a", "b", "y"): 4,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "table"),
    [
        ("", {"a": 1}),
        ("a = 1", {}),
        ("a = 1", {"b": 1}),
        ("a = 1\nb", {"a": 1}),
        ("a = 1 1", {"a": 1, "b": {"c": 2}}),
        ('a = "', {"a": 1}),
        ('a = """x', {"a": 1}),
        ("a = '''x", {"a": 1}),
        ("a = [1", {"a": 1}),
        ("a = '\n'", {"a": 1}),
        ('"\\q" = 1', {"a": 1}),
        ("a = " + "[" * 100_000, {"a": 1}),
    ],
)
def test_no_line_is_told_where_text_and_table_do_not_agree(text: str, table: dict[str, Any]) -> None:
    """A wrong line would be a lie: every key is there, and none has one."""
    found = key_lines(text, table)
    assert set(found.values()) <= {None}
    assert {path[0] for path in found} == set(table)


def test_a_scanner_that_misses_a_key_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    """All lines of the file are in doubt then, not only that of the key."""
    text = "a = 1\nb = 2\n"
    monkeypatch.setattr(file_lines._Scanner, "scan", lambda _: {("a",): 1})
    assert key_lines(text, tomllib.loads(text)) == {("a",): None, ("b",): None}


def test_a_large_hostile_file_is_followed() -> None:
    """A hundred thousand keys, a list with as many items, a key of a thousand names: each key has its line."""
    many = "".join(f"k{number} = {number}\n" for number in range(100_000))
    text = f"list = [{'1,' * 100_000}]\n{many}{'x.' * 500}x = 1\n"
    found = key_lines(text, tomllib.loads(text))
    assert found["k77777",] == 77_779
    assert found["x", "x", "x"] == 100_002
    assert max(map(len, found)) == MAX_DEPTH


NAMES = st.text(min_size=0, max_size=6).filter(lambda name: not any("\ud800" <= letter <= "\udfff" for letter in name))
NOISE = st.sampled_from(
    ["", "# a = 1", "  ", "# [t]\n", 'noise = """\n[x]\ny = 1\n"""', "noise = '''\n'' x = 1\n'''",
     "noise = [\n  'a = 1', # ]\n]", "noise = { a = { b = 1 } }", 'noise = "# \\" \\\\"'],
)  # fmt: skip


def quoted(name: str) -> str:
    """Return a name as a quoted key of TOML."""
    escaped = "".join(
        letter if letter.isalnum() else f"\\u{ord(letter):04x}" if ord(letter) < 0x10000 else f"\\U{ord(letter):08x}"
        for letter in name
    )
    return f'"{escaped}"'


@given(st.dictionaries(NAMES, st.tuples(NOISE, st.lists(NAMES, unique=True, max_size=3)), max_size=5), st.booleans())
def test_every_key_is_found_where_it_was_written(
    tables: dict[str, tuple[str, list[str]]], windows: bool
) -> None:
    """Tables and keys of any names, with text between them that looks like more: each line is the right one."""
    lines: list[str] = []
    wanted: dict[Path, int] = {}
    for number, (table, (noise, keys)) in enumerate(tables.items()):
        name = f"{number}{table}"
        lines.append(f"[{quoted(name)}]")
        wanted[name,] = len(lines)
        lines.extend(noise.split("\n"))
        for key in keys:
            lines.append(f"{quoted('k' + key)} = '{key.encode().hex()}'")
            wanted[name, "k" + key] = len(lines)
    text = ("\r\n" if windows else "\n").join(lines)
    found = key_lines(text, tomllib.loads(text))
    assert {path: line for path, line in found.items() if "noise" not in path} == wanted
