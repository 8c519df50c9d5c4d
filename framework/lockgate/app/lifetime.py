"""Things with a life time of their own that plugins bring: an indexer, a watcher. Each is one task."""

import asyncio
import logging
from collections.abc import Sequence
from typing import Any

from lockgate.app.services import Services
from lockgate.tools.threads import run_in_thread

logger = logging.getLogger("lockgate.app")
READY_DEADLINE = 5.0
"""Seconds a service has to say that it is ready; others do not wait longer for it."""
STOP_DEADLINE = 3.0
"""Seconds a service has to stop by itself before it is cancelled."""


class ServiceTasks:
    """Starts and stops the services of one ``Lockgate``."""

    def __init__(self) -> None:
        self._stop = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self, services: Services) -> None:
        """Start every service and wait a moment for each to be ready."""
        found: Sequence[Any] = await run_in_thread(services.contributions, "services")
        for service in found:
            ready = asyncio.Event()
            task = asyncio.create_task(self._run(service, ready))
            self._tasks.append(task)
            waiting = asyncio.create_task(ready.wait())
            await asyncio.wait({task, waiting}, timeout=READY_DEADLINE, return_when=asyncio.FIRST_COMPLETED)
            waiting.cancel()

    async def _run(self, service: Any, ready: asyncio.Event) -> None:
        try:
            await service.run(ready, self._stop)
        except asyncio.CancelledError:
            raise
        except Exception as error:  # noqa: BLE001 - a service is a stranger's code and costs only itself
            logger.warning("the service %s ended: %s: %s", type(service).__name__, type(error).__name__, error)

    async def stop(self) -> None:
        """Ask every service to stop; cancel those that do not."""
        self._stop.set()
        if not self._tasks:
            return
        _, late = await asyncio.wait(self._tasks, timeout=STOP_DEADLINE)
        for task in late:
            task.cancel()
        if late:
            await asyncio.wait(late, timeout=1.0)
