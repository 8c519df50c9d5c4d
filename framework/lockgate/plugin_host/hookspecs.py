"""Every hook of the framework. The docstrings are the reference.

A plugin is a module with functions of these names under `@hookimpl`, and one line in its ``pyproject.toml``::

    [project.entry-points.lockgate]
    my_pack = "my_pack.plugin"

A hook returns an iterable, a list or a generator, of at most 10,000 items. They are taken whole or not at
all. It is called once, when its kind is first asked for, on a thread of its own and under a deadline; import
what it needs inside the function. Each hook but `lockgate_hookspecs` may take ``services``, what the
framework lends to plugins, and may leave it out.
"""

from collections.abc import Iterable
from typing import Any, Protocol

from lockgate.plugin_host.markers import hookspec


class Hooks(Protocol):
    """The hooks, in the order in which the framework asks for them."""

    @hookspec
    def lockgate_hookspecs(self) -> Iterable[Any]:
        """Specify hooks of your own, so that other packs can contribute to yours.

        Called while plugins load, before any other hook. The names must begin with ``lockgate_``; the
        functions may take ``services`` and nothing else. Ask for the contributions with
        ``services.contributions("my_backends")``.

        Returns:
            Modules or classes with functions marked by `lockgate.plugin_host.hookspec`.

        Example::

            @hookimpl
            def lockgate_hookspecs():
                from my_pack import hooks
                return [hooks]
        """

    @hookspec
    def lockgate_configuration_sections(self, services: Any) -> Iterable[Any]:
        """Claim sections of ``plugin.lua`` that are not those of a tool or a kind.

        Reserved: no part of this version asks for it yet.

        Returns:
            Configuration sections: a name, and the settings model the section is read with.

        Example::

            @hookimpl
            def lockgate_configuration_sections():
                from my_pack.settings import SECTION
                return [SECTION]
        """

    @hookspec
    def lockgate_previews(self, services: Any) -> Iterable[Any]:
        """Add preview features: names that a person or an organization switches, and that tools belong to.

        A preview is on until somebody switches it off, and only while every preview it stands on is on. Of two
        with one name the first one counts.

        Returns:
            `lockgate.Preview` objects.

        Example::

            @hookimpl
            def lockgate_previews():
                from lockgate import Preview
                return [Preview("PRE_WEATHER_2026", "Weather maps")]
        """

    @hookspec
    def lockgate_kinds(self, services: Any) -> Iterable[Any]:
        """Add kinds of configured instances: things a user sets up by name, such as a kind of data source.

        Returns:
            `lockgate.Kind` objects: family and name, a settings model, a section of ``plugin.lua``, and how
            an instance is opened.

        Example::

            @hookimpl
            def lockgate_kinds():
                from my_pack.source import KIND
                return [KIND]
        """

    @hookspec
    def lockgate_option_sources(self, services: Any) -> Iterable[Any]:
        """Add lists of values that settings refer to by name.

        Returns:
            `lockgate.OptionSource` objects.

        Example::

            @hookimpl
            def lockgate_option_sources():
                from my_pack.options import Regions
                return [Regions()]
        """

    @hookspec
    def lockgate_tools(self, services: Any) -> Iterable[Any]:
        """Add tools.

        Returns:
            `lockgate.Tool` objects: instances of a class, functions under `@tool`, `lockgate.DataTool`
            objects.

        Example::

            @hookimpl
            def lockgate_tools():
                from my_pack.weather import weather
                return [weather]
        """

    @hookspec
    def lockgate_tool_definition_sources(self, services: Any) -> Iterable[Any]:
        """Add sources of tools whose definitions arrive as data, and may change while the program runs.

        Returns:
            `lockgate.ToolDefinitionSource` objects.

        Example::

            @hookimpl
            def lockgate_tool_definition_sources(services):
                from my_pack.remote import RemoteTools
                return [RemoteTools(services)]
        """

    @hookspec
    def lockgate_collections(self, services: Any) -> Iterable[Any]:
        """Add collections: tools of this distribution that are switched and shown together.

        Returns:
            `lockgate.ToolCollection` objects.

        Example::

            @hookimpl
            def lockgate_collections():
                from lockgate import ToolCollection
                return [ToolCollection(id="weather", tools=("weather", "forecast"))]
        """

    @hookspec
    def lockgate_provider_adapters(self, services: Any) -> Iterable[Any]:
        """Add adapters: translations of one wire API each.

        Returns:
            `lockgate.ProviderAdapter` objects.

        Example::

            @hookimpl
            def lockgate_provider_adapters():
                from my_pack.adapter import MyAdapter
                return [MyAdapter()]
        """

    @hookspec
    def lockgate_provider_profiles(self, services: Any) -> Iterable[Any]:
        """Add profiles: what is known of a host, as data.

        Returns:
            `lockgate.ProviderProfile` objects.

        Example::

            @hookimpl
            def lockgate_provider_profiles():
                from my_pack.profiles import PROFILES
                return PROFILES
        """

    @hookspec
    def lockgate_loops(self, services: Any) -> Iterable[Any]:
        """Add ways to drive the rounds of a run. A loop touches a job only, and so can leave no check out.

        Returns:
            Loops: objects with a name and ``async def run(job)``.

        Example::

            @hookimpl
            def lockgate_loops():
                from my_pack.loop import CarefulLoop
                return [CarefulLoop()]
        """

    @hookspec
    def lockgate_embedders(self, services: Any) -> Iterable[Any]:
        """Add embedders: what turns texts into vectors.

        Reserved: no part of this version asks for it yet.

        Returns:
            Embedders.

        Example::

            @hookimpl
            def lockgate_embedders():
                from my_pack.embedder import SmallEmbedder
                return [SmallEmbedder()]
        """

    @hookspec
    def lockgate_passage_stores(self, services: Any) -> Iterable[Any]:
        """Add passage stores: where the passages of data sources are kept and searched.

        Returns:
            Passage stores.

        Example::

            @hookimpl
            def lockgate_passage_stores():
                from my_pack.store import MyStore
                return [MyStore()]
        """

    @hookspec
    def lockgate_configured_sites(self, services: Any) -> Iterable[Any]:
        """Hand over the address of a site that a setting names, so that pages of it can be read.

        Reserved: no part of this version asks for it yet.

        Returns:
            Configured sites: the setting's value with its origin.

        Example::

            @hookimpl
            def lockgate_configured_sites(services):
                from my_pack.sites import wiki
                return [wiki]
        """

    @hookspec
    def lockgate_guard_rules(self, services: Any) -> Iterable[Any]:
        """Add rules to the prompt-injection filter. They add to its findings and never take one away.

        Reserved: no part of this version asks for it yet.

        Returns:
            Guard rules.

        Example::

            @hookimpl
            def lockgate_guard_rules():
                from my_pack.phrases import RULES
                return RULES
        """

    @hookspec
    def lockgate_services(self, services: Any) -> Iterable[Any]:
        """Add things with a life time, such as an indexer or a watcher of folders.

        Returns:
            Services: objects with ``async def run(ready, stop)``, one task each from the start to the close.

        Example::

            @hookimpl
            def lockgate_services(services):
                from my_pack.watcher import Watcher
                return [Watcher(services)]
        """

    @hookspec
    def lockgate_observers(self, services: Any) -> Iterable[Any]:
        """Add observers of runs. They see events without contents, and change nothing.

        Returns:
            Observers: objects with ``on(event)``.

        Example::

            @hookimpl
            def lockgate_observers():
                from my_pack.metrics import Counter
                return [Counter()]
        """
