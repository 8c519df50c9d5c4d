"""Installs little distributions: a folder on the path with a module and its metadata, as pip would leave it."""

import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

Install = Callable[..., str]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Return a function that installs a distribution; nothing else that is installed can be seen meanwhile."""
    before = set(sys.modules)
    others = [folder for folder in sys.path if "site-packages" not in folder]
    monkeypatch.setattr(sys, "path", [str(tmp_path / "site"), *others])

    def put(
        name: str,
        source: str,
        *,
        version: str = "1.0",
        requires: str = "",
        entry_points: str = "",
        folder: str = "site",
    ) -> str:
        module = name.replace("-", "_")
        site = tmp_path / folder
        info = site / f"{module}-{version}.dist-info"
        info.mkdir(parents=True)
        site.joinpath(f"{module}.py").write_text(source)
        metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        info.joinpath("METADATA").write_text(metadata + (f"Requires-Dist: {requires}\n" if requires else ""))
        info.joinpath("entry_points.txt").write_text(entry_points or f"[lockgate]\n{module} = {module}\n")
        if str(site) not in sys.path:
            sys.path.append(str(site))
        importlib.invalidate_caches()
        return module

    yield put
    for module in set(sys.modules) - before:
        if str(tmp_path) in str(getattr(sys.modules[module], "__file__", "")):
            del sys.modules[module]
