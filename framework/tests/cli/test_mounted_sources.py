"""What is demanded of a file is demanded of the one that is read, also where folders appear in a second place."""

import asyncio
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from lockgate.app.home import open_lockgate, read_configuration
from lockgate.chat import ChatThread
from lockgate.cli import attached, demands
from lockgate.cli.attached import Attached, read_attached
from lockgate.cli.demands import demands_on, held_to_its_source
from lockgate.cli.mounts import Mount, Part, mounts, parts_at, share
from lockgate.documents import Document, reading
from lockgate.errors import DocumentError
from lockgate.policy import ConfidenceLevel
from lockgate.settings.home import Home

TABLE = """\
22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
23 22 0:21 / /proc rw - proc proc rw
40 22 8:1 /srv/secret\\040papers/sub /people/u/m rw - ext4 /dev/sda1 rw
41 22 8:2 / /mnt/disk\\134 rw - ext4 /dev/sda2 rw
42 22 8:2 /docs /people/u/docs rw - ext4 /dev/sda2 rw

a line of another form
"""


@pytest.fixture
def known(tmp_path: Path) -> tuple[Mount, ...]:
    """A list of mounts as Linux writes it."""
    table = tmp_path / "mountinfo"
    table.write_text(TABLE)
    return mounts(table)


def test_the_list_of_mounts_is_read(known: tuple[Mount, ...], tmp_path: Path) -> None:
    """Device, root and place, without escapes; what is no mount is passed over, and no list is none."""
    assert [(mount.shown.device, str(mount.shown.path), str(mount.at)) for mount in known] == [
        ("8:1", "/", "/"), ("0:21", "/", "/proc"), ("8:1", "/srv/secret papers/sub", "/people/u/m"),
        ("8:2", "/", "/mnt/disk\\"), ("8:2", "/docs", "/people/u/docs"),
    ]  # fmt: skip
    assert mounts(tmp_path / "none") == ()


@pytest.mark.parametrize(
    ("one", "other", "shared"),
    [
        ("/people/u", "/srv/secret papers", True),
        ("/people/u/m/a.txt", "/srv/secret papers", True),
        ("/people/u/m", "/srv/secret papers/sub/deep", True),
        ("/people/u/m/a.txt", "/srv/secret papers/sub/a.txt", True),
        ("/people/u/m/a.txt", "/srv/secret papers/sub/b.txt", False),
        ("/people/u/m", "/srv/secret papers/other", False),
        ("/people/u/docs/x", "/mnt/disk\\/docs", True),
        ("/people/u/docs", "/mnt/disk\\/other", False),
        ("/people/u/other", "/srv/secret papers", False),
        ("/docs", "/mnt/disk\\/docs", False),
        ("/proc/srv", "/srv", False),
    ],
)
def test_two_places_share_what_is_mounted_in_both(
    known: tuple[Mount, ...], one: str, other: str, shared: bool
) -> None:
    """Whichever of the two is the mounted one, above, below or equal; the same path of another device is another."""
    there, here = parts_at(Path(one), known), parts_at(Path(other), known)
    assert share(there, here) is share(here, there) is shared


# What is read


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    """A file of a configured data source with confidence HIGH."""
    (tmp_path / "home").mkdir()
    (tmp_path / "source" / "sub").mkdir(parents=True)
    file = tmp_path / "source" / "sub" / "a.txt"
    file.write_text("secret words\n")
    (tmp_path / "home" / "settings.toml").write_text(
        f'[data_sources.h]\nkind = "local_folder"\npath = "{tmp_path / "source"}"\nconfidence = "HIGH"\n'
    )
    return file


async def levels(base: Path, *places: Path, opened: os.stat_result | None = None) -> list[ConfidenceLevel]:
    """Return what the configured sources demand of a place."""
    configuration = read_configuration(Home.at(base / "home"))
    async with open_lockgate(Home.at(base / "home"), configuration) as gate:
        return [demand.level for demand in demands_on(gate, configuration, *places, opened=opened)]


async def test_a_folder_with_a_mounted_part_of_a_source_demands_what_it_does(
    secret: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder, the place of the mount, and a file in it; a folder beside it demands nothing."""
    place = tmp_path / "free"
    (place / "m").mkdir(parents=True)
    (place / "m" / "a.txt").write_text("what the mount shows")
    root = Mount(Part("8:1", Path("/")), Path("/"))
    table = (root, Mount(Part("8:1", secret.parent), place / "m"))
    monkeypatch.setattr(demands, "mounts", lambda: table)
    for path in (place, place / "m", place / "m" / "a.txt"):
        assert await levels(tmp_path, path) == [ConfidenceLevel.HIGH]
    assert await levels(tmp_path, place / "n") == []
    monkeypatch.setattr(demands, "mounts", lambda: (root,))
    assert await levels(tmp_path, place) == []


async def test_a_file_whose_folder_is_mounted_in_a_source_demands_what_it_does(
    secret: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Named by the place it comes from, it is a file of the source all the same."""
    origin = tmp_path / "origin"
    origin.mkdir()
    (origin / "b.txt").write_text("words")
    (secret.parent / "m").mkdir()
    table = (Mount(Part("8:1", Path("/")), Path("/")), Mount(Part("8:1", origin), secret.parent / "m"))
    monkeypatch.setattr(demands, "mounts", lambda: table)
    assert await levels(tmp_path, origin / "b.txt") == [ConfidenceLevel.HIGH]


async def test_a_link_that_changes_does_not_part_text_and_demand(
    secret: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While it is read, and once it is read, it may lead elsewhere: what was read is what is asked for."""
    free, link = tmp_path / "free.txt", tmp_path / "link.txt"
    free.write_text("free words")
    link.symlink_to(secret)
    read = reading.read_opened

    def swapped(file: object, name: str) -> Document:
        link.unlink()
        link.symlink_to(free)
        return read(file, name)  # type: ignore[arg-type]  # what it was called with

    monkeypatch.setattr(attached, "read_opened", swapped)
    found = read_attached(link)
    assert found.document.text.strip() == "secret words"
    configuration = read_configuration(Home.at(tmp_path / "home"))
    async with open_lockgate(Home.at(tmp_path / "home"), configuration) as gate:
        chat = held_to_its_source(gate, configuration, ChatThread(), link, found)
    assert chat.requirements.confidence is ConfidenceLevel.HIGH


def test_an_exchanged_file_nobody_can_place_is_not_sent(
    secret: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the system does not tell the path of an opened file, the path that was named has to lead to it still."""
    monkeypatch.setattr(attached, "_OPENED", str(tmp_path / "no-proc-{}"))
    link = tmp_path / "link.txt"
    link.symlink_to(secret)
    assert read_attached(link).places == (secret,)
    opened = reading.open_document

    def swapped(path: Path) -> object:
        file = opened(path)
        link.unlink()
        (tmp_path / "free.txt").write_text("free words")
        link.symlink_to(tmp_path / "free.txt")
        return file

    monkeypatch.setattr(attached, "open_document", swapped)
    with pytest.raises(DocumentError, match=r"'link\.txt' was exchanged"):
        read_attached(link)


def test_a_removed_file_is_known_by_where_it_lay(secret: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An editor that puts a new file in its place while it is read takes nothing of the demand away."""
    if not Path("/proc/self/fd").exists():
        pytest.skip("this system does not tell the path of an opened file")
    opened = reading.open_document

    def removed(path: Path) -> object:
        file = opened(path)
        path.unlink()
        return file

    monkeypatch.setattr(attached, "open_document", removed)
    assert secret in read_attached(secret).places


def test_an_opened_file_counts_by_itself(secret: Path, tmp_path: Path) -> None:
    """A source that is this very file demands what it does, whatever path is known of it."""
    file = tmp_path / "home" / "settings.toml"
    file.write_text(file.read_text().replace("local_folder", "local_file").replace('/source"', '/source/sub/a.txt"'))
    elsewhere = tmp_path / "elsewhere.txt"
    assert asyncio.run(levels(tmp_path, elsewhere, opened=secret.stat())) == [ConfidenceLevel.HIGH]
    assert asyncio.run(levels(tmp_path, elsewhere, opened=file.stat())) == []


def test_what_is_attached_tells_its_place_and_file(secret: Path, tmp_path: Path) -> None:
    """Through a link it is the file the link leads to."""
    link = tmp_path / "link.txt"
    link.symlink_to(secret)
    found = read_attached(link)
    assert found == Attached(Document("link.txt", "secret words\n", found.document.kind), (secret,), secret.stat())


# With real mounts


@pytest.fixture
def mounted(secret: Path, tmp_path: Path) -> Iterator[Path]:
    """The folder of the secret, mounted at a second place as well."""
    place = tmp_path / "free" / "m"
    place.mkdir(parents=True)
    subprocess.run(["mount", "--bind", secret.parent, place], check=True)
    try:
        yield place
    finally:
        subprocess.run(["umount", place], check=True)


@pytest.mark.extra("Linux, and the right to mount")
async def test_a_real_mount_makes_no_difference(mounted: Path, tmp_path: Path) -> None:
    """By its second place, and by the folder around that, it is the source; the file read there is one of it."""
    found = read_attached(mounted / "a.txt")
    assert found.document.text == "secret words\n"
    for places in ((mounted,), (mounted.parent,), found.places):
        assert await levels(tmp_path, *places) == [ConfidenceLevel.HIGH]
    assert await levels(tmp_path, tmp_path / "home") == []


@pytest.mark.extra("Linux, and the right to mount")
async def test_the_origin_of_a_real_mount_in_a_source_makes_no_difference(mounted: Path, tmp_path: Path) -> None:
    """The source is the second place; the file is named by the first."""
    file = tmp_path / "home" / "settings.toml"
    file.write_text(file.read_text().replace('/source"', '/free"'))
    found = read_attached(tmp_path / "source" / "sub" / "a.txt")
    assert await levels(tmp_path, *found.places) == [ConfidenceLevel.HIGH]
    assert await levels(tmp_path, tmp_path / "source") == [ConfidenceLevel.HIGH]
