import codecs
import gzip
import hashlib
import os
import socket
import zlib
from pathlib import Path

import pytest

from lockgate.documents import (
    MAX_DOCUMENT_BYTES,
    DocumentKind,
    NotTextError,
    decode,
    kind_of,
    list_folder,
    read_document,
)
from lockgate.documents import folders as folders_module
from lockgate.errors import DocumentError

TEXT = "Grüße\nund mehr – € 5\n"


@pytest.mark.parametrize(
    "data",
    [
        TEXT.encode(),
        codecs.BOM_UTF8 + TEXT.encode(),
        codecs.BOM_UTF16_LE + TEXT.encode("utf-16-le"),
        codecs.BOM_UTF16_BE + TEXT.encode("utf-16-be"),
        codecs.BOM_UTF32_LE + TEXT.encode("utf-32-le"),
        codecs.BOM_UTF32_BE + TEXT.encode("utf-32-be"),
        TEXT.encode("cp1252"),
        TEXT.replace("\n", "\r\n").encode(),
        TEXT.replace("\n", "\r").encode(),
    ],
    ids=["utf-8", "utf-8 mark", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be", "cp1252", "crlf", "cr"],
)
def test_every_known_encoding_and_line_end_gives_the_same_text(data: bytes) -> None:
    """A byte order mark, UTF-8, Windows-1252, and any line end lead to one and the same text."""
    assert decode(data, "x.txt") == TEXT


def test_bytes_that_windows_1252_does_not_know_are_read_as_latin_1() -> None:
    """A text with a byte that has no meaning in Windows-1252 is still read, without replacement characters."""
    data = b"caf\xe9 \x81 " + b"and some more words " * 10
    assert decode(data, "x").startswith("café \x81 and")


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"%PDF-1.7 ...", "PDF"),
        (b"PK\x03\x04rest", "ZIP"),
        (b"\x89PNG\r\n", "image"),
        (b"\x7fELF...", "program"),
        (b"text\x00text", "binary"),
        (bytes(range(1, 32)) * 20 + b"\xff\x81", "no text"),
        (codecs.BOM_UTF16_LE + b"\x00\xd8", "damaged"),
    ],
)
def test_what_is_no_text_is_refused_with_its_kind(data: bytes, words: str) -> None:
    """Binary content raises an error that names the file and says what the content is."""
    with pytest.raises(NotTextError, match=words) as caught:
        decode(data, "thing.bin")
    assert "'thing.bin'" in str(caught.value)


def test_a_nul_far_into_a_text_does_not_make_it_binary() -> None:
    """Only a NUL among the first bytes makes a file binary; a later one is a control character like others."""
    assert decode(b"word " * 2000 + b"\x00", "x").endswith("\x00")


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("README.md", DocumentKind.MARKDOWN),
        ("README.MD.gz", DocumentKind.MARKDOWN),
        ("index.rst", DocumentKind.RESTRUCTURED_TEXT),
        ("main.py", DocumentKind.SOURCE_CODE),
        ("Makefile", DocumentKind.SOURCE_CODE),
        ("table.csv", DocumentKind.TABLE),
        ("page.html", DocumentKind.WEB_PAGE),
        ("changelog.Debian.gz", DocumentKind.TEXT),
        ("LICENSE", DocumentKind.TEXT),
    ],
)
def test_the_kind_follows_the_name(name: str, kind: DocumentKind) -> None:
    """Suffixes and well-known names tell the kind, whatever their case; `.gz` does not count."""
    assert kind_of(name) is kind


def test_gzipped_text_is_unpacked_over_all_its_members(tmp_path: Path) -> None:
    """A gzip file of several members is read as one text."""
    path = tmp_path / "a.md.gz"
    path.write_bytes(gzip.compress(b"# one\n") + gzip.compress(b"two\n"))
    document = read_document(path)
    assert (document.name, document.text, document.kind) == ("a.md.gz", "# one\ntwo\n", DocumentKind.MARKDOWN)


def test_an_archive_that_unpacks_to_too_much_is_refused(tmp_path: Path) -> None:
    """Unpacking stops at the limit, in one member and over several."""
    one, several = tmp_path / "one.gz", tmp_path / "several.gz"
    one.write_bytes(gzip.compress(b"a" * (MAX_DOCUMENT_BYTES + 1)))
    several.write_bytes(gzip.compress(b"a" * (MAX_DOCUMENT_BYTES // 2)) * 3)
    for path in (one, several):
        with pytest.raises(NotTextError, match="unpacks to more than 20 MiB"):
            read_document(path)


@pytest.mark.parametrize("cut", [slice(0, 12), slice(0, -3)], ids=["header alone", "end missing"])
def test_a_broken_archive_is_refused(tmp_path: Path, cut: slice) -> None:
    """A gzip file that breaks off raises an error that says so."""
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(b"some text, long enough to be cut " * 20)[cut])
    with pytest.raises(NotTextError, match="breaks off"):
        read_document(path)


def test_an_archive_of_too_many_members_is_refused(tmp_path: Path) -> None:
    """A gzip file of exactly the limit of members is read; one member more is refused with the limit in words."""
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(b"") * 999 + gzip.compress(b"end"))
    assert read_document(path).text == "end"
    path.write_bytes(gzip.compress(b"") * 1_000 + gzip.compress(b"end"))
    with pytest.raises(NotTextError, match="more than 1,000 members"):
        read_document(path)


def test_unpacking_copies_little_of_what_follows_a_member(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What unpackers are given in all grows with the file, not with its members times its size."""
    given, real = 0, zlib.decompressobj

    class Counting:
        def __init__(self, wbits: int) -> None:
            self.real = real(wbits)

        def decompress(self, data: bytes, limit: int) -> bytes:
            nonlocal given
            given += len(data)
            return self.real.decompress(data, limit)

        def __getattr__(self, name: str) -> object:
            return getattr(self.real, name)

    path = tmp_path / "a.gz"
    noise = gzip.compress(hashlib.shake_128().hexdigest(3_000).encode())
    path.write_bytes(noise * 900)
    monkeypatch.setattr(zlib, "decompressobj", Counting)
    assert len(read_document(path).text) == 900 * 6_000
    assert given <= path.stat().st_size + 900 * 16 * 1024


def test_what_follows_the_members_is_passed_over(tmp_path: Path) -> None:
    """Padding after the last member, as tapes and some tools leave it, does not matter."""
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(b"one ") + gzip.compress(b"two") + bytes(40_000))
    assert read_document(path).text == "one two"


def test_a_damaged_archive_is_refused(tmp_path: Path) -> None:
    """A gzip file whose content is not gzip raises an error that says so."""
    path = tmp_path / "a.gz"
    path.write_bytes(b"\x1f\x8b\x08\x00" + b"\xff" * 40)
    with pytest.raises(NotTextError, match="damaged"):
        read_document(path)


def test_the_size_limit_is_met_exactly(tmp_path: Path) -> None:
    """A file of exactly the limit is read, one byte more is refused with the limit in words."""
    path = tmp_path / "large.txt"
    path.write_bytes(b"a" * MAX_DOCUMENT_BYTES)
    assert len(read_document(path).text) == MAX_DOCUMENT_BYTES
    path.write_bytes(b"a" * (MAX_DOCUMENT_BYTES + 1))
    with pytest.raises(NotTextError, match="larger than 20 MiB"):
        read_document(path)


def test_special_files_are_refused_without_opening_them(tmp_path: Path) -> None:
    """A pipe nobody writes to, a socket, a device and a folder raise instead of waiting."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "socket"))
        for path in (pipe, tmp_path / "socket", Path("/dev/zero")):
            with pytest.raises(DocumentError, match="no ordinary file"):
                read_document(path)
    with pytest.raises(DocumentError, match="is a folder"):
        read_document(tmp_path)


def test_a_link_out_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    """With a root, links may lead anywhere inside it and nowhere else, through folders as well."""
    (tmp_path / "secret").write_text("secret")
    root = tmp_path / "root"
    (root / "sub").mkdir(parents=True)
    (root / "sub" / "real.txt").write_text("real")
    (root / "inside").symlink_to("sub/real.txt")
    (root / "outside").symlink_to("../secret")
    (root / "up").symlink_to("..")
    assert read_document(root / "inside", root=root).text == "real"
    for path in (root / "outside", root / "up" / "secret", root / ".." / "secret"):
        with pytest.raises(DocumentError, match="leads out of its folder"):
            read_document(path, root=root)
    assert read_document(root / "outside").text == "secret"


def test_missing_files_and_loops_are_told_in_words(tmp_path: Path) -> None:
    """A missing file, a loop of links and an impossible name raise an error a person can read."""
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(DocumentError, match="does not exist"):
        read_document(tmp_path / "none.txt")
    for path in (tmp_path / "loop", tmp_path / "a\0b"):
        with pytest.raises(DocumentError, match="cannot be read"):
            read_document(path)


def test_a_folder_is_listed_without_hidden_files_and_links(tmp_path: Path) -> None:
    """Ordinary files come in the order of their paths; what is passed over comes with a reason."""
    root = tmp_path / "root"
    (root / "b").mkdir(parents=True)
    (root / ".git").mkdir()
    for name in ("b/two.txt", "a.txt", ".git/config", "~$a.docx", ".hidden"):
        (root / name).write_text("x")
    (tmp_path / "outside").write_text("x")
    (root / "inner").symlink_to("a.txt")
    (root / "outer").symlink_to("../outside")
    (root / "dangling").symlink_to("nowhere")
    os.mkfifo(root / "pipe")
    listing = list_folder(root)
    assert [file.path for file in listing.files] == ["a.txt", "b/two.txt"]
    assert listing.files[0].size == 1
    assert [name for name, _ in listing.skipped] == [".git", ".hidden", "dangling", "outer", "pipe", "~$a.docx"]


def test_a_name_that_is_no_text_is_passed_over(tmp_path: Path) -> None:
    """A file name of bytes that are no UTF-8 is reported in printable form, and nothing else suffers."""
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/bad\xff.txt")).write_text("x")
    (tmp_path / "good.txt").write_text("x")
    listing = list_folder(tmp_path)
    assert [file.path for file in listing.files] == ["good.txt"]
    assert listing.skipped == (("bad?.txt", "its name is no valid text"),)


def test_folders_that_cannot_be_listed_are_unknown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder below that cannot be listed is named, so that what is known of it need not be dropped."""
    (tmp_path / "closed").mkdir()
    (tmp_path / "a.txt").write_text("x")
    real = folders_module._entries

    def entries(folder: Path) -> list[os.DirEntry[str]]:
        if folder.name == "closed":
            raise PermissionError(13, "Permission denied")
        return real(folder)

    monkeypatch.setattr(folders_module, "_entries", entries)
    listing = list_folder(tmp_path)
    assert listing.unknown == ("closed",)
    assert listing.skipped == (("closed", "the folder cannot be listed: Permission denied"),)


def test_what_is_no_folder_cannot_be_listed(tmp_path: Path) -> None:
    """A missing folder and a file raise an error that says which it is."""
    (tmp_path / "file").write_text("x")
    with pytest.raises(DocumentError, match="does not exist"):
        list_folder(tmp_path / "none")
    with pytest.raises(DocumentError, match="is no folder"):
        list_folder(tmp_path / "file")


def test_a_deep_tree_is_listed_whole(tmp_path: Path) -> None:
    """Depth costs no stack: a tree of 300 folders gives its deepest file."""
    folder = tmp_path
    for _ in range(300):
        folder /= "d"
    folder.mkdir(parents=True)
    (folder / "x.txt").write_text("x")
    assert [file.path for file in list_folder(tmp_path).files] == ["d/" * 300 + "x.txt"]
