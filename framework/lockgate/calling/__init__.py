"""Calling: the run a caller holds, the loop, the executor, limits and events."""

from lockgate.calling.events import (
    ContentFiltered,
    Event,
    LimitReached,
    PromptPrefixChanged,
    RequestPrepared,
    RequirementsRaised,
    RoundEnded,
    RunEnded,
    TextDelta,
    ToolFinished,
    ToolProgress,
    ToolStarted,
)
from lockgate.calling.executor import Executor, Surroundings
from lockgate.calling.job import Job, Stopped
from lockgate.calling.limits import Limits
from lockgate.calling.loop import Loop, ToolCallingLoop
from lockgate.calling.run import Observer, Run

__all__ = [
    "ContentFiltered",
    "Event",
    "Executor",
    "Job",
    "LimitReached",
    "Limits",
    "Loop",
    "Observer",
    "PromptPrefixChanged",
    "RequestPrepared",
    "RequirementsRaised",
    "RoundEnded",
    "Run",
    "RunEnded",
    "Stopped",
    "Surroundings",
    "TextDelta",
    "ToolCallingLoop",
    "ToolFinished",
    "ToolProgress",
    "ToolStarted",
]
