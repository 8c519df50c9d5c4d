import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from lockgate.plugin_host.discovery import discover


def test_entry_points_are_found_in_order(install: Callable[..., str]) -> None:
    """Plugins come by distribution, then by entry point, whatever the order on the path."""
    install("zeta", "", entry_points="[lockgate]\nb = zeta\na = zeta:other\n\n[console_scripts]\nzeta = zeta:run\n")
    install("Alpha", "")
    found = discover("0.1.0").found
    assert [(item.owner.distribution, item.owner.entry_point) for item in found] == [
        ("Alpha", "Alpha"),
        ("zeta", "a"),
        ("zeta", "b"),
    ]
    assert found[0].owner.version == "1.0"


def test_a_distribution_installed_twice_counts_once(install: Callable[..., str]) -> None:
    """Of an editable and an installed copy, the one that stands first on the path is taken."""
    install("pack", "", version="2.0")
    install("pack", "", version="1.0", folder="later")
    assert [item.owner.version for item in discover("0.1.0").found] == ["2.0"]


def test_a_shadowed_copy_does_not_bring_its_entry_points_back(install: Callable[..., str]) -> None:
    """When the copy that Python imports has no plugin any more, the one behind it has none either."""
    install("pack", "", version="2.0", entry_points="[console_scripts]\npack = pack:run\n")
    install("pack", "", version="1.0", folder="later")
    assert discover("0.1.0").found == ()


@pytest.mark.parametrize(
    "requires",
    [
        "lockgate-framework>=0.1,<0.2",
        "lockgate>=0.1",
        "lockgate-framework @ file:///somewhere",
        'lockgate-framework>=9; extra == "next"',
        "something-else>=9",
        "-begins-with-no-name",
        "",
    ],
)
def test_a_suitable_plugin_is_not_called_unsupported(install: Callable[..., str], requires: str) -> None:
    """Requirements that this framework meets, that may not apply or that concern others say nothing."""
    install("pack", "", requires=requires)
    assert [item.unsupported for item in discover("0.1.0").found] == [""]


@pytest.mark.parametrize("requires", ["lockgate-framework>=0.2", "lockgate_framework (<0.1)", "lockgate[x]==0.1.1"])
def test_an_unsupported_plugin_is_told_with_both_versions(install: Callable[..., str], requires: str) -> None:
    """The sentence holds what the plugin needs and what there is."""
    install("pack", "", requires=requires)
    (item,) = discover("0.1.0").found
    assert item.unsupported == f"It needs {requires!r}, and the framework's version is 0.1.0."


def test_a_requirement_that_cannot_be_read_is_unsupported(install: Callable[..., str]) -> None:
    """What is unknown is not taken as suitable."""
    install("pack", "", requires="lockgate-framework>=new")
    (item,) = discover("0.1.0").found
    assert "cannot be read: 'new' is not a version" in item.unsupported


def test_a_missing_name_is_told_whoever_reads_metadata(install: Callable[..., str], tmp_path: Path) -> None:
    """The backport importlib_metadata takes over once something imports it, and raises where the standard does not."""
    install("nameless", "")
    tmp_path.joinpath("site", "nameless-1.0.dist-info", "METADATA").write_text("Version: 1.0\n")
    code = (
        "import contextlib, sys; sys.path.insert(0, sys.argv[1])\n"
        "with contextlib.suppress(ImportError): import importlib_metadata\n"
        "from lockgate.plugin_host.discovery import discover; print(*discover('0.1.0').problems)"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "site")]
    assert "has no Name" in subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_broken_metadata_costs_only_its_own_distribution(install: Callable[..., str], tmp_path: Path) -> None:
    """A distribution whose entry points are garbage is named, and the others are found."""
    install("broken", "", entry_points="[lockgate]\nthis line says nothing\n")
    install("nameless", "")
    tmp_path.joinpath("site", "nameless-1.0.dist-info", "METADATA").write_text("Version: 1.0\n")
    install("good", "")
    discovery = discover("0.1.0")
    assert [item.owner.distribution for item in discovery.found] == ["good"]
    assert len(discovery.problems) == 2
    assert any("broken-1.0.dist-info" in problem for problem in discovery.problems)
    assert any("has no Name" in problem for problem in discovery.problems)


def test_garbage_in_another_group_is_not_our_business(install: Callable[..., str]) -> None:
    """A distribution without a plugin is not even read."""
    install("other", "", entry_points="[console_scripts]\ngarbage\n")
    assert discover("0.1.0").problems == ()


def test_a_folder_of_another_name_than_its_distribution_is_found(install: Callable[..., str], tmp_path: Path) -> None:
    """The name in the metadata counts, as long as nothing else claims it."""
    install("folder", "")
    tmp_path.joinpath("site", "folder-1.0.dist-info", "METADATA").write_text("Name: other\nVersion: 1.0\n")
    assert [item.owner.distribution for item in discover("0.1.0").found] == ["other"]
