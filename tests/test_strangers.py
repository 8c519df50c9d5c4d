"""Packs as strangers write them: installed with pip, found through entry points, and each costs only itself."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lockgate.testing import Call, FakeProvider, answer_calls, answer_text

STRANGERS = Path(__file__).parent / "strangers"
PACKS = ("good", "raising", "unavailable", "hanging")


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install all packs with pip into a folder of their own."""
    folder = tmp_path_factory.mktemp("strangers")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    packs = []
    for name in PACKS:
        copy = tmp_path_factory.mktemp("source") / name
        subprocess.run(["cp", "-r", str(STRANGERS / name), str(copy)], check=True)
        packs.append(str(copy))
    subprocess.run([*command, "--disable-pip-version-check", "--target", str(folder), *packs], check=True)
    return folder


def ask(installed: Path, *tools: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Ask in a fresh process that has the packs; return what it printed and the requests of the fake provider."""
    with FakeProvider([answer_calls(Call("get_weather", {"city": "Bremen"})), answer_text("Seven degrees.")]) as fake:
        done = subprocess.run(
            [sys.executable, str(STRANGERS / "asks.py"), fake.base_url, *tools],
            env={**os.environ, "PYTHONPATH": str(installed)}, capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        fake.assert_no_problems()
        return json.loads(done.stdout), [request.body for request in fake.requests]


def test_a_strangers_tool_is_called(installed: Path) -> None:
    """Installed with pip, found, offered, called; its result reaches the model compact and unescaped."""
    answer, requests = ask(installed, "get_weather")
    assert answer["text"] == "Seven degrees."
    assert answer["traces"][0]["status"] == "SUCCESS"
    assert requests[1]["messages"][-1]["content"] == '{"city":"Bremen","degrees":7,"sky":"überwiegend bewölkt"}'


def test_bad_packs_cost_only_themselves(installed: Path) -> None:
    """One raises at import, one in is_available, one hangs in resolve_function: the good tool is still called."""
    answer, requests = ask(installed, "get_weather", "moody", "sleepy")
    assert answer["text"] == "Seven degrees."
    assert [tool["function"]["name"] for tool in requests[0]["tools"]] == ["get_weather"]
    assert answer["plugins"]["stranger_raising"] == "quarantined"
    assert answer["plugins"]["stranger_good"] == "loaded"
    assert "stranger-unavailable: is_available of moody" in answer["incidents"]
    assert "stranger-hanging: resolve_function of sleepy" in answer["incidents"]


@pytest.mark.parametrize("name", PACKS)
def test_a_pack_imports_only_the_public_interface(name: str) -> None:
    """The packs are written as a stranger would: nothing private is imported."""
    for module in (STRANGERS / name).rglob("*.py"):
        for line in module.read_text().splitlines():
            assert not line.strip().startswith(("from lockgate.", "import lockgate.")), f"{module}: {line}"
