"""Names on the command line that nothing answers to: what is really the matter with them."""

from collections.abc import Iterable

from lockgate.app.lockgate import Lockgate
from lockgate.app.providers import OFFLINE
from lockgate.errors import ConfigurationError, LockgateError, UnknownNameError
from lockgate.plugin_host.records import PluginState
from lockgate.settings.file_tables import key_of

_TABLES = {"data source": "data_sources", "assistant": "assistants", "chat template": "chat_templates"}


def no_such(gate: Lockgate, what: str, name: str, known: Iterable[str]) -> LockgateError:
    """Return the error for a name: that its entry in the settings is left out, or that there is none, and what is near.

    Args:
        gate: Entered.
        what: ``data source``, ``assistant`` or ``chat template``.
        name: What was asked for.
        known: What there is.
    """
    key = key_of(_TABLES[what], name)
    for problem in gate.assembly.problems:
        text = problem.partition(": ")[2] if problem.startswith("In ") else problem
        heads = (f"{key} is left out", f"data_source {name!r} ") if what == "data source" else f"{key} is left out"
        if text.startswith(heads):
            return ConfigurationError(f"The {what} {name!r} is not there. {problem}")
    return UnknownNameError(what, name, known)


def check_provider(gate: Lockgate, name: str) -> None:
    """Check that a provider can be meant by a name, without asking for its key.

    Raises:
        UnknownNameError: There is none of that name.
        ConfigurationError: Its entry is wrong, or the allow list of plugins leaves out what answers to the name.
    """
    directory = gate.assembly.directory
    try:
        directory.config(name)
    except UnknownNameError as error:
        raise _not_allowed(gate, name) or error from None


def _not_allowed(gate: Lockgate, name: str) -> ConfigurationError | None:
    """Return what the allow list has to do with a provider nobody knows: the reader's pack is told by its name."""
    out = [record.distribution for record in gate.assembly.host.records if record.state is PluginState.NOT_ALLOWED]
    if name == OFFLINE and "lockgate-offline" in out:
        return ConfigurationError(
            "The offline reader cannot answer: plugins.allowed in settings.toml leaves out its plugin "
            "'lockgate-offline'. Name it there, or name another provider with --provider."
        )
    return None
