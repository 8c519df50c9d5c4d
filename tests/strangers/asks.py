"""Asks the fake provider at an address with all installed plugins; prints one JSON object. Run by the tests."""

import asyncio
import json
import sys
import tempfile
from pathlib import Path

from lockgate.app import Configuration, Lockgate, ProviderConfig


async def main(base_url: str, tools: list[str]) -> None:
    """Ask once, and tell what happened and what became of each plugin."""
    configuration = Configuration(
        providers={"fake": ProviderConfig("fake", "openai", base_url=base_url, model="m", api_key="key")}
    )
    with tempfile.TemporaryDirectory() as folder:
        async with (
            Lockgate(configuration, data_dir=Path(folder)) as gate,
            gate.ask(None, "What is the weather in Bremen?", provider="fake", selected=tools) as run,
        ):
            await run.wait()
            answer = {
                "text": run.text,
                "traces": [{**trace.to_json(), "json_result": trace.json_result} for trace in run.traces],
                "plugins": {record.owner.entry_point: record.state.value for record in gate.assembly.host.records},
                "incidents": [f"{i.owner.distribution}: {i.what}" for i in gate.registry.incidents.incidents],
            }
    print(json.dumps(answer))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2:]))
