"""What plugin authors test with.

Names are loaded when they are first used, so that a test pays only for what it needs.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lockgate.testing.addresses import addresses_given as addresses_given
    from lockgate.testing.fake_answers import ABSENT as ABSENT
    from lockgate.testing.fake_answers import AUTO as AUTO
    from lockgate.testing.fake_answers import Answer as Answer
    from lockgate.testing.fake_answers import Call as Call
    from lockgate.testing.fake_answers import ChatShape as ChatShape
    from lockgate.testing.fake_answers import ErrorAnswer as ErrorAnswer
    from lockgate.testing.fake_answers import ModelAnswer as ModelAnswer
    from lockgate.testing.fake_answers import RawAnswer as RawAnswer
    from lockgate.testing.fake_answers import StreamError as StreamError
    from lockgate.testing.fake_answers import Usage as Usage
    from lockgate.testing.fake_constructors import answer_calls as answer_calls
    from lockgate.testing.fake_constructors import answer_error as answer_error
    from lockgate.testing.fake_constructors import answer_events as answer_events
    from lockgate.testing.fake_constructors import answer_json as answer_json
    from lockgate.testing.fake_constructors import answer_page as answer_page
    from lockgate.testing.fake_constructors import answer_raw as answer_raw
    from lockgate.testing.fake_constructors import answer_text as answer_text
    from lockgate.testing.fake_host import FakeHost as FakeHost
    from lockgate.testing.fake_provider import FakeProblem as FakeProblem
    from lockgate.testing.fake_provider import FakeProvider as FakeProvider
    from lockgate.testing.fake_script import FakeRequest as FakeRequest
    from lockgate.testing.fake_wire import Delivery as Delivery
    from lockgate.testing.fake_wire import RandomPieces as RandomPieces
    from lockgate.testing.fake_wire import SseEvent as SseEvent
    from lockgate.testing.fake_wire import SseStyle as SseStyle
    from lockgate.testing.gate import PluginOf as PluginOf
    from lockgate.testing.gate import lockgate_for as lockgate_for
    from lockgate.testing.recorder import NetworkRecorder as NetworkRecorder
    from lockgate.testing.recorder import RecordedRequest as RecordedRequest
    from lockgate.testing.recorder import RecorderAnswer as RecorderAnswer

# Where each name lives. A name is added here, in `__all__` and above.
_HOMES = {
    "addresses": ("addresses_given",),
    "fake_answers": (
        "ABSENT", "AUTO", "Answer", "Call", "ChatShape", "ErrorAnswer", "ModelAnswer", "RawAnswer",
        "StreamError", "Usage",
    ),
    "fake_constructors": (
        "answer_calls", "answer_error", "answer_events", "answer_json", "answer_page", "answer_raw",
        "answer_text",
    ),
    "fake_host": ("FakeHost",),
    "fake_provider": ("FakeProblem", "FakeProvider"),
    "fake_script": ("FakeRequest",),
    "fake_wire": ("Delivery", "RandomPieces", "SseEvent", "SseStyle"),
    "gate": ("PluginOf", "lockgate_for"),
    "recorder": ("NetworkRecorder", "RecordedRequest", "RecorderAnswer"),
}  # fmt: skip

__all__ = [
    "ABSENT",
    "AUTO",
    "Answer",
    "Call",
    "ChatShape",
    "Delivery",
    "ErrorAnswer",
    "FakeHost",
    "FakeProblem",
    "FakeProvider",
    "FakeRequest",
    "ModelAnswer",
    "NetworkRecorder",
    "PluginOf",
    "RandomPieces",
    "RawAnswer",
    "RecordedRequest",
    "RecorderAnswer",
    "SseEvent",
    "SseStyle",
    "StreamError",
    "Usage",
    "addresses_given",
    "answer_calls",
    "answer_error",
    "answer_events",
    "answer_json",
    "answer_page",
    "answer_raw",
    "answer_text",
    "lockgate_for",
]


if not TYPE_CHECKING:  # a type checker that saw this would believe in every name

    def __getattr__(name: str) -> Any:
        """Load a name from its module."""
        for module, names in _HOMES.items():
            if name in names:
                return getattr(import_module(f"{__name__}.{module}"), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """The public names."""
    return list(__all__)
