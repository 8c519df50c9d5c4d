"""Things with a life time of their own that plugins bring: an indexer, a watcher. Each is one task."""

import asyncio
import logging
from collections.abc import Sequence
from typing import Any

from lockgate.app.services import Services
from lockgate.registry.asking import PASSING
from lockgate.registry.calls import describe, leave_behind
from lockgate.tools.threads import run_in_thread

logger = logging.getLogger("lockgate.app")
READY_DEADLINE = 5.0
"""Seconds a service has to say that it is ready; others do not wait longer for it."""
STOP_DEADLINE = 3.0
"""Seconds a service has to stop by itself before it is cancelled."""
CANCEL_DEADLINE = 1.0
"""Seconds a cancelled service has to end before it is left behind."""


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
            try:
                await asyncio.wait({task, waiting}, timeout=READY_DEADLINE, return_when=asyncio.FIRST_COMPLETED)
            finally:  # also when the caller is cancelled
                waiting.cancel()

    async def _run(self, service: Any, ready: asyncio.Event) -> None:
        try:
            await service.run(ready, self._stop)
        except PASSING:
            raise
        except BaseException as error:  # noqa: BLE001 - a service is a stranger's code and costs only itself
            logger.warning("the service %s ended: %s", type(service).__name__, describe(error).error)

    async def stop(self) -> None:
        """Ask every service to stop; cancel those that do not, and leave behind those that hold on."""
        self._stop.set()
        if not self._tasks:
            return
        _, late = await asyncio.wait(self._tasks, timeout=STOP_DEADLINE)
        for task in late:
            task.cancel()
        if late:
            _, late = await asyncio.wait(late, timeout=CANCEL_DEADLINE)
        for task in late:
            logger.warning("a service does not end when it is cancelled; it is left behind")
            leave_behind(task)
