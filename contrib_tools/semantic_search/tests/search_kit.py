"""What the tests of semantic search are built with: data sources, a passage store, contexts."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from lockgate.chat import ChatThread, DataSourceOptions
from lockgate.guard import Guard
from lockgate.policy import ConfidenceLevel, DataSourceSecurity, ProviderStanding
from lockgate.retrieval import (
    Gap,
    Hit,
    IndexCounts,
    IndexReport,
    Passage,
    PassageStoreFactory,
    Progress,
    RetrievalPage,
    StoredDocument,
    StoreRebuilt,
    has_more,
)
from lockgate.settings import Instance, Kind, NoSettings
from lockgate.testing import addresses_given
from lockgate.tools import CallState, Components, RequestContext, ToolContext

KIND = Kind("stand_in", "data_source", NoSettings)


@dataclass(eq=False)
class StandInSource:
    """A data source with given passages."""

    id: str
    texts: Sequence[str] = ("a passage",)
    name: str = ""
    kind_label: str = "local folder"
    description: str = ""
    max_matches: int = 10
    confidence: ConfidenceLevel = ConfidenceLevel.UNKNOWN
    security: DataSourceSecurity = DataSourceSecurity.ALLOW_ANY
    gaps: tuple[Gap, ...] = ()
    error: Exception | None = None
    asked: list[tuple[str, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.name = self.name or self.id.title()

    async def retrieve(self, query: str, page: int) -> RetrievalPage:
        self.asked.append((query, page))
        if self.error is not None:
            raise self.error
        first = (page - 1) * self.max_matches
        return RetrievalPage(
            tuple(self.passage(text, first + n) for n, text in enumerate(self.texts[first : first + self.max_matches])),
            has_more(page, self.max_matches, len(self.texts)),
            self.gaps,
        )

    def passage(self, text: str, number: int) -> Passage:
        return Passage(
            self.id, self.name, text, path=f"{number}.md", reference_title=f"{number}.md (passage {number})",
            reference_link=f"file:///srv/{self.id}/{number}.md",
        )  # fmt: skip


@dataclass(eq=False)
class StandInIndex(StandInSource):
    """A data source that keeps an index."""

    updates: list[float | None] = field(default_factory=list)
    report: IndexReport = IndexReport(1, 1)

    async def update(self, progress: Progress | None = None, *, seconds: float | None = None) -> IndexReport:
        self.updates.append(seconds)
        if progress is not None:
            progress(200, 400, "x.md")
        return self.report


class MemoryStore:
    """A passage store in memory: words are found as they stand, all of them."""

    def __init__(self) -> None:
        self.sources: dict[str, tuple[str, dict[str, StoredDocument]]] = {}
        self.writes: list[tuple[list[str], list[str]]] = []
        self.damaged_before: set[str] = set()

    def _check(self, step: str) -> None:
        if step in self.damaged_before:
            self.damaged_before.discard(step)
            self.sources.clear()
            raise StoreRebuilt("The index was damaged and was begun anew.")

    def prepare(self, source_id: str, signature: str) -> None:
        self._check("prepare")
        if source_id not in self.sources or self.sources[source_id][0] != signature:
            self.sources[source_id] = (signature, {})

    def documents(self, source_id: str) -> Mapping[str, StoredDocument]:
        return {path: replace(item, passages=()) for path, item in self.sources[source_id][1].items()}

    def write(self, source_id: str, documents: Sequence[StoredDocument], removed: Sequence[str] = ()) -> None:
        self._check("write")
        if source_id not in self.sources:
            raise StoreRebuilt("The index was begun anew.")
        self.writes.append(([item.path for item in documents], list(removed)))
        known = self.sources[source_id][1]
        for path in removed:
            known.pop(path, None)
        known.update({item.path: item for item in documents})

    def touch(self, source_id: str, documents: Sequence[StoredDocument]) -> None:
        known = self.sources[source_id][1]
        known.update({item.path: replace(item, passages=known[item.path].passages) for item in documents})

    def search(self, source_id: str, query: str, limit: int) -> Sequence[Hit]:
        self._check("search")
        words = query.lower().split()
        hits = [
            Hit(path, index, passage)
            for path, document in sorted(self.sources.get(source_id, ("", {}))[1].items())
            for index, passage in enumerate(document.passages)
            if all(word in passage.text.lower() for word in words)
        ]
        return hits[:limit]

    def counts(self, source_id: str) -> IndexCounts:
        documents = self.sources[source_id][1].values()
        return IndexCounts(sum(not item.problem for item in documents), sum(len(item.passages) for item in documents))

    def remove(self, source_id: str) -> None:
        self.sources.pop(source_id, None)

    def close(self) -> None:
        pass


class StandInServices:
    """Services that lend given data sources."""

    def __init__(self, *sources: Any, store: MemoryStore | None = None, data_dir: Path = Path()) -> None:
        self.sources = {source.id: source for source in sources}
        self.store = store
        self.data_dir = data_dir
        self.guard = Guard()

    def instances(self, family: str) -> Sequence[Instance]:
        assert family == "data_source"
        return [Instance(KIND, source_id, source_id, NoSettings.EMPTY) for source_id in reversed(self.sources)]

    def opened(self, instance: Instance) -> Any:
        source = self.sources[instance.id]
        if isinstance(source, Broken):
            raise RuntimeError("cannot be opened")
        return source

    def contributions(self, hook: str) -> Sequence[Any]:
        assert hook == "passage_stores"
        store = self.store
        return [] if store is None else [PassageStoreFactory("memory", lambda _folder: store)]


@dataclass
class Broken:
    """A data source that cannot be opened."""

    id: str


STANDING = ProviderStanding("p", "OPEN_AI", ConfidenceLevel.MEDIUM)
AUTOMATIC = DataSourceOptions(disabled=False, automatic=True)


def request(
    *sources: Any, options: DataSourceOptions = AUTOMATIC, standing: ProviderStanding = STANDING
) -> RequestContext:
    """The context of a request in a chat with these data sources."""
    return RequestContext(
        ChatThread(data_sources=options), standing, Components.CHAT, NoSettings.EMPTY, StandInServices(*sources)
    )


def call(
    *sources: Any,
    options: DataSourceOptions = AUTOMATIC,
    standing: ProviderStanding = STANDING,
    remaining: int = 300_000,
    emit: Callable[[str], None] = lambda _text: None,
    guard: Guard | None = None,
) -> ToolContext:
    """The context of a call in a chat with these data sources."""
    return ToolContext(
        chat=ChatThread(data_sources=options),
        standing=standing,
        component=Components.CHAT,
        settings=NoSettings.EMPTY,
        services=StandInServices(*sources),
        call_id="1",
        addresses=addresses_given(),
        remaining_characters=remaining,
        state=CallState(),
        _guard=(guard or Guard()).scope(),
        _emit=emit,
        arguments={},
    )
