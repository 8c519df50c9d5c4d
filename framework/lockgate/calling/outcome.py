"""What came of a call, before it is handed on: label, trace and text in one object."""

from dataclasses import dataclass

from lockgate.chat.values import ToolTrace, TraceStatus
from lockgate.providers.contract import CallResult


@dataclass(frozen=True, slots=True)
class Outcome:
    """The end of a call. The text leaves only through `result`, after the requirements were raised.

    Attributes:
        call_id: The call's ID.
        content: For the model.
        trace: For people; None where the call leaves none.
    """

    call_id: str
    content: str
    trace: ToolTrace | None

    @property
    def is_error(self) -> bool:
        """Whether the model is told that the call did not work."""
        return self.trace is not None and self.trace.status is not TraceStatus.SUCCESS

    def result(self) -> CallResult:
        """Return what goes back to the model."""
        return CallResult(self.call_id, self.content, self.is_error)
