"""The loop that drives every provider: ask, execute what was asked for, ask again, until there is an answer."""

from typing import Protocol

from lockgate.calling.job import Job, Stopped
from lockgate.providers.contract import StopReason

NO_ANSWER_AFTER_TOOLS = "The model used its tools, but gave no final answer. Please ask again."
NO_ANSWER = "The model gave no answer. Please ask again, or choose another model."
CALL_WITHOUT_ID = (
    "The model asked for a tool in a form that cannot be answered (the call has no ID), so the answer ends here."
)
_ENDS = {
    StopReason.LENGTH: Stopped.LENGTH,
    StopReason.CONTENT_FILTER: Stopped.CONTENT_FILTER,
    StopReason.REFUSAL: Stopped.REFUSED,
    StopReason.CONTEXT_TOO_LONG: Stopped.CONTEXT_TOO_LONG,
    StopReason.ERROR: Stopped.FAILED,
}
_NOTICES = {
    Stopped.LENGTH: "The answer was cut off: the model reached its output limit.",
    Stopped.CONTENT_FILTER: "The provider's content filter ended the answer.",
    Stopped.REFUSED: "The model refused to answer.",
    Stopped.CONTEXT_TOO_LONG: "The conversation has become too long for this model.",
    Stopped.FAILED: "The provider ended the answer with an error.",
    Stopped.PAUSED: "The provider paused the answer and did not go on with it.",
}
MAX_PAUSES = 10
"""How often a host may pause a turn and be asked to go on, in one run."""


class Loop(Protocol):
    """A way to drive rounds. It can touch only a job, so it cannot leave a check out."""

    async def run(self, job: Job) -> None:
        """Drive the job until it calls `Job.finish`."""


class ToolCallingLoop:
    """Works through the calls of a round one after the other; the last round comes without tools."""

    async def run(self, job: Job) -> None:
        """Drive the job.

        Raises:
            ProviderError: A round failed. What there is so far stays.
            ProviderDenied: The chat may no longer be sent to this provider.
        """
        pauses = 0
        while True:
            final = job.limit()
            found = await job.round(final)
            if any(not call.id for call in found.calls):
                for call in found.calls:
                    job.invalid(call, "The call has no ID, so it cannot be answered.")
                return self._end(job, Stopped.CALL_WITHOUT_ID, CALL_WITHOUT_ID)
            if found.stop is StopReason.PAUSE and not found.calls and final is None:
                pauses += 1
                if pauses <= MAX_PAUSES:
                    continue
                return self._end(job, Stopped.PAUSED, "" if job.text.strip() else _NOTICES[Stopped.PAUSED])
            if (stopped := _ENDS.get(found.stop)) is not None:
                for call in found.calls:
                    job.invalid(call, call.problem or "The call was not run, because the answer ended early.")
                return self._end(job, stopped, "" if job.text.strip() else _NOTICES[stopped])
            if final is not None:
                answered = bool(found.text.strip())
                return self._end(job, Stopped.LIMIT, "" if answered else NO_ANSWER_AFTER_TOOLS)
            if not found.calls:
                if found.text.strip():
                    return self._end(job, Stopped.ANSWERED, "")
                return self._end(job, Stopped.NO_ANSWER, NO_ANSWER_AFTER_TOOLS if job.calls else NO_ANSWER)
            for call in found.calls:
                await job.execute(call)

    def _end(self, job: Job, stopped: Stopped, notice: str) -> None:
        if notice:
            job.say(notice)
        job.finish(stopped)
