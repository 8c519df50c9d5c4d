"""What a run tells while it runs. Frozen values; none holds the text of a result."""

from dataclasses import dataclass

from lockgate.chat.prefix import PrefixChange
from lockgate.chat.values import ToolTrace, Usage
from lockgate.guard import GuardReport
from lockgate.policy import ChatRequirements


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A piece of the answer. Observers do not see it."""

    text: str


@dataclass(frozen=True, slots=True)
class RequestPrepared:
    """The tools of the request are known.

    Attributes:
        offered: IDs of the tools that are offered.
        left_out: IDs of the candidates that are not.
        fingerprint: Changes exactly when the bytes of system prompt or tools do.
    """

    offered: tuple[str, ...]
    left_out: tuple[str, ...]
    fingerprint: str


@dataclass(frozen=True, slots=True)
class PromptPrefixChanged:
    """The chat's requests begin with other bytes than the last one did, so its host computes them anew.

    Attributes:
        changes: The tools that moved, and by how many bytes; the system prompt last.
    """

    changes: tuple[PrefixChange, ...]


@dataclass(frozen=True, slots=True)
class RoundEnded:
    """The model has answered once: number from 1, calls asked for, why it stopped, tokens where the host tells."""

    number: int
    calls: int
    stop: str
    usage: Usage | None


@dataclass(frozen=True, slots=True)
class ToolStarted:
    """A call begins. Arguments as in the trace, sensitive ones masked."""

    order: int
    tool_id: str
    tool_name: str
    call_id: str
    arguments: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class ToolProgress:
    """A tool tells what it is doing."""

    call_id: str
    tool_name: str
    text: str


@dataclass(frozen=True, slots=True)
class ToolFinished:
    """A call ended; its trace, results left out for observers."""

    trace: ToolTrace


@dataclass(frozen=True, slots=True)
class ContentFiltered:
    """The guard found something in what a tool brought."""

    call_id: str
    report: GuardReport


@dataclass(frozen=True, slots=True)
class RequirementsRaised:
    """The chat demands more from now on."""

    requirements: ChatRequirements


@dataclass(frozen=True, slots=True)
class LimitReached:
    """A limit of the run was hit; the next round is the last one."""

    limit: str
    value: int


@dataclass(frozen=True, slots=True)
class RunEnded:
    """The run is over: why, and the tokens of all rounds."""

    stopped: str
    usage: Usage


Event = (
    TextDelta
    | RequestPrepared
    | PromptPrefixChanged
    | RoundEnded
    | ToolStarted
    | ToolProgress
    | ToolFinished
    | ContentFiltered
    | RequirementsRaised
    | LimitReached
    | RunEnded
)
