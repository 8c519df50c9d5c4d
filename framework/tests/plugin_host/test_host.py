import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import lockgate
from lockgate.errors import UnknownNameError, UsageError
from lockgate.plugin_host import HostPolicy, PluginHost, PluginRecord, PluginState, hookimpl

SERVICES = SimpleNamespace()

TOOLS = """
from lockgate import hookimpl

@hookimpl
def lockgate_tools():
    return ["tool of " + __name__]
"""


class Good:
    """A plugin that does as it should."""

    @hookimpl
    def lockgate_tools(self) -> list[str]:
        return ["good"]

    @hookimpl
    def lockgate_loops(self) -> list[str]:
        return ["round and round"]


def _values(host: PluginHost, hook: str = "tools") -> list[Any]:
    return [item.value for item in host.contributions(hook, services=SERVICES)]


def _record(host: PluginHost, name: str) -> PluginRecord:
    return next(item for item in host.records if item.name == name)


@pytest.fixture
def never() -> Iterator[threading.Event]:
    """An event nobody sets while the test runs: waiting for it is how a plugin hangs."""
    event = threading.Event()
    yield event
    event.set()


# --- from entry points ---


def test_plugins_are_loaded_from_entry_points(install: Callable[..., str]) -> None:
    """An installed plugin is loaded, and its items carry distribution, version and entry point."""
    install("my-pack", TOOLS)
    host = PluginHost()
    (item,) = host.contributions("lockgate_tools", services=SERVICES)
    assert (item.kind, item.value) == ("tools", "tool of my_pack")
    assert str(item.owner) == "my-pack 1.0 (entry point 'my_pack')"
    (loaded,) = host.records
    assert loaded.state is PluginState.LOADED
    assert loaded.hooks == ("lockgate_tools",)
    assert loaded.counts == {"tools": 1}
    assert loaded.import_ms is not None


@pytest.mark.parametrize("name", ["bad_pack", "Bad.Pack"])
def test_a_disabled_plugin_is_never_imported(install: Callable[..., str], name: str) -> None:
    """Switched off by entry point or by distribution, in any spelling, a plugin's module does not run."""
    install("bad-pack", "raise SystemExit('imported!')")
    host = PluginHost(HostPolicy(disabled=frozenset({name})))
    (it,) = host.records
    assert it.state is PluginState.DISABLED
    assert "bad_pack" not in sys.modules


def test_a_plugin_that_is_not_allowed_is_never_imported(install: Callable[..., str]) -> None:
    """With an allow list, what is not on it does not run, and what is on it does."""
    install("bad-pack", "raise SystemExit('imported!')")
    install("good-pack", TOOLS)
    policy = HostPolicy(allowed=frozenset({"Good_Pack"}))
    host = PluginHost(policy)
    assert host.policy == policy
    assert {it.distribution: it.state for it in host.records} == {
        "bad-pack": PluginState.NOT_ALLOWED,
        "good-pack": PluginState.LOADED,
    }
    assert "bad_pack" not in sys.modules
    assert _values(host) == ["tool of good_pack"]


def test_an_unsupported_plugin_is_never_imported(install: Callable[..., str]) -> None:
    """A plugin for another version of the framework is told so without running it."""
    install("new-pack", "raise SystemExit('imported!')", requires="lockgate-framework>=99")
    (it,) = PluginHost().records
    assert it.state is PluginState.UNSUPPORTED
    assert "'lockgate-framework>=99'" in it.reason
    assert "new_pack" not in sys.modules


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("raise ValueError('no luck')", "It could not be imported: ValueError: no luck"),
        ("raise SystemExit(3)", "It could not be imported: SystemExit: 3"),
        ("import module_that_is_not_there", "It could not be imported: ModuleNotFoundError: No module named"),
        ("class E(Exception):\n  def __str__(self): raise SystemExit\nraise E", "its message cannot be read"),
        ("this is no Python", "It could not be imported: SyntaxError"),
    ],
)
def test_a_plugin_that_fails_at_import_costs_only_itself(install: Callable[..., str], source: str, reason: str) -> None:
    """Whatever is raised at import is in the record, with its traceback, and the others load."""
    install("bad-pack", source)
    install("good-pack", TOOLS)
    host = PluginHost()
    bad = _record(host, "bad_pack")
    assert bad.state is PluginState.QUARANTINED
    assert reason in bad.reason
    assert "bad_pack" in bad.traceback
    assert _values(host) == ["tool of good_pack"]


def test_a_plugin_that_hangs_at_import_is_left_behind(
    install: Callable[..., str], never: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A host does not wait for an import for longer than its deadline."""
    monkeypatch.setattr(threading, "never", never, raising=False)
    install("bad-pack", "import threading\nthreading.never.wait()")
    install("good-pack", TOOLS)
    host = PluginHost(HostPolicy(import_deadline=0.2))
    assert _record(host, "bad_pack").reason == "It could not be imported: TimeoutError: not done after 0.2 s"
    assert _values(host) == ["tool of good_pack"]


def test_what_hangs_does_not_keep_the_process_alive(install: Callable[..., str], tmp_path: Path) -> None:
    """A program ends although plugins still hang, one at import and one in a hook."""
    install("a-pack", "import threading\nthreading.Event().wait()")
    install(
        "b-pack",
        "import threading\nfrom lockgate import hookimpl\n\n"
        "@hookimpl\ndef lockgate_tools():\n    threading.Event().wait()\n",
    )
    program = (
        f"import sys; sys.path.insert(0, {str(tmp_path / 'site')!r})\n"
        "from lockgate.plugin_host import HostPolicy, PluginHost\n"
        "policy = HostPolicy(allowed=frozenset({'a-pack', 'b-pack'}), deadline=0.3, import_deadline=0.3)\n"
        "host = PluginHost(policy)\n"
        "print(host.contributions('tools', services=None))\n"
        "print([record.state.name for record in host.records if record.distribution in ('a-pack', 'b-pack')])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True, env=_environment()
    )
    assert done.stdout == "[]\n['QUARANTINED', 'QUARANTINED']\n"


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(Path(lockgate.__file__).parents[1])}


def test_two_entry_points_of_one_module_are_one_plugin(install: Callable[..., str]) -> None:
    """The second name of a module contributes nothing twice, and says of whom it is a twin."""
    install("pack", TOOLS, entry_points="[lockgate]\none = pack\ntwo = pack\n")
    host = PluginHost()
    assert _values(host) == ["tool of pack"]
    assert _record(host, "two").reason == "It is the same module as that of pack 1.0 (entry point 'one')."


@pytest.mark.parametrize(
    ("entry", "what"), [("pack:missing", "AttributeError"), ("pack:Class", "the class Class"), ("pack:none", "nothing")]
)
def test_an_entry_point_names_a_module_or_an_object(install: Callable[..., str], entry: str, what: str) -> None:
    """What is no plugin is quarantined with what it is."""
    install("pack", "none = None\nclass Class: pass", entry_points=f"[lockgate]\npack = {entry}\n")
    (it,) = PluginHost().records
    assert it.state is PluginState.QUARANTINED
    assert what in it.reason


# --- handed over in code ---


def test_exactly_the_given_plugins_are_used(install: Callable[..., str]) -> None:
    """With plugins given, nothing that is installed is looked at."""
    install("bad-pack", "raise SystemExit('imported!')")
    module = ModuleType("given_module")
    vars(module)["lockgate_tools"] = hookimpl(lambda: ["from a module"], specname="lockgate_tools")
    host = PluginHost(plugins=[module, Good()])
    assert [it.name for it in host.records] == ["Good", "given_module"]
    assert _values(host) == ["good", "from a module"]
    assert all(it.owner.first_party and it.import_ms is None for it in host.records)
    assert "bad_pack" not in sys.modules


def test_given_plugins_are_the_decision_of_the_program() -> None:
    """They pass an allow list of distributions, and can be switched off by name."""
    assert _values(PluginHost(HostPolicy(allowed=frozenset()), [Good()])) == ["good"]
    assert _values(PluginHost(HostPolicy(disabled=frozenset({"Good"})), [Good()])) == []


def test_the_same_plugin_twice_is_a_mistake_of_the_caller() -> None:
    """One object cannot be two plugins."""
    plugin = Good()
    with pytest.raises(UsageError, match="twice"):
        PluginHost(plugins=[plugin, plugin])


def test_a_deadline_is_a_positive_number() -> None:
    """A policy without time to answer is refused."""
    with pytest.raises(ValueError, match=r"deadline is 0; it must be"):
        HostPolicy(deadline=0)


# --- asking hooks ---


def _raises() -> Any:
    raise RuntimeError("not today")


def _exits() -> Any:
    raise SystemExit(1)


def _fails_while_read() -> Iterator[str]:
    yield "first"
    raise LookupError("second is missing")


def _never_ends() -> Iterator[int]:
    number = 0
    while True:
        yield number
        number += 1


async def _coroutine() -> list[str]:
    return ["x"]


@pytest.mark.parametrize(
    ("implementation", "reason"),
    [
        (_raises, "lockgate_tools failed: RuntimeError: not today"),
        (_exits, "lockgate_tools failed: SystemExit: 1"),
        (_fails_while_read, "lockgate_tools failed: LookupError: second is missing"),
        (_never_ends, "lockgate_tools failed: ValueError: it returned more than 10,000 items"),
        (_coroutine, "lockgate_tools failed: TypeError: lockgate_tools is a coroutine function"),
        (lambda: None, "it returned None; a hook returns an iterable of its items"),
        (lambda: "tools", "it returned an object of type str"),
        (lambda: {"a": 1}, "it returned an object of type dict"),
        (lambda: 7, "it returned an object of type int"),
    ],
)
def test_a_hook_that_fails_costs_only_its_plugin(implementation: Any, reason: str) -> None:
    """A raise, also while a generator is read, and a wrong shape quarantine the plugin, whole, with a traceback."""
    bad = ModuleType("bad")
    vars(bad)["lockgate_tools"] = hookimpl(implementation, specname="lockgate_tools")
    host = PluginHost(plugins=[bad, Good()])
    assert _values(host) == ["good"]
    it = _record(host, "bad")
    assert it.state is PluginState.QUARANTINED
    assert reason in it.reason
    assert "Traceback" in it.traceback
    assert it.counts == {}


def test_exactly_as_many_items_as_allowed_are_taken() -> None:
    """Ten thousand items are no endless generator."""

    class Many:
        @hookimpl
        def lockgate_tools(self) -> Any:
            return range(10_000)

    assert len(_values(PluginHost(plugins=[Many()]))) == 10_000


def test_a_hook_that_hangs_is_left_behind(never: threading.Event) -> None:
    """A hook that misses the deadline quarantines its plugin; the next plugin is asked as if nothing were."""

    class Bad:
        @hookimpl
        def lockgate_tools(self) -> Any:
            never.wait()
            return ["late"]

    host = PluginHost(HostPolicy(deadline=0.1), [Bad(), Good()])
    assert _values(host) == ["good"]
    assert _record(host, "Bad").reason == "lockgate_tools failed: TimeoutError: not done after 0.1 s"
    never.set()
    assert _values(host) == ["good"]


def test_a_keyboard_interrupt_passes() -> None:
    """Ctrl-C is the person's, wherever it arrives, and quarantines nobody."""

    class Interrupted:
        @hookimpl
        def lockgate_tools(self) -> Any:
            raise KeyboardInterrupt

    host = PluginHost(plugins=[Interrupted()])
    with pytest.raises(KeyboardInterrupt):
        _values(host)
    assert host.records[0].state is PluginState.LOADED


def test_all_of_a_quarantined_plugin_vanishes() -> None:
    """What a plugin contributed through a hook that worked is gone once another hook of it failed."""

    class Half:
        @hookimpl
        def lockgate_loops(self) -> Any:
            return ["half"]

        @hookimpl
        def lockgate_tools(self) -> Any:
            raise RuntimeError

    host = PluginHost(plugins=[Half(), Good()])
    assert _values(host, "loops") == ["round and round", "half"]
    assert _values(host, "tools") == ["good"]
    assert _values(host, "loops") == ["round and round"]


def test_a_hook_is_asked_once_and_only_when_it_is_wanted() -> None:
    """Answers are kept for the life of the host, and a hook nobody wants is not called."""
    calls = []

    class Counting:
        @hookimpl
        def lockgate_tools(self) -> Any:
            calls.append("tools")
            return [object()]

        @hookimpl
        def lockgate_loops(self) -> Any:
            calls.append("loops")
            return []

    host = PluginHost(plugins=[Counting()])
    assert _values(host) == _values(host)
    assert calls == ["tools"]


def test_services_are_handed_to_those_who_take_them() -> None:
    """An implementation may leave ``services`` out, and may give it a default without losing it."""

    class Taking:
        @hookimpl
        def lockgate_tools(self, services: Any) -> Any:
            return [services]

        @hookimpl
        def lockgate_loops(self, services: Any = None) -> Any:
            return [services]

    host = PluginHost(plugins=[Taking(), Good()])
    assert _values(host) == ["good", SERVICES]
    assert _values(host, "loops") == ["round and round", SERVICES]


def test_a_missing_argument_is_a_mistake_of_the_caller() -> None:
    """A hook is called with all its arguments; the plugins are not blamed."""
    host = PluginHost(plugins=[Good()])
    with pytest.raises(UsageError, match=r"lockgate_tools is called with services; services is missing"):
        host.contributions("tools")
    assert host.records[0].state is PluginState.LOADED


def test_other_services_are_handed_only_to_those_who_take_them() -> None:
    """After a reload who takes ``services`` gets the new ones, everybody else's items stay, and a run that still
    holds the old services gets what it had.
    """
    calls = []

    class Taking:
        @hookimpl
        def lockgate_tools(self, services: Any) -> Any:
            calls.append(services)
            return [(services, object())]

    class Keeping:
        @hookimpl
        def lockgate_tools(self) -> Any:
            calls.append("no services")
            return [object()]

    host = PluginHost(plugins=[Taking(), Keeping()])
    first = [item.value for item in host.contributions("tools", services=1)]
    second = [item.value for item in host.contributions("tools", services=2)]
    assert first[0] is second[0]
    assert (first[1][0], second[1][0]) == (1, 2)
    assert [item.value for item in host.contributions("tools", services=1)] == first
    assert calls == ["no services", 1, 2]


def test_the_answers_for_the_latest_services_are_kept() -> None:
    """Many reloads do not pile up answers."""
    host = PluginHost(plugins=[Good()])
    for number in range(10):
        host.contributions("tools", services=number)
    assert [answer.arguments["services"] for answer in host._asked["lockgate_tools"]] == [6, 7, 8, 9]


def test_an_unknown_hook_is_a_mistake_of_the_caller() -> None:
    """The nearest name is suggested."""
    with pytest.raises(UnknownNameError, match=r"no hook 'lockgate_tolls'.*'lockgate_tools'"):
        PluginHost(plugins=[]).contributions("tolls", services=SERVICES)


def test_a_hook_may_ask_for_another_hook() -> None:
    """From inside a hook the contributions of another one can be had."""
    host: PluginHost

    class Asking:
        @hookimpl
        def lockgate_tools(self) -> Any:
            return [f"tool for {item.value}" for item in host.contributions("loops", services=SERVICES)]

    host = PluginHost(plugins=[Asking(), Good()])
    assert _values(host) == ["tool for round and round", "good"]


def test_a_hook_that_asks_for_itself_is_told_so() -> None:
    """A circle is refused at once instead of waiting for the deadline."""
    host: PluginHost

    class Circular:
        @hookimpl
        def lockgate_tools(self) -> Any:
            return host.contributions("tools", services=SERVICES)

    host = PluginHost(plugins=[Circular(), Good()])
    assert _values(host) == ["good"]
    assert "lockgate_tools is asked for by a plugin that is answering it" in _record(host, "Circular").reason


def test_several_threads_ask_a_plugin_once() -> None:
    """Two threads that ask for a hook at the same time get the same answer."""
    calls = []
    both = threading.Barrier(2)

    class Counting:
        @hookimpl
        def lockgate_tools(self) -> Any:
            calls.append(1)
            return [object()]

    host = PluginHost(plugins=[Counting()])
    answers: list[list[Any]] = []

    def ask() -> None:
        both.wait()
        answers.append(_values(host))

    threads = [threading.Thread(target=ask) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers[0] == answers[1]
    assert calls == [1]


def test_importing_the_mark_loads_neither_host_nor_asyncio() -> None:
    """What every plugin imports stays cheap."""
    program = (
        "import sys; from lockgate import hookimpl; print(sorted(name for name in sys.modules"
        " if name.startswith('lockgate.') or name in ('asyncio', 'pydantic', 'httpx')))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True, env=_environment()
    )
    assert done.stdout.strip() == "['lockgate.plugin_host', 'lockgate.plugin_host.markers']"
