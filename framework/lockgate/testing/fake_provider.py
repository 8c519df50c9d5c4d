"""A model host on loopback: the real wire, and answers that a test decides.

    async with FakeProvider([answer_calls(Call("add", {"a": 1, "b": 2})), answer_text("3")]) as fake:
        ...  # talk to fake.base_url
    assert fake.problems == []

Three parts meet here and know nothing of each other: the HTTP server (`fake_http`), the script
(`fake_script`) and the dialect of an API (`fake_chat`), which checks requests and renders answers.
"""

import asyncio
import json
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, NoReturn, Protocol, Self

from lockgate.testing.fake_answers import Answer, ErrorAnswer, ModelAnswer, RawAnswer
from lockgate.testing.fake_chat import CREATED, ChatDialect
from lockgate.testing.fake_errors import error_reply
from lockgate.testing.fake_host import FakeHost, Refused
from lockgate.testing.fake_http import HttpRequest, LoopbackServer
from lockgate.testing.fake_script import Behaviour, FakeRequest, Script, ScriptExhausted
from lockgate.testing.fake_wire import Reply, json_text

ROOT = "/v1"


class Dialect(Protocol):
    """One API: the path below the base address, the form of its errors, its rules and its spelling."""

    path: str
    error_form: str

    def check(self, request: FakeRequest, host: FakeHost) -> None:
        """Raise `Refused` when the host would not accept the request."""
        ...

    def render(self, answer: ModelAnswer, request: FakeRequest) -> Reply:
        """The reply in which a model's answer comes."""
        ...


@dataclass(frozen=True, slots=True)
class FakeProblem:
    """Why a request was refused; `request` is its place in `FakeProvider.requests`.

    What was no HTTP request at all is not in the list; its number is that of the next request.
    """

    request: int
    status: int
    message: str
    param: str | None = None
    code: str | None = None

    def __str__(self) -> str:
        place = f" ({self.param})" if self.param else ""
        return f"request {self.request}: {self.status} {self.message}{place}"


class ClientLeft:
    """Whether clients closed the connection before their answer was complete.

    `await wait()` belongs to a test with `async with`, `wait_blocking` to one with `with`.
    """

    def __init__(self) -> None:
        self.count = 0
        self._blocking = threading.Event()
        self._waiting = asyncio.Event()

    def is_set(self) -> bool:
        """Whether it has happened."""
        return self._blocking.is_set()

    async def wait(self) -> None:
        """Wait until it has happened; on the loop that the provider runs on."""
        await self._waiting.wait()

    def wait_blocking(self, timeout: float) -> bool:
        """Wait at most `timeout` seconds from another thread; returns whether it has happened."""
        return self._blocking.wait(timeout)

    def happened(self) -> None:
        """Note that it happened once more."""
        self.count += 1
        self._blocking.set()
        self._waiting.set()


class FakeProvider:
    """A model host that answers from a script and accepts only what the real one would.

    It runs on the loop of `async with`, or in a thread of its own with `with`. A request that the host would
    not accept is answered as the host does, is noted in `problems`, and takes no answer from the script. A
    request beyond the script's end is answered with 500 and is a problem too.

    Attributes:
        requests: everything that arrived, in order, also what was refused.
        problems: what was wrong with requests.
        disconnected: whether a client closed before its answer was complete.

    Args:
        script: answers in order, one a request, or a function from the request to its answer (may be async).
        host: how the host differs from OpenAI.
        api_key: the key that has to come as `Authorization: Bearer …`; None asks for none.
    """

    def __init__(
        self,
        script: Sequence[Answer] | Behaviour = (),
        *,
        host: FakeHost | None = None,
        api_key: str | None = None,
    ) -> None:
        self.requests: list[FakeRequest] = []
        self.problems: list[FakeProblem] = []
        self.disconnected = ClientLeft()
        self._script = Script(script)
        self._host = host or FakeHost()
        self._api_key = api_key
        self._dialects: dict[str, Dialect] = {ROOT + dialect.path: dialect for dialect in (ChatDialect(),)}
        self._server = LoopbackServer(self._reply, self._malformed, self.disconnected.happened)
        self._port: int | None = None
        self._thread: _ServerThread | None = None

    @property
    def base_url(self) -> str:
        """The address that a client is configured with, such as `http://127.0.0.1:40123/v1`."""
        if self._port is None:
            raise RuntimeError("the fake provider listens only inside its `async with` or `with` block")
        return f"http://127.0.0.1:{self._port}{ROOT}"

    @property
    def unused(self) -> int:
        """How many answers of the script nobody has asked for."""
        return self._script.unused

    def assert_no_problems(self) -> None:
        """Fail with every problem in words, also when answers of the script were not asked for."""
        assert not self.problems, "\n".join(map(str, self.problems))
        assert not self.unused, f"{self.unused} answers of the script were not asked for"

    async def __aenter__(self) -> Self:
        self._port = await self._server.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._port = None
        await self._server.stop()

    def __enter__(self) -> Self:
        self._thread = _ServerThread(self._server)
        self._port = self._thread.begin()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._port = None
        assert self._thread is not None
        self._thread.end()

    async def _reply(self, arrived: HttpRequest) -> Reply:
        """Answer one request: check it as the host would, then ask the script."""
        path, _, query = arrived.target.partition("?")
        body, defect = _read_json(arrived.body)
        number = len(self.requests)
        request = FakeRequest(arrived.method, path, arrived.headers, body, arrived.body, query, number)
        self.requests.append(request)
        dialect = self._dialects.get(path)
        form = dialect.error_form if dialect else "openai"
        try:
            self._check_key(request)
            if path == f"{ROOT}/models" and request.method == "GET":
                return _models(self._host)
            if dialect is None:
                _refuse_path(request)
            _check_http(request, defect)
            dialect.check(request, self._host)
            return _render(await self._script.answer(request), request, dialect)
        except Refused as refused:
            return self._refuse(number, refused, form)
        except ScriptExhausted as exhausted:
            return self._refuse(number, Refused(str(exhausted), status=500, type="server_error"), form)
        except Exception as error:  # noqa: BLE001 - a script's mistake is shown to the test, not lost
            message = f"The script of the fake provider failed: {type(error).__name__}: {error}"
            return self._refuse(number, Refused(message, status=500, type="server_error"), form)

    def _malformed(self, message: str) -> Reply:
        return self._refuse(len(self.requests), Refused(message), "openai")

    def _check_key(self, request: FakeRequest) -> None:
        if self._api_key is None:
            return
        given = request.headers.get("authorization")
        if given is None:
            message = "You didn't provide an API key. It belongs in an Authorization header as 'Bearer YOUR_KEY'."
            raise Refused(message, status=401)
        if given != f"Bearer {self._api_key}":
            raise Refused("Incorrect API key provided.", code="invalid_api_key", status=401)

    def _refuse(self, number: int, why: Refused, form: str) -> Reply:
        self.problems.append(FakeProblem(number, why.status, why.message, why.param, why.code))
        answer = ErrorAnswer(status=why.status, message=why.message, type=why.type, code=why.code, param=why.param)
        return error_reply(answer, form)


def _render(answer: Answer, request: FakeRequest, dialect: Dialect) -> Reply:
    match answer:
        case ModelAnswer():
            return dialect.render(answer, request)
        case ErrorAnswer():
            return error_reply(answer, dialect.error_form)
        case RawAnswer():
            return Reply(
                status=answer.status,
                content_type=answer.content_type,
                headers=answer.headers,
                parts=answer.parts,
                delivery=answer.delivery,
            )
        case _:
            raise TypeError(f"nobody knows how to send {type(answer).__name__}")


def _refuse_path(request: FakeRequest) -> NoReturn:
    raise Refused(f"Invalid URL ({request.method} {request.path})", status=404)


def _check_http(request: FakeRequest, defect: str | None) -> None:
    """The method, the media type and the JSON of a request to a known path."""
    if request.method != "POST":
        raise Refused(f"Not allowed to {request.method} on {request.path}.", status=405, code="method_not_supported")
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != "application/json":
        raise Refused(f"Content-Type is '{media_type:.60}'; it has to be 'application/json'.")
    if defect is not None:
        raise Refused(f"We could not parse the JSON body of your request: {defect}.")


def _read_json(body: bytes) -> tuple[dict[str, Any], str | None]:
    """The object in a body, and what is wrong with it."""
    if not body:
        return {}, "it is empty"
    try:
        value = json.loads(body.decode(), parse_constant=_refuse_constant, object_pairs_hook=_read_members)
    except (ValueError, RecursionError) as error:
        return {}, str(error)
    if not isinstance(value, dict):
        return {}, "it is not an object"
    return value, None


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")


def _read_members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("an object has two members of one name")
    return members


def _models(host: FakeHost) -> Reply:
    data = [{"id": name, "object": "model", "created": CREATED, "owned_by": "fake"} for name in host.models]
    return Reply(parts=(json_text({"object": "list", "data": data}).encode(),))


class _ServerThread:
    """A server on a loop of its own, for tests that are not async and for child processes."""

    def __init__(self, server: LoopbackServer) -> None:
        self._server = server
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="fake-provider", daemon=True)

    def begin(self) -> int:
        self._thread.start()
        return asyncio.run_coroutine_threadsafe(self._server.start(), self._loop).result()

    def end(self) -> None:
        asyncio.run_coroutine_threadsafe(self._server.stop(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
