"""What `lockgate plugins list` and `lockgate plugins doctor` show, as data. How it looks is the surface's business."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum

from lockgate.plugin_host.host import PluginHost
from lockgate.plugin_host.records import PluginRecord, PluginState
from lockgate.registry.contribution import Owner
from lockgate.registry.incidents import Incident
from lockgate.registry.registry import Registry
from lockgate.settings.file_checks import nearest

SLOW_IMPORT_MS = 300.0
"""From how many milliseconds on the import of a plugin is worth a finding: every start of the program pays it."""


@dataclass(frozen=True, slots=True)
class PluginRow:
    """One line of the list.

    Attributes:
        name: The entry point.
        distribution: Name and version of the distribution; ``(in code)`` for a plugin handed over by the
            program.
        state: One or two words.
        contributes: ``2 tools, 1 collections``; of the hooks that were asked.
        import_ms: Milliseconds of its import, or None.
        remark: Why it is not loaded, or how many problems it has.
    """

    name: str
    distribution: str
    state: str
    contributes: str
    import_ms: float | None
    remark: str


class Severity(Enum):
    """How much a finding matters."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing the doctor has to say.

    Attributes:
        severity: ERROR when something contributes nothing that should, WARNING when it does so in part, else
            NOTE.
        owner: Whose it is; None when no plugin can be named.
        text: What was found, in a sentence or two.
        advice: What to do about it; empty when nothing is to be done.
        traceback: For those who want to see it; empty where there was no exception.
    """

    severity: Severity
    owner: Owner | None
    text: str
    advice: str = ""
    traceback: str = ""


def plugin_rows(
    host: PluginHost, problems: Iterable[str] = (), incidents: Iterable[Incident] = ()
) -> list[PluginRow]:
    """Return a row for each plugin, by distribution and entry point. Ask the hooks first to see what they bring.

    Args:
        host: The host.
        problems: Sentences about what plugins brought, each naming the owner: they count among its problems.
        incidents: What went wrong later, in calls into what the plugins contributed; counted as well.
    """
    told, failed = list(problems), Counter(incident.owner for incident in incidents)
    return [
        _row(record, failed[record.owner] + sum(f" of {record.owner}" in text for text in told))
        for record in host.records
    ]


def problems_of_tools(registry: Registry) -> list[str]:
    """Return what was not registered, what was read as the strictest, and which names in definitions nobody has."""
    return [*map(str, registry.rejections), *map(str, registry.doubts), *_dangling(registry)]


def _dangling(registry: Registry) -> Iterator[str]:
    previews = [preview.id for preview in registry.previews.all]
    tools = [tool.id for tool in registry.tools]
    for tool in registry.tools:
        start = f"The tool {tool.id!r} of {tool.owner}"
        preview = tool.definition.preview
        if preview is not None and preview not in previews:
            text = f"{start} belongs to the preview {preview!r}, which nobody has registered, so it is nowhere."
            yield text + nearest(preview, previews)
        for companion in tool.definition.companions:
            if not registry.is_known(companion):
                text = f"{start} brings {companion!r} along when it is selected, and no tool of that name is there."
                yield text + nearest(companion, tools)


def findings(host: PluginHost, incidents: Iterable[Incident] = ()) -> list[Finding]:
    """Return everything worth knowing about the plugins, the worst first.

    Args:
        host: The host.
        incidents: What went wrong later, in calls into what the plugins contributed.
    """
    found = [Finding(Severity.ERROR, None, text, "Install the distribution again.") for text in host.problems]
    for record in host.records:
        found += _of_record(record)
    found += [_of_incident(incident) for incident in incidents]
    order = list(Severity)
    return sorted(found, key=lambda finding: order.index(finding.severity))


def _row(record: PluginRecord, brought: int) -> PluginRow:
    remark, count = record.reason, len(record.problems) + brought
    if not remark and count:
        remark = "1 problem" if count == 1 else f"{count} problems"
        remark += "; `lockgate plugins doctor` says more"
    return PluginRow(
        record.name,
        f"{record.distribution} {record.version}".strip() or "(in code)",
        record.state.value,
        ", ".join(f"{count} {kind.replace('_', ' ')}" for kind, count in sorted(record.counts.items()) if count),
        record.import_ms,
        remark,
    )


_ADVICE = {
    PluginState.QUARANTINED: "Update or uninstall it, or switch it off; its maintainer wants the traceback.",
    PluginState.UNSUPPORTED: "Install a version of it that suits this framework, or the framework it suits.",
    PluginState.NOT_ALLOWED: "Ask who manages the allow list, if you need it.",
}


def _of_record(record: PluginRecord) -> list[Finding]:
    found = []
    if record.state in (PluginState.QUARANTINED, PluginState.UNSUPPORTED):
        advice = _ADVICE[record.state]
        found.append(Finding(Severity.ERROR, record.owner, record.reason, advice, record.traceback))
    elif record.state is not PluginState.LOADED:
        found.append(Finding(Severity.NOTE, record.owner, record.reason, _ADVICE.get(record.state, "")))
    found += [Finding(Severity.WARNING, record.owner, text) for text in record.problems]
    found += [Finding(Severity.NOTE, record.owner, text) for text in record.notes]
    if record.import_ms is not None and record.import_ms >= SLOW_IMPORT_MS:
        text = f"Its import took {record.import_ms:.0f} ms."
        found.append(Finding(Severity.NOTE, record.owner, text, "Import inside the hook functions what they need."))
    return found


def _of_incident(incident: Incident) -> Finding:
    often = "" if incident.times == 1 else f" ({incident.times} times)"
    text = f"{incident.what} failed{often}: {incident.error}"
    return Finding(Severity.WARNING, incident.owner, text, _ADVICE[PluginState.QUARANTINED], incident.traceback)
