"""A folder, the embedded passage store and the tool together: what an installation gives."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import lockgate_local_index.plugin
import lockgate_offline.plugin
import lockgate_semantic_search.plugin
from lockgate.app.configuration import Configuration, InstanceConfig
from lockgate.app.lockgate import Lockgate
from lockgate.chat import ChatThread, DataSourceOptions, TraceStatus
from lockgate.guard import Guard
from lockgate.policy import ConfidenceLevel, ProviderStanding
from lockgate.settings import Instance, NoSettings
from lockgate.testing import (
    Answer,
    Call,
    FakeProvider,
    FakeRequest,
    addresses_given,
    answer_calls,
    answer_text,
    lockgate_for,
)
from lockgate.tools import CallState, Components, ToolContext
from lockgate_local_index.plugin import lockgate_passage_stores
from lockgate_local_index.schema import FILE_NAME
from lockgate_semantic_search.sources import LOCAL_FOLDER, LocalSourceSettings
from lockgate_semantic_search.tool import SemanticSearch


class Services:
    """Lends the embedded store, and makes each data source once."""

    def __init__(self, data_dir: Path, *instances: Instance) -> None:
        self.data_dir = data_dir
        self.guard = Guard()
        self._instances = instances
        self._opened: dict[str, Any] = {}

    def instances(self, family: str) -> Sequence[Instance]:
        return self._instances

    def opened(self, instance: Instance) -> Any:
        if instance.id not in self._opened:
            assert instance.kind.create is not None
            self._opened[instance.id] = instance.kind.create(instance, self)
        return self._opened[instance.id]

    def contributions(self, hook: str) -> Sequence[Any]:
        return list(lockgate_passage_stores()) if hook == "passage_stores" else []


def folder_source(name: str, folder: Path, **settings: Any) -> Instance:
    """A configured folder."""
    return Instance(LOCAL_FOLDER, name, name.title(), LocalSourceSettings(path=str(folder), **settings))


async def search(services: Services, query: str, tool: SemanticSearch, **arguments: Any) -> Any:
    """Call the tool in a chat with all data sources; return the JSON the model reads, and the whole result."""
    context = ToolContext(
        chat=ChatThread(data_sources=DataSourceOptions(disabled=False, automatic=True)),
        standing=ProviderStanding("p", "SELF_HOSTED", ConfidenceLevel.HIGH, self_hosted=True),
        component=Components.CHAT,
        settings=NoSettings.EMPTY,
        services=services,
        call_id="1",
        addresses=addresses_given(),
        remaining_characters=300_000,
        state=CallState(),
        _guard=Guard().scope(),
        _emit=lambda _text: None,
        arguments={},
    )
    result = await tool.execute(tool.parse(json.dumps({"query": query, **arguments})), context)
    return json.loads(result.model_content()), result


async def test_two_folders_are_indexed_at_the_first_search_and_found(tmp_path: Path) -> None:
    """The first search reads the folders into one file; passages of both come, each under its own demands."""
    texts = {"contracts": "# Terms\n\nDie Kündigungsfrist beträgt drei Monate.\n", "notes": "Lunch at 12.\n"}
    for name, text in texts.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "one.md").write_text(text)
    services = Services(
        tmp_path / "data",
        folder_source("contracts", tmp_path / "contracts", confidence=ConfidenceLevel.HIGH),
        folder_source("notes", tmp_path / "notes"),
    )
    tool = SemanticSearch()
    found, result = await search(services, "Wie lang sind die Kündigungsfristen?", tool)
    assert [row["result_count"] for row in found["data_sources"]] == [1, 0]
    assert "drei Monate" in found["text_content"]
    assert str(tmp_path) not in found["text_content"]
    assert result.requires.confidence is ConfidenceLevel.HIGH
    assert result.sources[0].title == "one.md (section Terms)"
    assert [path.name for path in (tmp_path / "data").glob("*.sqlite3")] == [FILE_NAME]
    found, result = await search(services, "lunch", tool)
    assert [row["result_count"] for row in found["data_sources"]] == [0, 1]
    assert result.requires.confidence is ConfidenceLevel.UNKNOWN


async def test_a_damaged_index_answers_all_the_same(tmp_path: Path) -> None:
    """The file is overwritten between two searches of one process: the second reads the folder again and finds."""
    (tmp_path / "docs").mkdir()
    for number in range(50):
        (tmp_path / "docs" / f"{number}.md").write_text("apples " * 100)
    services = Services(tmp_path / "data", folder_source("docs", tmp_path / "docs"))
    tool = SemanticSearch()
    await search(services, "apples", tool)
    (source,) = (services.opened(instance) for instance in services.instances("data_source"))
    source.close()
    path = tmp_path / "data" / FILE_NAME
    path.write_bytes(b"SQLite format 3\x00" + b"\xff" * path.stat().st_size)
    found, _ = await search(services, "apples", tool)
    assert found["data_sources"] == [{"id": "docs", "name": "Docs", "result_count": 10, "has_more": True}]


async def test_pages_hold_together_in_the_real_index(tmp_path: Path) -> None:
    """Walking all pages of a source brings each passage once and ends at the last page."""
    (tmp_path / "docs").mkdir()
    for number in range(60):
        (tmp_path / "docs" / f"{number}.md").write_text(f"apples {'and pears ' * (number % 4)} number {number}")
    services = Services(tmp_path / "data", folder_source("docs", tmp_path / "docs"))
    tool = SemanticSearch()
    texts: list[str] = []
    for page in range(1, 10):
        found, result = await search(services, "apples or pears", tool, page=page)
        texts += [source.url for source in result.sources]
        if not found["data_sources"][0]["has_more"]:
            break
    assert len(texts) == len(set(texts)) == 60


async def test_a_question_is_answered_from_a_folder_by_the_whole_program(tmp_path: Path) -> None:
    """Plugins, configuration, run: the tool offers itself, brings the passage, and the chat keeps its demands."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "travel.md").write_text("# Travel\n\nThe daily allowance in Norway is 61 euros.\n")
    source = InstanceConfig(
        "docs", "local_folder", "data_source", "Rules", {"path": str(tmp_path / "docs"), "confidence": "MEDIUM"}
    )
    plugins = [lockgate_local_index.plugin, lockgate_semantic_search.plugin, lockgate_offline.plugin]
    chat = ChatThread(data_sources=DataSourceOptions(disabled=False, automatic=True))
    async with Lockgate(Configuration(instances=(source,)), plugins=plugins, data_dir=tmp_path / "data") as gate:
        assert gate.assembly.problems == ()
        async with gate.ask(chat, "What is the daily allowance in Norway?") as run:
            async for _ in run:
                pass
    assert "61 euros" in run.text
    assert [(trace.tool_id, trace.status) for trace in run.chat.messages[-1].traces] == [
        ("semantic_search", TraceStatus.SUCCESS)
    ]
    assert run.chat.requirements.confidence is ConfidenceLevel.MEDIUM
    assert run.chat.requirements.confidence_by.name == "Rules"


@pytest.mark.parametrize("change", ["raised", "removed"])
async def test_a_folder_that_is_closed_during_a_run_is_closed_at_the_next_call(tmp_path: Path, change: str) -> None:
    """What a data source demands is asked of the rules in force, not of those at the start of the run."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "lease.md").write_text("The lease price is 4711 Euro.")

    def folder(level: str) -> InstanceConfig:
        values = {"path": str(tmp_path / "docs"), "confidence": level}
        return InstanceConfig("contracts", "local_folder", "data_source", "Contracts", values)

    async def script(request: FakeRequest) -> Answer:
        if any(message["role"] == "tool" for message in request.messages):
            return answer_text("Done.")
        configs = gate.assembly.directory.configs
        instances = (folder("HIGH"),) if change == "raised" else ()
        await gate.reconfigure(Configuration(providers=configs, instances=instances, default_provider="fake"))
        return answer_calls(Call("semantic_search", {"query": "lease price"}))

    plugins = [lockgate_semantic_search.plugin, lockgate_local_index.plugin]
    async with FakeProvider(script) as fake:
        gate = lockgate_for(fake, confidence=ConfidenceLevel.LOW, plugins=plugins, instances=[folder("LOW")],
                            data_dir=tmp_path / "data")  # fmt: skip
        chat = ChatThread(data_sources=DataSourceOptions(disabled=False, selected=("contracts",)))
        async with gate, gate.ask(chat, "What is the price?") as run:
            await run.wait()
    assert run.traces[0].status.value == "BLOCKED"
    assert "4711" not in str([request.body for request in fake.requests])
