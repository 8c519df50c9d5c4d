import inspect
from typing import Any

import pytest

from lockgate.plugin_host import PluginHost, PluginRecord, PluginState, hookimpl, hookspec
from lockgate.plugin_host.hookspecs import Hooks
from lockgate.registry.contribution import FRAMEWORK

HOOKS = sorted(name for name in dir(Hooks) if name.startswith("lockgate_"))


class Backends:
    """Specifications of a pack."""

    @hookspec
    def lockgate_search_backends(self, services: Any) -> Any: ...


class Pack:
    """A pack that lets others contribute search backends."""

    @hookimpl
    def lockgate_hookspecs(self) -> Any:
        return [Backends]


def _nothing() -> Any:
    return []


def _services(services: Any) -> Any:
    return [services]


def _record(host: PluginHost, name: str) -> PluginRecord:
    return next(item for item in host.records if item.name == name)


@pytest.mark.parametrize("hook", HOOKS)
def test_every_hook_of_the_framework_is_documented(hook: str) -> None:
    """Each has its purpose, what is returned, and a smallest example that implements it."""
    text = inspect.getdoc(getattr(Hooks, hook)) or ""
    assert "Returns:" in text
    assert "Example::" in text
    assert f"def {hook}(" in text


@pytest.mark.parametrize("hook", [name for name in HOOKS if name != "lockgate_hookspecs"])
def test_every_hook_of_the_framework_can_be_implemented(hook: str) -> None:
    """Each hook hands over ``services`` and brings items under its own kind."""
    plugin = type("Plugin", (), {hook: staticmethod(hookimpl(_services, specname=hook))})()
    (item,) = PluginHost(plugins=[plugin]).contributions(hook, services="the services")
    assert (item.kind, item.value) == (hook.removeprefix("lockgate_"), "the services")


def test_a_pack_specifies_a_hook_for_others() -> None:
    """Others contribute to it, also those that are loaded before the pack."""

    class Another:
        @hookimpl
        def lockgate_search_backends(self) -> Any:
            return ["backend"]

    host = PluginHost(plugins=[Pack(), Another()])
    assert [item.value for item in host.contributions("search_backends", services=None)] == ["backend"]
    assert host.hooks["lockgate_search_backends"].entry_point == "Pack"
    assert host.hooks["lockgate_tools"] is FRAMEWORK
    assert _record(host, "Another").hooks == ("lockgate_search_backends",)
    assert all(not it.problems for it in host.records)


def test_of_two_specifications_of_one_name_the_first_stays() -> None:
    """The second pack is told with both owners, stays loaded, and its other specifications are taken."""

    class More:
        @hookspec
        def lockgate_search_backends(self) -> Any: ...

        @hookspec
        def lockgate_mail_servers(self) -> Any: ...

    class Quarrel:
        @hookimpl
        def lockgate_hookspecs(self) -> Any:
            return [More]

    host = PluginHost(plugins=[Quarrel(), Pack()])
    assert host.hooks["lockgate_search_backends"].entry_point == "Pack"
    assert host.hooks["lockgate_mail_servers"].entry_point == "Quarrel"
    it = _record(host, "Quarrel")
    assert it.state is PluginState.LOADED
    (problem,) = it.problems
    assert "lockgate_search_backends" in problem
    assert "entry point 'Pack'" in problem
    assert "entry point 'Quarrel'" in problem


def test_a_hook_of_the_framework_cannot_be_specified_again() -> None:
    """The framework's own hooks come first."""

    class Own:
        @hookspec
        def lockgate_tools(self) -> Any: ...

    class Greedy:
        @hookimpl
        def lockgate_hookspecs(self) -> Any:
            return [Own]

    host = PluginHost(plugins=[Greedy()])
    assert host.hooks["lockgate_tools"] is FRAMEWORK
    assert "lockgate-framework has specified it already" in _record(host, "Greedy").problems[0]


def test_specifications_that_could_never_be_called_are_not_taken() -> None:
    """A foreign prefix, other arguments than ``services``, firstresult and historic are each told."""

    class Odd:
        @hookspec
        def search_backends(self) -> Any: ...

        @hookspec
        def lockgate_argument(self, services: Any, chat: Any) -> Any: ...

        @hookspec(firstresult=True)
        def lockgate_first(self) -> Any: ...

    class Strange:
        @hookimpl
        def lockgate_hookspecs(self) -> Any:
            return [Odd]

    host = PluginHost(plugins=[Strange()])
    assert sorted(host.hooks) == HOOKS
    text = " ".join(_record(host, "Strange").problems)
    assert "search_backends is not taken: its name has to begin with lockgate_" in text
    assert "lockgate_argument is not taken: it may take services and nothing else, not chat" in text
    assert "lockgate_first is not taken: firstresult and historic" in text


@pytest.mark.parametrize("holders", [[object()], ["a text"], [Pack], 5])
def test_a_pack_returns_holders_of_specifications(holders: Any) -> None:
    """What has no mark of a specification quarantines the pack."""

    class Wrong:
        @hookimpl
        def lockgate_hookspecs(self) -> Any:
            return holders

    (it,) = PluginHost(plugins=[Wrong()]).records
    assert it.state is PluginState.QUARANTINED
    assert it.reason.startswith("lockgate_hookspecs failed: TypeError")


@pytest.mark.parametrize("name", ["lockgate_tool", "lockgate_toools", "tools", "lockgate_tools_"])
def test_a_misspelt_hook_is_told_with_what_was_meant(name: str) -> None:
    """The plugin stays loaded, and its record names the hook that is near."""
    plugin = type("Misspelt", (), {name: staticmethod(hookimpl(_nothing, specname=name))})()
    (it,) = PluginHost(plugins=[plugin]).records
    assert it.state is PluginState.LOADED
    assert it.pending == (name,)
    assert it.problems == (f"{name} is no hook and is never called. Did you mean lockgate_tools?",)


def test_a_misspelt_hook_of_a_pack_is_told_too() -> None:
    """Names are judged when every pack has specified its own."""

    class Misspelt:
        @hookimpl
        def lockgate_search_backend(self) -> Any: ...

    assert (
        "Did you mean lockgate_search_backends?"
        in _record(PluginHost(plugins=[Misspelt(), Pack()]), "Misspelt").problems[0]
    )
    assert "Did you mean" not in PluginHost(plugins=[Misspelt()]).records[0].problems[0]


def test_an_optional_hook_waits_for_its_pack() -> None:
    """It is no problem, only a note."""

    class Waiting:
        @hookimpl(optionalhook=True)
        def lockgate_search_backends(self) -> Any: ...

    (it,) = PluginHost(plugins=[Waiting()]).records
    assert it.problems == ()
    assert it.notes == ("lockgate_search_backends waits for the pack that specifies it.",)
    assert it.pending == ("lockgate_search_backends",)


def test_an_unknown_hook_is_told_how_to_be_optional() -> None:
    """A name near none is a problem with a way out."""

    class Unknown:
        @hookimpl
        def lockgate_zebra_crossing(self) -> Any: ...

    (it,) = PluginHost(plugins=[Unknown()]).records
    assert "optionalhook=True" in it.problems[0]


def test_a_forgotten_mark_is_told() -> None:
    """A function that is named like a hook and not marked would be silence."""

    class Forgot:
        def lockgate_tools(self) -> Any: ...

    (it,) = PluginHost(plugins=[Forgot()]).records
    assert it.problems == ("lockgate_tools is never called, because it is not marked with @hookimpl.",)


def test_a_plugin_without_a_hook_is_told() -> None:
    """Nothing to contribute is worth a word."""
    (it,) = PluginHost(plugins=[object()]).records
    assert it.problems == ("It implements no hook.",)


@pytest.mark.parametrize("options", [{"wrapper": True}, {"hookwrapper": True}])
def test_wrappers_are_refused(options: dict[str, Any]) -> None:
    """Hooks are called plugin by plugin, so a wrapper could only mislead its author."""

    class Wrapper:
        def lockgate_tools(self) -> Any:
            yield

    hookimpl(Wrapper.lockgate_tools, **options)
    (it,) = PluginHost(plugins=[Wrapper()]).records
    assert it.state is PluginState.QUARANTINED
    assert it.reason.startswith("lockgate_tools is a wrapper")


def test_a_wish_to_be_first_is_noted() -> None:
    """The order of plugins cannot be chosen by a plugin."""

    class First:
        @hookimpl(tryfirst=True)
        def lockgate_tools(self) -> Any: ...

    (it,) = PluginHost(plugins=[First()]).records
    assert "by distribution and name" in it.notes[0]


def test_an_argument_that_does_not_exist_is_told_before_the_call() -> None:
    """The record names the argument and those there are, also for the hook of a pack."""

    class Framework:
        @hookimpl
        def lockgate_tools(self, chat: Any) -> Any: ...

    class Foreign:
        @hookimpl
        def lockgate_search_backends(self, pages: Any) -> Any: ...

    class Early:
        @hookimpl
        def lockgate_hookspecs(self, services: Any) -> Any: ...

    host = PluginHost(plugins=[Framework(), Foreign(), Early(), Pack()])
    assert _record(host, "Framework").reason == "lockgate_tools asks for the argument 'chat'; there is only services."
    assert _record(host, "Foreign").reason.startswith("lockgate_search_backends asks for the argument 'pages'")
    assert _record(host, "Early").reason == "lockgate_hookspecs asks for the argument 'services'; there is none."
