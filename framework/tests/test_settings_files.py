"""The user's settings file: read with every problem told, changed with its comments kept."""

import os
import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockgate.errors import ConfigurationError, UnknownNameError, UsageError
from lockgate.policy import ConfidenceLevel, ConfidenceScheme
from lockgate.settings import file_values
from lockgate.settings.file_reading import PROVIDER_KEYS, TOP_KEYS, settings_from_table
from lockgate.settings.file_values import DataSourceEntry, ProviderEntry, SettingsFile
from lockgate.settings.files import UserSettings

EXAMPLE = """\
# my settings
enable_tools = true
disabled_tool_ids = ["web_search"]
trusted_provider_ids = ["office"]
default_provider = "office"

[confidence]
scheme = "custom"
custom = { MISTRAL = "high", SOME_TYPE = "LOW" }

[minimum_provider_confidence_by_tool_id]
web_search = "MEDIUM"   # important

[default_tool_ids_by_component]
CHAT = ["b", "a", "b"]

[limits]
max_tool_calls = 20
max_tool_result_characters = 5000

[plugins]
disabled = ["x"]
allowed = []

[tools.web_search]
"searxng.baseUrl" = "https://search.example.org"
searxng.language = "de-DE"
count = 5
blank = ""

# the office
[providers.office]
profile = "vllm"
name = "Office"
base_url = "https://LLM.example.org/v1/"
model = "m"
api_key_variable = "OFFICE_KEY"
self_hosted = true
can_call_tools = false
confidence = "HIGH"
parameters = { temperature = 0.2, nested = { a = [1] } }

[data_sources.docs]
kind = "local_folder"
path = "/docs"
"""


@pytest.fixture
def user(tmp_path: Path) -> UserSettings:
    """Settings in a folder that does not exist yet."""
    return UserSettings(tmp_path / "config" / "settings.toml")


def written(user: UserSettings, text: str) -> UserSettings:
    """Write a file by hand."""
    user.path.parent.mkdir(exist_ok=True)
    user.path.write_text(text, encoding="utf-8")
    return user


def problems(user: UserSettings, text: str) -> list[str]:
    """Return the problems of a file."""
    return [str(problem) for problem in written(user, text).read().problems]


def test_everything_is_read(user: UserSettings) -> None:
    """Each key of the layout has its value."""
    file = written(user, EXAMPLE).read()
    assert file == SettingsFile(
        True, frozenset({"web_search"}), frozenset({"office"}), "office",
        ConfidenceScheme.CUSTOM, {"MISTRAL": ConfidenceLevel.HIGH, "SOME_TYPE": ConfidenceLevel.LOW},
        {"web_search": ConfidenceLevel.MEDIUM}, {"CHAT": ("b", "a")}, 20, 5000, frozenset({"x"}), frozenset(),
        {
            "web_search.searxng.baseUrl": "https://search.example.org", "web_search.searxng.language": "de-DE",
            "web_search.count": 5, "web_search.blank": "",
        },
        {"office": ProviderEntry(
            "office", "vllm", "Office", "https://llm.example.org/v1", "m", "OFFICE_KEY", True, False,
            ConfidenceLevel.HIGH, {"temperature": 0.2, "nested": {"a": [1]}},
        )},
        {"docs": DataSourceEntry("docs", "local_folder", "docs", {"path": "/docs"})},
    )  # fmt: skip


def test_the_documented_layout_is_right(user: UserSettings) -> None:
    """The example of the documentation is read without a problem and names every key."""
    documentation = file_values.__doc__ or ""
    example = documentation.partition("::\n")[2].partition("\nSecrets do not belong")[0]
    text = "\n".join(line.strip() for line in example.splitlines())
    assert written(user, text).read().problems == ()
    assert all(key in text for key in (*TOP_KEYS, *PROVIDER_KEYS))


def test_no_file_means_the_defaults(user: UserSettings) -> None:
    """Reading makes nothing."""
    assert user.read() == SettingsFile()
    assert not user.path.parent.exists()


WRONG: dict[str, tuple[str, tuple[str, ...], dict[str, Any]]] = {
    "misspelt key": ("enable_tool = true", ("enable_tool ", "Did you mean 'enable_tools'?"), {}),
    "unknown key": ("zzz = 1", ("zzz", "Known are", "enable_tools"), {}),
    "switch as text": (
        'enable_tools = "no"',
        ("enable_tools", "'no'", "true and false", "off"),
        {"enable_tools": False},
    ),
    "disabled as text": (
        'disabled_tool_ids = "a"',
        ("disabled_tool_ids", "'a'", '["a", "b"]'),
        {"disabled_tool_ids": frozenset({"a"})},
    ),
    "disabled in part": (
        'disabled_tool_ids = ["a", 7]',
        ("disabled_tool_ids", "7"),
        {"disabled_tool_ids": frozenset({"a"})},
    ),
    "trusted as text": ('trusted_provider_ids = "a"', ("trusted_provider_ids",), {"trusted_provider_ids": frozenset()}),
    "default provider": ("default_provider = 1", ("default_provider", "text"), {"default_provider": ""}),
    "scheme": (
        '[confidence]\nscheme = "TRUST_ALLL"',
        ("confidence.scheme", "'TRUST_ALLL'", "LOCAL_TRUST_ONLY", "Did you mean 'TRUST_ALL'?"),
        {"confidence_scheme": ConfidenceScheme.CUSTOM, "custom_confidence": {}},
    ),
    "custom level": (
        '[confidence]\ncustom = {X = "HIHG"}',
        ("confidence.custom.X", "'HIHG'", "Did you mean 'HIGH'?"),
        {"custom_confidence": {"X": ConfidenceLevel.NONE}},
    ),
    "custom type": ('[confidence]\ncustom = {OPENAI = "HIGH"}', ("confidence.custom.OPENAI", "'OPEN_AI'"), {}),
    "custom as text": ('[confidence]\ncustom = "HIGH"', ("confidence.custom", "table"), {"custom_confidence": {}}),
    "minimum": (
        '[minimum_provider_confidence_by_tool_id]\na = "LWO"\nb = "LOW"',
        ("minimum_provider_confidence_by_tool_id.a", "'LWO'", "HIGH is demanded"),
        {"minimum_provider_confidence_by_tool_id": {"a": ConfidenceLevel.HIGH, "b": ConfidenceLevel.LOW}},
    ),
    "unknown minimum": (
        '[minimum_provider_confidence_by_tool_id]\na = "UNKNOWN"',
        ("UNKNOWN",),
        {"minimum_provider_confidence_by_tool_id": {"a": ConfidenceLevel.HIGH}},
    ),
    "minimum as number": (
        "[minimum_provider_confidence_by_tool_id]\na = 300",
        ("300", "MODERATE"),
        {"minimum_provider_confidence_by_tool_id": {"a": ConfidenceLevel.HIGH}},
    ),
    "component": (
        '[default_tool_ids_by_component]\nCHAT = "a"',
        ("default_tool_ids_by_component.CHAT",),
        {"default_tool_ids_by_component": {"CHAT": ()}},
    ),
    "limit": (
        "[limits]\nmax_tool_calls = 0",
        ("limits.max_tool_calls", "0", "from 1 to 1000"),
        {"max_tool_calls": None},
    ),
    "limit as switch": ("[limits]\nmax_tool_calls = true", ("true",), {"max_tool_calls": None}),
    "limit key": ("[limits]\nmax_calls = 3", ("limits.max_calls", "max_tool_calls"), {}),
    "allowed": ('[plugins]\nallowed = "a"', ("plugins.allowed",), {"allowed_plugins": frozenset()}),
    "plugins": ('plugins = "a"', ("plugins", "[plugins]"), {"allowed_plugins": frozenset()}),
    "disabled plugin": ('[plugins]\ndisabled = "a"', ("plugins.disabled",), {"disabled_plugins": frozenset({"a"})}),
    "tool as text": ('[tools]\na = "x"', ("tools.a", "table"), {"tool_settings": {}}),
    "tool value": ("[tools.a]\nx = [1]\ny = 2", ("tools.a.x", "list"), {"tool_settings": {"a.y": 2}}),
    "tool date": ("[tools.a]\nx = 2026-01-01", ("tools.a.x", "date"), {"tool_settings": {}}),
    "tool twice": ('[tools.a]\n"x.y" = 1\nx.y = 2', ("tools.a.", "x.y", "twice"), {"tool_settings": {"a.x.y": 1}}),
    "dotted tool": ('[tools."a.b"]\nx = 1', ('tools."a.b"', "dot"), {"tool_settings": {}}),
    "provider without profile": (
        '[providers.p]\nmodel = "m"',
        ("providers.p", "profile is missing"),
        {"providers": {}},
    ),
    "provider value": (
        '[providers.p]\nprofile = "x"\nself_hosted = "yes"',
        ("providers.p", "self_hosted", "'yes'"),
        {"providers": {}},
    ),
    "provider level": (
        '[providers.p]\nprofile = "x"\nconfidence = "UNKNOWN"',
        ("providers.p", "confidence"),
        {"providers": {}},
    ),
    "provider address": (
        '[providers.p]\nprofile = "x"\nbase_url = "localhost:1"',
        ("base_url", "http://"),
        {"providers": {}},
    ),
    "provider query": (
        '[providers.p]\nprofile = "x"\nbase_url = "http://a/?b"',
        ("base_url", "without ?"),
        {"providers": {}},
    ),
    "provider number": ("[providers.p]\nprofile = 3\n", ("profile", "3"), {"providers": {}}),
    "provider parameters": (
        '[providers.p]\nprofile = "x"\nparameters = {a = nan}',
        ("parameters", "nan", "JSON"),
        {"providers": {}},
    ),
    "provider as text": ('[providers]\np = "x"', ("providers.p", "[providers.NAME]"), {"providers": {}}),
    "source without kind": (
        '[data_sources.d]\npath = "x"',
        ("data_sources.d", "kind is missing"),
        {"data_sources": {}},
    ),
    "source with a date": (
        '[data_sources.d]\nkind = "k"\nsince = 2026-01-01',
        ("data_sources.d", "date"),
        {"data_sources": {}},
    ),
}


@pytest.mark.parametrize(("text", "words", "left"), WRONG.values(), ids=WRONG)
def test_a_wrong_value_costs_itself(
    user: UserSettings, text: str, words: tuple[str, ...], left: dict[str, Any]
) -> None:
    """The problem names the key, what arrived and what is valid; the safe choice counts; the rest of the file too."""
    beside = "" if "[providers]" in text else '\n\n[providers.good]\nprofile = "openai"\n'
    file = written(user, text + beside).read()
    assert len(file.problems) == 1
    assert all(word in str(file.problems[0]) for word in words), str(file.problems[0])
    for name, value in left.items():
        found = getattr(file, name)
        assert dict(found) | value == dict(found) if isinstance(value, dict) else found == value, found
    if beside:
        assert list(file.providers) == ["good"]


def test_a_secret_in_the_file_is_never_repeated(user: UserSettings) -> None:
    """A key that was put into the settings is told without showing it."""
    told = problems(user, '[providers.p]\nprofile = "x"\napi_key = "sk-CANARY"\n[providers.q]\nprofile = "x"\n'
                          'api_key_variable = "sk-CANARY"\n')  # fmt: skip
    assert len(told) == 2
    assert "secrets.toml" in told[0]
    assert "environment variable" in told[1]
    assert "CANARY" not in "".join(told)
    assert list(user.read().providers) == ["p"]


@pytest.mark.parametrize(
    ("text", "place"), [("a = 1\nb = \n", "line 2"), ("a = 1\na = 2\n", "line 2"), ("[x\n", "line 1"), ("a = '", "")]
)
def test_a_broken_file_is_named_with_its_line_and_left(user: UserSettings, text: str, place: str) -> None:
    """Reading and changing both refuse; the file keeps every byte."""
    written(user, text)
    for operation in (user.read, lambda: user.set_value(("enable_tools",), False), lambda: user.remove_provider("x")):
        with pytest.raises(ConfigurationError) as caught:
            operation()
        assert str(user.path) in str(caught.value)
        assert place in str(caught.value)
        assert "left as it is" in str(caught.value)
    assert user.path.read_text(encoding="utf-8") == text


@pytest.mark.parametrize(
    ("content", "word"),
    [(b"a = '\xff'\n", "UTF-8"), (b"#" * 5_000_000, "bytes"), (b"a = " + b"[" * 5000, "left as it is")],
)
def test_hostile_content_is_refused_in_words(user: UserSettings, content: bytes, word: str) -> None:
    """No other exception than a ConfigurationError comes out."""
    user.path.parent.mkdir()
    user.path.write_bytes(content)
    with pytest.raises(ConfigurationError, match=word):
        user.read()


def test_a_byte_order_mark_is_no_mistake(user: UserSettings) -> None:
    """Editors on Windows write one."""
    user.path.parent.mkdir()
    user.path.write_bytes(b"\xef\xbb\xbfenable_tools = false\n")
    assert user.read().enable_tools is False


def test_a_place_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    """A folder in place of the file makes a sentence."""
    (tmp_path / "settings.toml").mkdir()
    with pytest.raises(ConfigurationError, match=r"settings\.toml cannot be read"):
        UserSettings(tmp_path / "settings.toml").read()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(TOP_KEYS) | st.text(max_size=5), JSON, max_size=6))
def test_any_table_is_read(table: dict[str, Any]) -> None:
    """Whatever the file holds, reading it ends in values and problems."""
    file = settings_from_table(table)
    assert all(str(problem) for problem in file.problems)
    providers = table.get("providers")
    assert set(file.providers) <= set(providers if isinstance(providers, dict) else ())


def test_a_provider_is_added_beside_comments(user: UserSettings) -> None:
    """What was written by hand stays, byte for byte, in front of the new entry."""
    written(user, EXAMPLE)
    entry = ProviderEntry("lab", "ollama", "lab", "http://127.0.0.1:11434", parameters={"options": {"seed": 1}})
    user.add_provider(entry)
    file = user.read()
    assert file.providers["lab"] == entry
    assert list(file.providers) == ["office", "lab"]
    assert file.problems == ()
    text = user.path.read_text(encoding="utf-8")
    for line in EXAMPLE.splitlines():
        assert line in text.splitlines()


def test_the_first_provider_makes_the_file(user: UserSettings) -> None:
    """Folder 0700, file 0600, nothing else left behind."""
    entry = ProviderEntry("my.own provider", "openai", "My own", self_hosted=True, confidence=ConfidenceLevel.LOW,
                          can_call_tools=True, api_key_variable="KEY", model="m")  # fmt: skip
    user.add_provider(entry)
    assert user.read().providers == {"my.own provider": entry}
    assert stat.S_IMODE(user.path.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(user.path.stat().st_mode) == 0o600
    assert [file.name for file in user.path.parent.iterdir()] == ["settings.toml"]


def test_a_provider_is_replaced_only_when_asked(user: UserSettings) -> None:
    """The same ID twice is a mistake unless it is meant."""
    user.add_provider(ProviderEntry("a", "openai", model="one"))
    with pytest.raises(UsageError, match="'a' already"):
        user.add_provider(ProviderEntry("a", "openai", model="two"))
    assert user.read().providers["a"].model == "one"
    user.add_provider(ProviderEntry("a", "openai", model="two"), replace=True)
    assert user.read().providers["a"].model == "two"


@pytest.mark.parametrize(
    ("entry", "word"),
    [
        (ProviderEntry("a", ""), "profile"),
        (ProviderEntry("a", "x", base_url="example.org"), "base_url"),
        (ProviderEntry("a", "x", api_key_variable="sk-CANARY"), "environment variable"),
        (ProviderEntry("a", "x", parameters={"a": float("nan")}), "parameters"),
        (ProviderEntry(" ", "x"), "ID"),
    ],
)
def test_a_wrong_provider_is_not_written(user: UserSettings, entry: ProviderEntry, word: str) -> None:
    """The mistake is told and the file stays as it was."""
    written(user, EXAMPLE)
    with pytest.raises(UsageError, match=word) as caught:
        user.add_provider(entry)
    assert "CANARY" not in str(caught.value)
    assert user.path.read_text(encoding="utf-8") == EXAMPLE


def test_a_provider_is_removed(user: UserSettings) -> None:
    """It leaves the default as well; an unknown one is told with the nearest name; comments elsewhere stay."""
    written(user, EXAMPLE)
    with pytest.raises(UnknownNameError, match="'office'"):
        user.remove_provider("ofice")
    user.remove_provider("office")
    file = user.read()
    assert file.providers == {}
    assert file.default_provider == ""
    text = user.path.read_text(encoding="utf-8")
    assert "# my settings" in text
    assert "# important" in text
    with pytest.raises(UnknownNameError, match="no provider yet"):
        user.remove_provider("office")


def test_data_sources_come_and_go(user: UserSettings) -> None:
    """Added, read back equal, removed."""
    entry = DataSourceEntry("docs", "local_folder", "My documents", {"path": "/d", "depth": 3})
    user.add_data_source(entry)
    assert user.read().data_sources == {"docs": entry}
    user.remove_data_source("docs")
    assert user.read() == SettingsFile()


def test_single_values_are_set_and_removed(user: UserSettings) -> None:
    """Values of any depth; a field with dots replaces the same field written without quotes."""
    written(user, "# top\n[tools.web_search]\nsearxng.baseUrl = 'https://old.example'\nsearxng.other = 1 # stays\n")
    user.set_value(("tools", "web_search", "searxng.baseUrl"), "https://new.example")
    user.set_value(("limits", "max_tool_calls"), 3)
    user.set_value(("default_provider",), "x")
    file = user.read()
    assert file.tool_settings == {
        "web_search.searxng.baseUrl": "https://new.example", "web_search.searxng.other": 1
    }  # fmt: skip
    assert (file.max_tool_calls, file.default_provider, file.problems) == (3, "x", ())
    user.remove_value(("tools", "web_search", "searxng.baseUrl"))
    user.remove_value(("tools", "web_search", "searxng.other"))
    user.remove_value(("limits", "max_tool_calls"))
    user.remove_value(("tools", "nothing", "x"))
    assert user.read() == SettingsFile(default_provider="x")
    assert "# top" in user.path.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("key", "value"),
    [(("enable_tools",), "no"), (("nonsense",), 1), (("limits", "max_tool_calls"), -1), (("tools", "a", "x"), [1]),
     (("enable_tools", "x"), 1), (("tools", "a", "x"), object())],
)  # fmt: skip
def test_a_wrong_value_is_not_written(user: UserSettings, key: tuple[str, ...], value: object) -> None:
    """Setting something that would be a problem is refused."""
    written(user, "enable_tools = true\n")
    with pytest.raises(ConfigurationError):
        user.set_value(key, value)
    assert user.path.read_text(encoding="utf-8") == "enable_tools = true\n"


def test_old_problems_do_not_stand_in_the_way(user: UserSettings) -> None:
    """A file with a mistake elsewhere can be changed; the mistake stays to be corrected."""
    written(user, 'old_key = 1\n[providers.bad]\nmodel = "m"\n')
    user.add_provider(ProviderEntry("good", "openai"))
    file = user.read()
    assert list(file.providers) == ["good"]
    assert [problem.key for problem in file.problems] == ["old_key", "providers.bad"]


def test_a_change_meanwhile_is_not_lost(user: UserSettings, monkeypatch: pytest.MonkeyPatch) -> None:
    """What another program wrote between reading and writing is part of the outcome."""
    written(user, "")
    from lockgate.settings import files

    original = files._check_new_problems
    turns: list[int] = []

    def meanwhile(*arguments: Any) -> None:
        original(*arguments)
        if not turns:
            user.path.write_text("enable_tools = false\n", encoding="utf-8")
        turns.append(1)

    monkeypatch.setattr(files, "_check_new_problems", meanwhile)
    user.add_provider(ProviderEntry("a", "openai"))
    assert user.read().enable_tools is False
    assert list(user.read().providers) == ["a"]
    assert len(turns) == 2


def test_a_failed_write_leaves_the_old_file(user: UserSettings, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that is full at the last moment costs the change, not the file, and leaves no litter."""
    written(user, EXAMPLE)

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ConfigurationError, match="No space left"):
        user.set_value(("enable_tools",), False)
    assert user.path.read_text(encoding="utf-8") == EXAMPLE
    assert [file.name for file in user.path.parent.iterdir()] == ["settings.toml"]


def test_a_link_stays_a_link(user: UserSettings, tmp_path: Path) -> None:
    """Who keeps his settings elsewhere and links to them keeps doing so."""
    real = tmp_path / "dotfiles.toml"
    real.write_text("# mine\n", encoding="utf-8")
    user.path.parent.mkdir()
    user.path.symlink_to(real)
    user.set_value(("enable_tools",), False)
    assert user.path.is_symlink()
    assert "# mine" in real.read_text(encoding="utf-8")
    assert "enable_tools = false" in real.read_text(encoding="utf-8")
