import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from search_kit import MemoryStore, StandInIndex, StandInServices

from lockgate.documents import list_folder, read_document
from lockgate.errors import ConfigurationError, DocumentError
from lockgate.policy import ConfidenceLevel, DataSourceSecurity
from lockgate.retrieval import DataSource, Gap, Indexable, StoredDocument
from lockgate.settings import Instance, Kind, read_settings
from lockgate_semantic_search import indexing
from lockgate_semantic_search.freshness import Freshness
from lockgate_semantic_search.sources import LOCAL_FILE, LOCAL_FOLDER, LocalSource, LocalSourceSettings


def opened(kind: Kind, store: MemoryStore | None, **values: Any) -> LocalSource:
    """A source of a kind, made as the framework makes it."""
    settings, problems = read_settings(LocalSourceSettings, values)
    assert settings is not None, problems
    assert kind.create is not None
    source = kind.create(Instance(kind, "docs", "Documents", settings), StandInServices(store=store))
    assert isinstance(source, LocalSource)
    return source


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with two texts and a picture."""
    root = tmp_path / "root"
    (root / "sub").mkdir(parents=True)
    (root / "a.md").write_text("# Fruit\n\nApples are red.\n")
    (root / "sub" / "b.txt").write_text("Pears are green. Apples too.\n")
    (root / "c.png").write_bytes(b"\x89PNG\r\n\x00")
    return root


def test_settings_are_read_from_text() -> None:
    """Values come as text; unset ones have the documented defaults."""
    settings, problems = read_settings(
        LocalSourceSettings, {"path": "/srv/docs", "max_matches": "5", "confidence": "high", "description": "Docs"}
    )
    assert problems == {}
    assert settings is not None
    assert (settings.path, settings.max_matches, settings.confidence) == ("/srv/docs", 5, ConfidenceLevel.HIGH)
    plain, _ = read_settings(LocalSourceSettings, {"path": "~/docs"})
    assert plain is not None
    assert Path(plain.path).is_absolute()
    assert (plain.max_matches, plain.confidence, plain.description) == (10, ConfidenceLevel.UNKNOWN, "")


@pytest.mark.parametrize(
    ("values", "name", "words"),
    [
        ({}, "path", "required"),
        ({"path": "docs"}, "path", "absolute"),
        ({"path": "/x", "confidence": "SUPER"}, "confidence", "valid are NONE, UNTRUSTED"),
        ({"path": "/x", "max_matches": "-1"}, "max_matches", "greater than or equal to 0"),
    ],
)
def test_wrong_settings_are_named(values: dict[str, object], name: str, words: str) -> None:
    """A problem names the setting and says what is valid."""
    settings, problems = read_settings(LocalSourceSettings, values)
    assert settings is None
    assert words in problems[name]


def test_a_local_source_fits_the_contracts(folder: Path) -> None:
    """It is a data source and indexable; its content may go wherever its level allows."""
    source = opened(LOCAL_FOLDER, MemoryStore(), path=str(folder), confidence="LOW", max_matches="3")
    assert isinstance(source, DataSource)
    assert isinstance(source, Indexable)
    assert (source.id, source.name, source.kind_label) == ("docs", "Documents", "local folder")
    assert (source.confidence, source.security, source.max_matches) == (
        ConfidenceLevel.LOW, DataSourceSecurity.ALLOW_ANY, 3
    )  # fmt: skip
    source.close()


async def test_a_folder_is_indexed_and_searched(folder: Path) -> None:
    """Passages come with their path below the folder, their heading, and an address of the file for the person."""
    source = opened(LOCAL_FOLDER, MemoryStore(), path=str(folder))
    seen: list[tuple[int, int, str]] = []
    report = await source.update(lambda *step: seen.append(step))
    assert (report.documents, report.passages, report.unchanged, report.removed) == (2, 2, 0, 0)
    assert report.skipped == (("c.png", "'c.png' is an image; only text files can be read."),)
    assert seen == [(1, 3, "a.md"), (2, 3, "c.png"), (3, 3, "sub/b.txt")]
    page = await source.retrieve("apples", 1)
    assert [passage.path for passage in page.passages] == ["a.md", "sub/b.txt"]
    first = page.passages[0]
    assert first.section == "Fruit"
    assert first.reference_title == "a.md (section Fruit)"
    assert first.reference_link == (folder / "a.md").as_uri() + "#chunk=0"
    assert page.passages[1].reference_title == "b.txt (passage 1)"
    assert not page.has_more


async def test_an_update_reads_only_what_changed(folder: Path) -> None:
    """Unchanged files are not read again, changed ones are, deleted ones go, touched ones keep their passages."""
    store = MemoryStore()
    source = opened(LOCAL_FOLDER, store, path=str(folder))
    await source.update()
    store.writes.clear()
    report = await source.update()
    assert (report.unchanged, store.writes) == (3, [])
    assert [name for name, _ in report.skipped] == ["c.png"]
    (folder / "a.md").write_text("Plums are blue.\n")
    (folder / "new.md").write_text("Cherries.\n")
    (folder / "c.png").unlink()
    os.utime(folder / "sub" / "b.txt", ns=(1, 1))
    report = await source.update()
    assert (report.documents, report.unchanged, report.removed, report.skipped) == (3, 0, 1, ())
    assert store.writes == [([], ["c.png"]), (["a.md", "new.md"], [])]
    assert store.sources["docs"][1]["sub/b.txt"].mtime_ns == 1
    assert [passage.path for passage in (await source.retrieve("apples", 1)).passages] == ["sub/b.txt"]


async def test_a_file_that_may_not_be_read_now_is_tried_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is wrong with the moment and not with the content is not remembered, and old passages go."""
    store = MemoryStore()
    source = opened(LOCAL_FOLDER, store, path=str(folder))
    await source.update()
    real = read_document

    def closed(path: Path, *, root: Path | None = None) -> Any:
        if path.name == "a.md":
            raise DocumentError("'a.md' may not be read by this user.")
        return real(path, root=root)

    (folder / "a.md").write_text("Apples are new.\n")
    monkeypatch.setattr(indexing, "read_document", closed)
    for _ in range(2):
        report = await source.update()
        assert ("a.md", "'a.md' may not be read by this user.") in report.skipped
    assert "a.md" not in store.sources["docs"][1]
    monkeypatch.setattr(indexing, "read_document", real)
    await source.update()
    assert "a.md" in store.sources["docs"][1]


async def test_documents_of_a_folder_that_cannot_be_listed_stay(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not to be able to look is no deletion."""
    store = MemoryStore()
    source = opened(LOCAL_FOLDER, store, path=str(folder))
    await source.update()
    real = list_folder

    def partly(root: Path) -> Any:
        listing = real(root)
        return replace(
            listing, files=tuple(file for file in listing.files if not file.path.startswith("sub/")), unknown=("sub",)
        )

    monkeypatch.setattr(indexing, "list_folder", partly)
    report = await source.update()
    assert report.removed == 0
    assert "sub/b.txt" in store.sources["docs"][1]


async def test_a_folder_that_is_gone_keeps_its_index_and_raises(folder: Path) -> None:
    """A drive that is not mounted does not empty the index; the search is told that it failed."""
    store = MemoryStore()
    source = opened(LOCAL_FOLDER, store, path=str(folder))
    await source.update()
    shutil.rmtree(folder)
    with pytest.raises(DocumentError, match="does not exist"):
        await source.update()
    assert len(store.sources["docs"][1]) == 3


async def test_an_update_stops_when_its_time_is_up_and_goes_on_later(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Out of time it stops between two steps and says so; what was read is kept."""
    monkeypatch.setattr(indexing, "BATCH_FILES", 1)
    source = opened(LOCAL_FOLDER, MemoryStore(), path=str(folder))
    clock = iter([0.0, 0.0, 10.0])
    monkeypatch.setattr(indexing, "time", SimpleNamespace(monotonic=lambda: next(clock, 10.0)))
    report = await source.update(seconds=5)
    assert (report.complete, report.documents) == (False, 1)
    report = await source.update()
    assert (report.complete, report.documents, report.unchanged) == (True, 2, 1)


@pytest.mark.parametrize("step", ["prepare", "write"])
async def test_a_damaged_index_is_built_again_with_a_notice(folder: Path, step: str) -> None:
    """When the store began anew, the update begins again at once and tells of it."""
    store = MemoryStore()
    store.damaged_before.add(step)
    report = await opened(LOCAL_FOLDER, store, path=str(folder)).update()
    assert report.documents == 2
    assert report.notices == ("The index was damaged and was begun anew.",)


async def test_damage_found_by_a_search_leads_to_a_new_index(folder: Path) -> None:
    """A search that hits damage updates and asks again, instead of finding nothing."""
    store = MemoryStore()
    source = opened(LOCAL_FOLDER, store, path=str(folder))
    await source.update()
    store.damaged_before.add("search")
    assert len((await source.retrieve("apples", 1)).passages) == 2


async def test_pages_cut_the_results(folder: Path) -> None:
    """Each page has its part, in one order, and the last of them says that there is no more."""
    source = opened(LOCAL_FOLDER, MemoryStore(), path=str(folder), max_matches="1")
    await source.update()
    pages = [await source.retrieve("apples", number) for number in (1, 2, 3)]
    assert [[item.path for item in page.passages] for page in pages] == [["a.md"], ["sub/b.txt"], []]
    assert [page.has_more for page in pages] == [True, False, False]


async def test_a_query_without_words_cannot_be_searched(folder: Path) -> None:
    """Punctuation alone is reported as a query that cannot be searched."""
    source = opened(LOCAL_FOLDER, MemoryStore(), path=str(folder))
    await source.update()
    assert (await source.retrieve("?!", 1)).gaps == (Gap.QUERY_NOT_SEARCHABLE,)


async def test_a_single_file_is_a_source_and_may_be_a_link(folder: Path) -> None:
    """Only the named file is read, also when it is a link the user named."""
    link = folder.parent / "link.md"
    link.symlink_to(folder / "a.md")
    source = opened(LOCAL_FILE, MemoryStore(), path=str(link))
    report = await source.update()
    assert (source.kind_label, report.documents) == ("local file", 1)
    assert [item.path for item in (await source.retrieve("apples", 1)).passages] == ["link.md"]
    link.unlink()
    with pytest.raises(DocumentError, match="does not exist"):
        await source.update()


async def test_without_a_passage_store_the_reason_is_told(folder: Path) -> None:
    """Where no plugin brings a store, using the source says what to install."""
    source = opened(LOCAL_FOLDER, None, path=str(folder))
    with pytest.raises(ConfigurationError, match="install lockgate-local-index"):
        await source.update()


def test_settings_of_another_kind_are_a_mistake_of_the_program() -> None:
    """An instance whose settings are not those of the kind is refused at once."""
    store = MemoryStore()
    good = opened(LOCAL_FILE, store, path="/x")
    with pytest.raises(TypeError, match="not LocalSourceSettings"):
        LocalSource(Instance(LOCAL_FILE, "x", "x", LocalSourceSettings.__base__()), "x", good._index)  # type: ignore[misc] # any other settings


async def test_batches_end_at_their_size(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are stored in steps bounded in number and in bytes."""
    monkeypatch.setattr(indexing, "BATCH_BYTES", 20)
    store = MemoryStore()
    await opened(LOCAL_FOLDER, store, path=str(folder)).update()
    assert [written for written, _ in store.writes] == [["a.md"], ["c.png", "sub/b.txt"]]


async def test_a_source_is_looked_at_again_after_a_pause() -> None:
    """A quick look is repeated after 5 s, a slow one later, another object under the ID at once."""
    now = 0.0
    freshness = Freshness(lambda: now)
    source = StandInIndex("a")
    ensure: Callable[[StandInIndex], Any] = lambda item: freshness.ensure("a", item, None, 60)  # noqa: E731 -- one use
    assert await ensure(source) is not None
    now = 4.9
    assert await ensure(source) is None
    assert await ensure(StandInIndex("a")) is not None
    now = 10.0
    assert await ensure(source) is not None


def test_stored_problems_have_no_passages() -> None:
    """A document that could not be read is stored with its reason alone."""
    assert StoredDocument("x", 1, 1, problem="why").passages == ()
