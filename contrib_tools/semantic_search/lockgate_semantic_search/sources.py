"""Data sources on the user's machine: a folder, and a single file."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, field_validator

from lockgate import ConfidenceLevel, ConfigurationError, DataSourceSecurity, Instance, Kind, ToolSettings
from lockgate.retrieval import (
    Gap,
    Hit,
    IndexReport,
    Passage,
    PassageStore,
    PassageStoreFactory,
    Progress,
    RetrievalPage,
    StoreRebuilt,
    has_more,
    passage_type_of,
    window,
)
from lockgate_semantic_search.indexing import LocalIndex, Place

FAMILY = "data_source"
"""The family of instances that a chat can be given to search in."""


def _level(value: object) -> object:
    if isinstance(value, str):
        level = ConfidenceLevel.parse(value)
        if level is None:
            raise ValueError(f"valid are {', '.join(ConfidenceLevel.__members__)}")
        return level
    return value


class LocalSourceSettings(ToolSettings):
    """The settings of a local data source."""

    path: str = Field(description="The folder or file, as an absolute path; ~ stands for the home folder.")
    description: str = Field(default="", description="What it holds, for the model. Never put a path here.")
    max_matches: int = Field(
        default=10, ge=0, le=65_535, description="Passages of a page of results; 0 keeps it out of searches."
    )
    confidence: Annotated[ConfidenceLevel, BeforeValidator(_level)] = Field(
        default=ConfidenceLevel.UNKNOWN, description="The least confidence a provider needs to see its content."
    )

    @field_validator("path")
    @classmethod
    def _absolute(cls, path: str) -> str:
        try:
            expanded = Path(path).expanduser()
        except RuntimeError:
            raise ValueError("the home folder it begins with is not known") from None
        if not expanded.is_absolute() or "\0" in path:
            raise ValueError("must be an absolute path")
        return str(expanded)


class LocalSource:
    """A folder or file as a data source. Carries out ``DataSource`` and ``Indexable`` of ``lockgate.retrieval``."""

    security = DataSourceSecurity.ALLOW_ANY
    """Who may see local content is a matter of its confidence level alone."""

    def __init__(self, instance: Instance, kind_label: str, index: LocalIndex) -> None:
        settings = instance.settings
        if not isinstance(settings, LocalSourceSettings):
            raise TypeError(f"{instance.id!r} has the settings {type(settings).__name__}, not LocalSourceSettings.")
        self.id = instance.id
        self.name = instance.name
        self.kind_label = kind_label
        self.description = settings.description
        self.max_matches = settings.max_matches
        self.confidence = settings.confidence
        self._index = index

    async def update(self, progress: Progress | None = None, *, seconds: float | None = None) -> IndexReport:
        """Bring the index up to date with what lies on disk."""
        return await self._index.update(progress, seconds=seconds)

    async def retrieve(self, query: str, page: int) -> RetrievalPage:
        """Search by words."""
        limit = window(page, self.max_matches)
        if not any(character.isalnum() for character in query):
            return RetrievalPage((), gaps=(Gap.QUERY_NOT_SEARCHABLE,))
        try:
            hits = await self._index.search(query, limit)
        except StoreRebuilt:
            await self._index.update()
            hits = await self._index.search(query, limit)
        first = (page - 1) * self.max_matches
        wanted = hits[first : first + self.max_matches]
        return RetrievalPage(
            tuple(self._passage(hit) for hit in wanted), has_more(page, self.max_matches, len(hits))
        )

    def close(self) -> None:
        """Release the index."""
        self._index.close()

    def _passage(self, hit: Hit) -> Passage:
        name = hit.path.rpartition("/")[2]
        heading = hit.passage.heading
        part = f"section {heading}" if heading else f"passage {hit.index + 1}"
        link = (self._index.place.folder / hit.path).as_uri()
        return Passage(
            data_source_id=self.id,
            data_source_name=self.name,
            text=hit.passage.text,
            path=hit.path,
            type=passage_type_of(name),
            section=heading,
            reference_title=f"{name} ({part})",
            reference_link=f"{link}#chunk={hit.index}",
        )


class _NoStore:
    """Stands where no plugin brings a passage store; whatever is asked of it says so."""

    def __getattr__(self, name: str) -> Any:
        raise ConfigurationError(
            "No passage store is installed, so local data sources cannot be searched; install lockgate-local-index."
        )


def _store(services: Any) -> PassageStore:
    factories: list[PassageStoreFactory] = list(services.contributions("passage_stores"))
    if not factories:
        missing: Any = _NoStore()
        store: PassageStore = missing
        return store
    folder: Path = services.data_dir
    return factories[0].open(folder)


def _create(kind_label: str, place: Callable[[Path], Place]) -> Callable[[Instance, Any], LocalSource]:
    def create(instance: Instance, services: Any) -> LocalSource:
        settings = instance.settings
        path = Path(settings.path) if isinstance(settings, LocalSourceSettings) else Path()
        return LocalSource(instance, kind_label, LocalIndex(instance.id, place(path), _store(services)))

    return create


LOCAL_FOLDER = Kind(
    "local_folder", FAMILY, LocalSourceSettings, _create("local folder", Place), title="Local folder"
)
"""A folder with all that lies below it."""

LOCAL_FILE = Kind(
    "local_file",
    FAMILY,
    LocalSourceSettings,
    _create("local file", lambda path: Place(path.parent, path.name)),
    title="Local file",
)
"""A single file."""
