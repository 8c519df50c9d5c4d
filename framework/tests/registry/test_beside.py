"""A plugin's coroutine that blocks costs only itself."""

import asyncio
import threading
from typing import Any

import pytest

from lockgate.registry import IncidentLog, Owner
from lockgate.registry.beside import guarded_beside

OWNER = Owner("pack")


async def ask(function: Any, incidents: IncidentLog, what: str = "question", deadline: float = 0.2) -> Any:
    """Ask with a short deadline."""
    return await guarded_beside(OWNER, what, function, deadline=deadline, fallback="fallback", incidents=incidents)


async def test_a_coroutine_is_asked_on_a_loop_of_its_own() -> None:
    """The caller's loop stays free; the answer comes back."""

    async def where() -> str:
        await asyncio.sleep(0)
        return threading.current_thread().name

    assert await ask(where, IncidentLog()) == "lockgate-questions"


async def test_a_coroutine_that_blocks_is_named_and_left_behind() -> None:
    """The event loop of the caller goes on meanwhile, others are answered, and the same question is not asked again."""
    release = threading.Event()
    incidents = IncidentLog()

    async def blocks() -> str:
        release.wait(30)
        return "too late"

    async def answers() -> str:
        return "fine"

    beats = 0

    async def beat() -> None:
        nonlocal beats
        while True:
            await asyncio.sleep(0.01)
            beats += 1

    beating = asyncio.create_task(beat())
    both: list[object] = await asyncio.gather(ask(blocks, incidents, "blocks"), ask(answers, incidents, "answers"))
    beating.cancel()
    assert both == ["fallback", "fine"]
    assert beats > 5
    assert [(item.what, "held up" in item.error) for item in incidents.incidents] == [("blocks", True)]
    assert incidents.is_left(OWNER, "blocks")
    assert await ask(answers, incidents, "answers") == "fine"
    release.set()
    async with asyncio.timeout(10):
        while incidents.is_left(OWNER, "blocks"):  # noqa: ASYNC110 - the log has no event to wait for
            await asyncio.sleep(0.01)
    assert await ask(blocks, incidents, "blocks") == "too late"


@pytest.mark.parametrize("error", [RuntimeError("broken"), SystemExit(1)])
async def test_what_a_coroutine_raises_is_an_incident(error: BaseException) -> None:
    """Whatever it raises, the fallback is returned."""

    async def raises() -> str:
        await asyncio.sleep(0)
        raise error

    incidents = IncidentLog()
    assert await ask(raises, incidents) == "fallback"
    assert type(error).__name__ in incidents.incidents[0].error


async def test_a_coroutine_that_waits_too_long_is_cancelled() -> None:
    """Its cancellation reaches it, and its loop stays in use."""
    cancelled = threading.Event()

    async def waits() -> str:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.set()
            raise
        return "never"

    incidents = IncidentLog()
    assert await ask(waits, incidents) == "fallback"
    assert cancelled.is_set()
