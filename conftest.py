"""What holds for every test: loopback only, a home of its own, no keyring, no keys, extras announced."""

import itertools
import os
import shutil
import sys
import tempfile
from ipaddress import ip_address
from pathlib import Path

import pytest

_HOMES = pytest.StashKey[str]()
_numbers = itertools.count(1)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the switch that lets tests marked `extra` run."""
    parser.addoption("--extras", action="store_true", help="run tests that need more than Python packages")


def pytest_configure(config: pytest.Config) -> None:
    """Shuts the network, and takes the developer's own set-up out of sight before any module is imported."""
    config.stash[_HOMES] = tempfile.mkdtemp(prefix="lockgate-tests-")
    os.environ["LOCKGATE_HOME"] = str(Path(config.stash[_HOMES], "home"))
    os.environ["PYTHON_KEYRING_BACKEND"] = "keyring.backends.fail.Keyring"
    for name in [name for name in os.environ if name.endswith("_API_KEY") or name.lower().endswith("_proxy")]:
        del os.environ[name]
    sys.addaudithook(_refuse_network)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Removes the home folders of this run."""
    shutil.rmtree(config.stash[_HOMES], ignore_errors=True)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skips tests marked `extra`, saying what each needs and how to run it, unless `--extras` is given."""
    for item in items:
        marker = item.get_closest_marker("extra")
        if marker is None:
            continue
        if len(marker.args) != 1 or not isinstance(marker.args[0], str):
            raise pytest.UsageError(f'{item.nodeid}: write @pytest.mark.extra("what it needs, in words")')
        if not config.getoption("--extras"):
            item.add_marker(pytest.mark.skip(reason=f"needs {marker.args[0]}; `make test-all` runs it"))


@pytest.fixture(autouse=True)
def _own_home(pytestconfig: pytest.Config, monkeypatch: pytest.MonkeyPatch) -> None:
    """Gives each test a home of its own; the folder appears when something is written to it."""
    monkeypatch.setenv("LOCKGATE_HOME", str(Path(pytestconfig.stash[_HOMES], f"home-{next(_numbers)}")))


def _refuse_network(event: str, arguments: tuple[object, ...]) -> None:
    """An audit hook: raises where a test would resolve a name or connect beyond this machine."""
    host: object
    if event == "socket.getaddrinfo":
        host = arguments[0]
    elif event in ("socket.connect", "socket.sendto"):
        address = arguments[1]
        host = address[0] if isinstance(address, tuple) else None  # a path: a Unix socket
    else:
        return
    if isinstance(host, bytes):
        host = host.decode("ascii", "replace")
    if not isinstance(host, str) or host in ("", "localhost") or _is_loopback(host):
        return
    raise RuntimeError(f"Tests talk to loopback only, and this one asks for {host!r}.")


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        return False
