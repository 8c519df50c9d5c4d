"""What a person should know before anything else: settings and plugins that could not be used."""

from lockgate.app.lockgate import Lockgate
from lockgate.cli.terminal import note
from lockgate.plugin_host.records import PluginState


def tell_problems(gate: Lockgate, *, verbose: bool = False) -> None:
    """Note them: one in full, several as a count unless `verbose`."""
    problems = list(gate.assembly.problems)
    problems += [
        f"The plugin {record.owner} is {record.state.value}: {record.reason}" for record in gate.assembly.host.records
        if record.state in (PluginState.QUARANTINED, PluginState.UNSUPPORTED)
    ]  # fmt: skip
    if verbose or len(problems) == 1:
        for problem in problems:
            note(problem)
    elif problems:
        note(
            f"{len(problems)} problems with settings or plugins; `lockgate settings check` and "
            "`lockgate plugins doctor` show them"
        )
