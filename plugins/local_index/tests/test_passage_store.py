import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from lockgate.errors import StorageError
from lockgate.retrieval import PassageStore, PassageStoreFactory, StoredDocument, StoredPassage, StoreRebuilt
from lockgate_local_index.plugin import lockgate_passage_stores
from lockgate_local_index.schema import FILE_NAME
from lockgate_local_index.store import LocalPassageStore, open_store

SOURCE = "contracts"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[LocalPassageStore]:
    """A store with one data source."""
    opened = open_store(tmp_path)
    opened.prepare(SOURCE, "1")
    yield opened
    opened.close()


def document(path: str, *texts: str, size: int = 1, heading: str = "") -> StoredDocument:
    """A document with these passages."""
    return StoredDocument(path, size, 1, "hash", passages=tuple(StoredPassage(text, heading) for text in texts))


def found(store: PassageStore, query: str, limit: int = 10, source: str = SOURCE) -> list[str]:
    """The texts a search brings."""
    return [hit.passage.text for hit in store.search(source, query, limit)]


def test_the_plugin_contributes_a_store_that_opens_nothing_yet(tmp_path: Path) -> None:
    """The hook gives a factory; opening a store makes no file before it is used."""
    (factory,) = lockgate_passage_stores()
    assert isinstance(factory, PassageStoreFactory)
    opened = factory.open(tmp_path / "data")
    assert not (tmp_path / "data").exists()
    opened.prepare(SOURCE, "1")
    assert (tmp_path / "data" / FILE_NAME).is_file()
    opened.close()


def test_the_file_is_its_owners_alone(store: LocalPassageStore, tmp_path: Path) -> None:
    """Passages are private: file and log can be read by the owner only."""
    for path in tmp_path.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path.name


def test_documents_come_back_with_their_state(store: LocalPassageStore) -> None:
    """What was written is known with size, time, hash and problem, and counted."""
    broken = StoredDocument("b.bin", 5, 6, problem="is binary")
    store.write(SOURCE, [document("a.md", "one", "two"), broken])
    assert store.documents(SOURCE) == {"a.md": StoredDocument("a.md", 1, 1, "hash"), "b.bin": broken}
    counts = store.counts(SOURCE)
    assert (counts.documents, counts.passages) == (1, 2)


def test_a_document_written_again_replaces_the_old_one(store: LocalPassageStore) -> None:
    """Passages of the earlier version are found no more."""
    store.write(SOURCE, [document("a.md", "apples", "pears")])
    store.write(SOURCE, [document("a.md", "plums")])
    assert found(store, "apples") == []
    assert found(store, "plums") == ["plums"]
    assert store.counts(SOURCE).passages == 1


def test_removed_documents_are_found_no_more(store: LocalPassageStore) -> None:
    """Removing a document removes its passages and its state; a name nobody knows makes no difference."""
    store.write(SOURCE, [document("a.md", "apples"), document("b.md", "apples too")])
    store.write(SOURCE, [], removed=["a.md", "unknown"])
    assert found(store, "apples") == ["apples too"]
    assert set(store.documents(SOURCE)) == {"b.md"}


def test_touching_changes_the_state_alone(store: LocalPassageStore) -> None:
    """New size and time are noted for the same content only; passages stay."""
    store.write(SOURCE, [document("a.md", "apples")])
    store.touch(SOURCE, [StoredDocument("a.md", 7, 8, "hash"), StoredDocument("none", 1, 1, "hash")])
    assert store.documents(SOURCE) == {"a.md": StoredDocument("a.md", 7, 8, "hash")}
    store.touch(SOURCE, [StoredDocument("a.md", 9, 9, "other")])
    assert store.documents(SOURCE)["a.md"].size == 7
    assert found(store, "apples") == ["apples"]


def test_a_write_that_fails_changes_nothing(store: LocalPassageStore) -> None:
    """A batch is written whole or not at all."""
    store.write(SOURCE, [document("a.md", "apples")])
    bad = StoredDocument("c.md", 2**70, 1, "hash")  # no SQLite integer
    with pytest.raises((StorageError, OverflowError)):
        store.write(SOURCE, [document("b.md", "pears"), bad], removed=["a.md"])
    assert set(store.documents(SOURCE)) == {"a.md"}
    assert found(store, "pears") == []
    store.write(SOURCE, [document("b.md", "pears")])
    assert found(store, "pears") == ["pears"]


def test_another_signature_drops_the_data_source(store: LocalPassageStore) -> None:
    """The same signature keeps everything, another one begins anew, other sources stay."""
    store.prepare("other", "1")
    store.write("other", [document("o.md", "apples")])
    store.write(SOURCE, [document("a.md", "apples")])
    store.prepare(SOURCE, "1")
    assert found(store, "apples") == ["apples"]
    store.prepare(SOURCE, "2")
    assert found(store, "apples") == []
    assert found(store, "apples", source="other") == ["apples"]


def test_data_sources_do_not_see_each_other(store: LocalPassageStore) -> None:
    """A search brings passages of its own source only, and forgetting one leaves the other."""
    store.prepare("other", "1")
    store.write(SOURCE, [document("a.md", "apples here")])
    store.write("other", [document("a.md", "apples there")])
    assert found(store, "apples") == ["apples here"]
    store.remove("other")
    assert found(store, "apples", source="other") == []
    assert store.counts("other").documents == 0
    assert found(store, "apples") == ["apples here"]


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("KÜNDIGUNG", "Die Kündigung ist schriftlich."),
        ("kundigung", "Die Kündigung ist schriftlich."),
        ("Kuendigung", "Die Kündigung ist schriftlich."),
        ("Kündigungsfrist", "Es gelten Kündigungsfristen."),
        ("Strasse", "Die Straße ist gesperrt."),
        ("Straße", "Die Strasse ist gesperrt."),
        ("packages", "Install the package first."),
        ("installing", "Install the package first."),
        ("snake_case", "Use snake_case here."),
        ("4711", "Order 4711 was sent."),
    ],
)
def test_words_are_found_in_their_forms(store: LocalPassageStore, query: str, text: str) -> None:
    """Case, umlauts, sharp s and common endings make no difference; numbers and identifiers are found as they are."""
    store.write(SOURCE, [document("a.md", text, "Something else altogether.")])
    assert found(store, query) == [text]


def test_passages_with_all_words_come_before_those_with_any(store: LocalPassageStore) -> None:
    """First all telling words, then any of them, none twice."""
    store.write(SOURCE, [document("a.md", "proxy proxy proxy", "apt through a proxy", "apt apt", "nothing")])
    hits = found(store, "How do I use apt with a proxy?")
    assert hits[0] == "apt through a proxy"
    assert sorted(hits) == ["apt apt", "apt through a proxy", "proxy proxy proxy"]


def test_an_exact_word_comes_before_its_other_forms(store: LocalPassageStore) -> None:
    """A passage with the word as written is better than one with another ending."""
    store.write(SOURCE, [document("a.md", "installing installs installer", "install it, please, on the machine")])
    assert found(store, "install")[0] == "install it, please, on the machine"


def test_words_of_names_and_headings_count(store: LocalPassageStore) -> None:
    """A passage is found by its file's name and by the heading it stands under."""
    store.write(SOURCE, [document("travel/expenses.md", "See below.", heading="Reimbursement")])
    assert found(store, "expenses") == ["See below."]
    assert found(store, "reimbursement") == ["See below."]


def test_a_larger_limit_only_appends(store: LocalPassageStore) -> None:
    """Paging needs it: a search for more begins with what the search for less brought."""
    texts = [f"apt {'proxy ' * (number % 3)} {number}" for number in range(40)]
    store.write(SOURCE, [document("a.md", *texts)])
    whole = found(store, "apt proxies", 40)
    assert len(whole) == 40
    for limit in (1, 7, 20, 39):
        assert found(store, "apt proxies", limit) == whole[:limit]


@pytest.mark.parametrize(
    "query",
    ['"', 'a" OR "b', "text:apples", "NEAR(a b)", "apples*", "-apples", "(", "^apples", "{name text}:x", "a AND", "'",
     "%", "\\", "apples; DROP TABLE passages", "\ud800 lone", "NOT", "x" * 500, " ".join(map(str, range(200)))],
)  # fmt: skip
def test_no_query_is_syntax(store: LocalPassageStore, query: str) -> None:
    """Whatever is asked is looked for as words: nothing is an operator and nothing raises."""
    store.write(SOURCE, [document("a.md", "apples")])
    assert found(store, query) in ([], ["apples"])
    assert store.counts(SOURCE).passages == 1


@pytest.mark.parametrize("query", ["", "?!", "…"])
def test_a_query_without_words_finds_nothing(store: LocalPassageStore, query: str) -> None:
    """Punctuation alone is no query."""
    store.write(SOURCE, [document("a.md", "apples")])
    assert found(store, query) == []


def test_a_query_of_words_that_say_nothing_is_still_looked_for(store: LocalPassageStore) -> None:
    """With stop words alone, they count."""
    store.write(SOURCE, [document("a.md", "to be or not to be", "apples")])
    assert found(store, "to be or not to be") == ["to be or not to be"]


@pytest.mark.parametrize(
    "content",
    [b"this is no database" * 300, b"SQLite format 3\x00" + b"\xff" * 5000],
    ids=["text", "broken header"],
)
def test_a_damaged_file_is_begun_anew_and_said(tmp_path: Path, content: bytes) -> None:
    """Opening a damaged file raises once, saying so; afterwards the store is empty and works."""
    (tmp_path / FILE_NAME).write_bytes(content)
    store = open_store(tmp_path)
    with pytest.raises(StoreRebuilt, match="damaged"):
        store.prepare(SOURCE, "1")
    store.prepare(SOURCE, "1")
    store.write(SOURCE, [document("a.md", "apples")])
    assert found(store, "apples") == ["apples"]
    store.close()


def test_damage_while_in_use_is_noticed(tmp_path: Path) -> None:
    """Pages overwritten between two uses lead to a fresh store, not to wrong answers."""
    store = open_store(tmp_path)
    store.prepare(SOURCE, "1")
    store.write(SOURCE, [document(f"{number}.md", "apples " * 200) for number in range(200)])
    store.close()
    path = tmp_path / FILE_NAME
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xa5" * (size - 4096))
    with pytest.raises(StoreRebuilt):
        store.search(SOURCE, "apples", 5)
    assert store.search(SOURCE, "apples", 5) == []
    store.close()


def test_a_table_that_is_missing_is_damage(store: LocalPassageStore, tmp_path: Path) -> None:
    """A file whose tables are incomplete is begun anew."""
    store.close()
    other = apsw.Connection(str(tmp_path / FILE_NAME))
    other.execute("DROP TABLE documents")
    other.close()
    with pytest.raises(StoreRebuilt):
        store.counts(SOURCE)
    store.prepare(SOURCE, "1")
    assert store.counts(SOURCE).documents == 0


def test_a_database_of_something_else_is_not_used(tmp_path: Path) -> None:
    """A file under our name that another program marked as its own is replaced, since the name is ours."""
    other = apsw.Connection(str(tmp_path / FILE_NAME))
    other.pragma("application_id", 42)
    other.close()
    store = open_store(tmp_path)
    with pytest.raises(StoreRebuilt, match="no index of this program"):
        store.counts(SOURCE)
    assert store.counts(SOURCE).documents == 0
    store.close()


def test_a_file_replaced_by_another_process_is_opened_anew(store: LocalPassageStore, tmp_path: Path) -> None:
    """After another process began the index anew, this one reads the new file."""
    store.write(SOURCE, [document("a.md", "old apples")])
    for path in list(tmp_path.iterdir()):
        path.rename(path.with_name(f"away-{path.name}"))
    other = open_store(tmp_path)
    other.prepare(SOURCE, "1")
    other.write(SOURCE, [document("a.md", "new apples")])
    assert found(store, "apples") == ["new apples"]
    other.close()


def test_writing_for_a_data_source_that_vanished_says_so(store: LocalPassageStore) -> None:
    """When the index was begun anew in the middle of an update, the update is told to begin again."""
    with pytest.raises(StoreRebuilt, match="not in the index any more"):
        store.write("vanished", [document("a.md", "x")])


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    """A file where the folder should be leads to an error of storage, in words."""
    (tmp_path / "data").write_text("a file")
    with pytest.raises(StorageError, match="cannot be used"):
        open_store(tmp_path / "data").prepare(SOURCE, "1")


def test_threads_share_a_store(store: LocalPassageStore) -> None:
    """Searches and writes from several threads do not disturb each other."""
    store.write(SOURCE, [document("base.md", "apples")])
    failures: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for step in range(15):
                store.write(SOURCE, [document(f"{number}-{step}.md", "pears")])
                assert "apples" in found(store, "apples")
        except BaseException as error:  # noqa: BLE001 -- whatever happened in the thread is what the test is about
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert store.counts(SOURCE).documents == 91


def test_processes_share_a_file(store: LocalPassageStore, tmp_path: Path) -> None:
    """Several processes write at the same time; each waits for the other, and nothing is lost."""
    code = (
        "import sys; from pathlib import Path\n"
        "from lockgate.retrieval import StoredDocument, StoredPassage\n"
        "from lockgate_local_index.store import open_store\n"
        "store = open_store(Path(sys.argv[1])); store.prepare('contracts', '1')\n"
        "for n in range(20):\n"
        "    passages = (StoredPassage('apples'),)\n"
        "    store.write('contracts', [StoredDocument(f'{sys.argv[2]}-{n}', 1, 1, 'h', '', passages)])\n"
        "store.close()\n"
    )
    running = [subprocess.Popen([sys.executable, "-c", code, str(tmp_path), str(number)]) for number in range(3)]
    assert [process.wait(60) for process in running] == [0, 0, 0]
    assert store.counts(SOURCE).documents == 60
    assert len(found(store, "apples", 100)) == 60


def test_a_new_file_is_opened_by_many_at_once(tmp_path: Path) -> None:
    """Whoever comes first makes the tables; nobody is turned away while that happens."""
    for number in range(12):
        folder = tmp_path / str(number)
        stores = [open_store(folder) for _ in range(8)]
        start = threading.Barrier(len(stores))
        failures: list[BaseException] = []

        def use(store: LocalPassageStore, start: threading.Barrier, failures: list[BaseException]) -> None:
            start.wait()
            try:
                store.prepare("source", "1")
                store.search("source", "word", 3)
            except BaseException as error:  # noqa: BLE001 - told to the test
                failures.append(error)

        threads = [threading.Thread(target=use, args=(store, start, failures)) for store in stores]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for store in stores:
            store.close()
        assert failures == []
