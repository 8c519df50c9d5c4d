"""Every way on which content of a chat could reach a provider is known, and stands behind the one check of admission.

A new caller of the transport, of an adapter, of an exchange or of an embedder, and a new import that can open a
connection, makes a test here fail until a line of the table says why nothing passes there that
`lockgate.registry.rules.Rules.admission` was not asked about.
"""

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from lockgate.calling import Job
from lockgate.providers import Exchange, ProviderAdapter, Transport
from lockgate.retrieval import Embedder

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Way:
    """A place from which content could go to a provider.

    Attributes:
        module: The file, from the top of the tree.
        function: The function with its class; empty for the module itself.
        what: What is used there.
    """

    module: str
    function: str
    what: str


@dataclass(frozen=True)
class Guard:
    """Why nothing passes a way unasked.

    Attributes:
        why: In a sentence.
        before: The call that asks; it stands earlier in the same function. Empty where the callers are the guard.
    """

    why: str
    before: str = ""


TRANSPORT, JOB = "framework/lockgate/providers/transport.py", "framework/lockgate/calling/job.py"
CHAT_COMPLETIONS = "plugins/openai/lockgate_openai/chat_completions.py"

TABLE: dict[Way, Guard] = {
    Way("framework/lockgate/app/requests.py", "begin", ".open"):
        Guard("Admission is asked of the chat as it is stored, before anything is prepared.", "admission"),
    Way(JOB, "Job._round", ".round"):
        Guard("Admission is asked of the chat as the last call left it, before each round.", "self._admission"),
    Way("framework/lockgate/calling/loop.py", "ToolCallingLoop.run", ".round"):
        Guard("This is the round of a job, which is the line above."),
    Way(CHAT_COMPLETIONS, "ChatCompletionsExchange.round", ".stream"):
        Guard("An exchange is opened by `begin` and asked by a job alone: the first two lines."),
    Way("framework/lockgate/app/lockgate.py", "Lockgate.__init__", "Transport"):
        Guard("The transport of all providers is made; it is handed to adapters alone."),
    Way("framework/lockgate/testing/gate.py", "lockgate_for", "Transport"):
        Guard("Likewise, for tests: one that does not ask again."),
    Way("framework/lockgate/testing/fake_http.py", "", "import socket"):
        Guard("A server of tests: it is asked, and asks nobody."),
    Way("framework/lockgate/testing/recorder.py", "NetworkRecorder.connect", ".open_connection"):
        Guard("A tool of a test is led to the recorder's own server on loopback."),
    Way(TRANSPORT, "", "import httpx"): Guard("For type checkers alone."),
    Way(TRANSPORT, "_send_failure", "import httpx"): Guard("Its exceptions are sorted; nothing is sent."),
    Way(TRANSPORT, "_body_failure", "import httpx"): Guard("Likewise."),
    Way(TRANSPORT, "_import_httpx", "import httpx"): Guard("It carries out `Transport.stream`."),
    Way(TRANSPORT, "", "import socket"): Guard("The names of its errors are read; nothing is sent."),
}

SENDING = frozenset({"stream", "round", "open", "embed_query", "embed_passages"})
"""Names of the methods through which content goes to a provider."""

NETWORK = frozenset({
    "aiohttp", "curl_cffi", "ftplib", "grpc", "h11", "h2", "http.client", "httpcore", "httpx", "imaplib", "niquests",
    "openai", "poplib", "pycurl", "requests", "smtplib", "socket", "telnetlib", "urllib.request", "urllib3",
    "websocket", "websockets", "xmlrpc.client",
})  # fmt: skip
"""Modules that can open a connection."""

CONNECTING = frozenset({
    "open_connection", "open_unix_connection", "create_connection", "create_unix_connection",
    "create_datagram_endpoint", "sock_connect",
})  # fmt: skip
"""Functions of asyncio that open one."""

BY_NAME = frozenset({"getattr", "attrgetter", "methodcaller", "operator.attrgetter", "operator.methodcaller"})
IMPORTING = frozenset({"__import__", "import_module", "importlib.import_module"})
Function = ast.FunctionDef | ast.AsyncFunctionDef


def source_files() -> Iterator[Path]:
    """Yield the modules of all packages, the framework's and those of its plugins."""
    for pattern in ("framework/lockgate", "plugins/*/lockgate_*", "contrib_tools/*/lockgate_*"):
        for folder in sorted(ROOT.glob(pattern)):
            yield from sorted(folder.rglob("*.py"))


class Ways(ast.NodeVisitor):
    """Collects the ways out of a module, each with the function it is in."""

    def __init__(self, module: str) -> None:
        self.module = module
        self.found: list[tuple[Way, Function | None, ast.AST]] = []
        self._names: list[str] = []
        self._functions: list[Function] = []
        self._harmless: set[int] = set()

    def _add(self, what: str, node: ast.AST) -> None:
        function = self._functions[0] if self._functions else None
        self.found.append((Way(self.module, ".".join(self._names), what), function, node))

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._inside(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._inside(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self._inside(node)

    def _inside(self, node: ast.ClassDef | Function) -> None:
        self._names.append(node.name)
        if isinstance(node, Function):
            self._functions.append(node)
        self.generic_visit(node)
        if isinstance(node, Function):
            self._functions.pop()
        self._names.pop()

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            self._imported(alias.name, node)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        for alias in node.names:
            self._imported(f"{node.module}.{alias.name}", node)
            if alias.name in CONNECTING:
                self._add(f".{alias.name}", node)

    def _imported(self, name: str, node: ast.AST) -> None:
        parts = name.split(".")
        for end in range(1, len(parts) + 1):
            if (module := ".".join(parts[:end])) in NETWORK:
                self._add(f"import {module}", node)
                return

    def visit_Call(self, node: ast.Call) -> None:
        called = ast.unparse(node.func)
        given = [item.value for item in node.args if isinstance(item, ast.Constant) and isinstance(item.value, str)]
        if called in BY_NAME:
            for name in given:
                if name in SENDING | CONNECTING:
                    self._add(f".{name}", node)
        elif called in IMPORTING:
            for name in given:
                self._imported(name, node)
        elif called.rpartition(".")[2] == "Transport":
            self._add("Transport", node)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "open" and _opens_a_file(node):
            self._harmless.add(id(node.func))
        self.generic_visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if isinstance(node.ctx, ast.Load) and node.attr in SENDING | CONNECTING and id(node) not in self._harmless:
            self._add(f".{node.attr}", node)
        self.generic_visit(node)


def _opens_a_file(call: ast.Call) -> bool:
    """Tell whether `open` is that of files (or of a store in a folder): an adapter's takes three values at once."""
    receiver = ast.unparse(call.func).removesuffix(".open")
    starred = any(isinstance(item, ast.Starred) for item in call.args) or any(not item.arg for item in call.keywords)
    return receiver == "os" or (not starred and len(call.args) + len(call.keywords) < 3)


def ways_of(module: str, source: str) -> list[tuple[Way, Function | None, ast.AST]]:
    """Return the ways out of a module."""
    visitor = Ways(module)
    visitor.visit(ast.parse(source))
    return visitor.found


def problems_of(sources: dict[str, str], table: dict[Way, Guard]) -> list[str]:
    """Hold modules against the table: what is not in it, what is not asked before, and lines nothing stands for."""
    problems, seen = [], Counter[Way]()
    for module, source in sources.items():
        for way, function, node in ways_of(module, source):
            seen[way] += 1
            place = f"{module}:{getattr(node, 'lineno', 0)} {way.function or 'the module'} uses {way.what}"
            guard = table.get(way)
            if guard is None:
                problems.append(f"{place}: say in the table why admission has been asked there")
            elif guard.before and not _asks_before(function, node, guard.before):
                problems.append(f"{place}: {guard.before}(…) does not refuse before it")
    often = [(way, count) for way, count in seen.items() if count > 1]
    problems += [f"{way.module} {way.function} uses {way.what} {count} times" for way, count in often]
    return problems + [f"{way} is in the table, but nowhere else" for way in table if way not in seen]


def _asks_before(function: Function | None, node: ast.AST, asking: str) -> bool:
    """Tell whether a function, before a node of it, raises when the asking call gives a denial.

    The question is a condition at the function's own level, so that no branch leads around it.
    """
    for statement in function.body if function is not None else ():
        if any(part is node for part in ast.walk(statement)):
            return False
        if isinstance(statement, ast.If) and isinstance(statement.body[-1], ast.Raise):
            calls = [part for part in ast.walk(statement.test) if isinstance(part, ast.Call)]
            if any(ast.unparse(call.func) == asking for call in calls):
                return True
    return False


def tree() -> dict[str, str]:
    """Return all modules with their source."""
    return {path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in source_files()}


# --- the tree --------------------------------------------------------------------------------------------------------


def test_every_way_to_a_provider_is_known_and_guarded() -> None:
    """Whoever adds one says why nothing passes there unasked; whoever takes one away takes its line along."""
    sources = tree()
    assert len(sources) > 100
    assert problems_of(sources, TABLE) == []


def test_every_line_of_the_table_gives_a_reason() -> None:
    """A sentence for the reader, also where the callers are the guard."""
    assert [way for way, guard in TABLE.items() if len(guard.why.split()) < 1 or not guard.why.endswith(".")] == []


def test_the_names_looked_for_are_those_of_the_contracts() -> None:
    """A method that is renamed or added would be passed over; `aclose` and `close` release, and carry nothing."""

    def methods(kind: type) -> set[str]:
        return {name for name, value in vars(kind).items() if callable(value) and not name.startswith("_")}

    assert methods(Transport) == {"stream", "aclose"}
    assert methods(ProviderAdapter) == {"tool_block", "open"}
    assert methods(Exchange) == {"round", "answer", "close"}
    assert {name for name in methods(Embedder) if name.startswith("embed")} == {"embed_query", "embed_passages"}
    assert methods(Transport) - {"aclose"} <= SENDING
    assert callable(Job.round)


# --- the test itself -------------------------------------------------------------------------------------------------

MADE_UP = "framework/lockgate/app/made_up.py"


@pytest.mark.parametrize(
    ("source", "what"),
    [
        ("async def title(self, http):\n    async with self._transport.stream(http) as answer: ...", ".stream"),
        ("async def title(adapter):\n    return adapter.open(request, profile, transport)", ".open"),
        ("async def title(adapter):\n    return adapter.open(*everything)", ".open"),
        ("async def title(adapter):\n    return adapter.open(request, profile=p, transport=t)", ".open"),
        ("async def title(adapter):\n    return adapter.open(**everything)", ".open"),
        ("async def title(adapter):\n    return partial(adapter.open, request)", ".open"),
        ("async def title(exchange):\n    found = await exchange.round(print)", ".round"),
        ("async def title(exchange):\n    ask = exchange.round\n    await ask(print)", ".round"),
        ("async def title(embedder):\n    return await embedder.embed_query('content')", ".embed_query"),
        ("async def title(embedder):\n    return await embedder.embed_passages(['content'])", ".embed_passages"),
        ("async def title(transport):\n    return getattr(transport, 'stream')(request)", ".stream"),
        ("async def title(transport):\n    return operator.methodcaller('stream', request)(transport)", ".stream"),
        ("async def title():\n    return Transport(retry=None)", "Transport"),
        ("async def title():\n    return providers.transport.Transport()", "Transport"),
        ("async def title():\n    import httpx", "import httpx"),
        ("async def title():\n    from urllib import request", "import urllib.request"),
        ("async def title():\n    from urllib.request import urlopen", "import urllib.request"),
        ("async def title():\n    import http.client as other", "import http.client"),
        ("async def title():\n    importlib.import_module('socket')", "import socket"),
        ("async def title():\n    return await asyncio.open_connection('host', 443)", ".open_connection"),
        ("async def title():\n    from asyncio import open_connection as c", ".open_connection"),
    ],
)
def test_a_made_up_caller_that_nobody_guards_is_found(source: str, what: str) -> None:
    """Whatever spelling it hides behind: a method in a variable, a name in a text, an import of its own."""
    problems = problems_of({MADE_UP: source}, {})
    assert len(problems) == 1
    assert problems[0].startswith(f"{MADE_UP}:")
    assert f"title uses {what}: say in the table why" in problems[0]
    assert problems_of({MADE_UP: source}, {Way(MADE_UP, "title", what): Guard("It is made up.")}) == []


@pytest.mark.parametrize(
    "source",
    [
        "os.open(path, os.O_CREAT | os.O_WRONLY, 0o600)", "Path('x').open('rb')", "factory.open(folder)", "round(2.5)",
        "open('x', 'rb', 0)", "from urllib.parse import quote", "import http", "self.stream = None", "stream(1)",
        "getattr(made, 'title')", "async def round(self):\n    ...", "print('.stream(')",
    ],
)
def test_what_sends_nothing_is_no_way(source: str) -> None:
    """A table of files that are opened would be read by nobody."""
    assert problems_of({MADE_UP: source}, {}) == []


ASKING = """
class Titles:
    async def make(self, chat, exchange):
        if (denial := self._admission(chat.requirements)) is not None:
            raise ProviderDenied(denial.why)
        return await exchange.round(print)
"""


@pytest.mark.parametrize(
    "source",
    [
        ASKING.replace("self._admission(chat.requirements)", "self._other(chat.requirements)"),
        ASKING.replace("raise ProviderDenied(denial.why)", "log(denial.why)"),
        ASKING.replace("        if (denial", "        await exchange.round(str)\n        if (denial").replace(
            "return await exchange.round(print)", "return None"
        ),
        ASKING.replace("        if (denial", "        if self.careful and (denial").replace(
            "if self.careful and (denial", "if self.careful:\n         if (denial"
        ).replace("            raise", "             raise"),
    ],
    ids=["another question", "a denial that is only logged", "asked too late", "asked in a branch"],
)
def test_a_question_that_does_not_stand_in_front_is_found(source: str) -> None:
    """The line of the table alone is not enough: the code has to refuse before it sends."""
    table = {Way(MADE_UP, "Titles.make", ".round"): Guard("Admission is asked.", "self._admission")}
    assert problems_of({MADE_UP: ASKING}, table) == []
    problems = problems_of({MADE_UP: source}, table)
    assert len(problems) == 1
    assert problems[0].endswith("self._admission(…) does not refuse before it")


def test_a_second_use_in_one_function_and_a_line_without_use_are_found() -> None:
    """One line stands for one use."""
    way = Way(MADE_UP, "title", ".round")
    twice = "async def title(exchange):\n    await exchange.round(print)\n    await exchange.round(print)"
    assert problems_of({MADE_UP: twice}, {way: Guard("Once.")}) == [f"{MADE_UP} title uses .round 2 times"]
    assert problems_of({MADE_UP: ""}, {way: Guard("Once.")}) == [f"{way} is in the table, but nowhere else"]


@pytest.mark.parametrize(
    ("module", "asking"), [("framework/lockgate/app/requests.py", "admission"), (JOB, "self._admission")]
)
def test_taking_the_question_out_of_the_tree_is_found(module: str, asking: str) -> None:
    """The two places that ask are the ones everything stands on."""
    sources = tree()
    sources[module] = sources[module].replace(f":= {asking}(", ":= nothing(")
    (problem,) = problems_of(sources, TABLE)
    assert problem.startswith(f"{module}:")
    assert problem.endswith(f"{asking}(…) does not refuse before it")
