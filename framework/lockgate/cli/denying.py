"""What to do about a chat that a provider may not have: who may have it, or which setting demands so much."""

from lockgate.app.lockgate import Lockgate
from lockgate.app.providers import Provider
from lockgate.chat.values import ChatThread
from lockgate.cli.demands import FAMILY
from lockgate.cli.terminal import note
from lockgate.policy import Denial, DenialReason, SetByKind
from lockgate.settings.file_tables import key_of


def tell_ways_out(gate: Lockgate, chat: ChatThread, provider: Provider) -> None:
    """Say which configured providers may have a chat, else what in the settings demands more than any has."""
    rules, directory = gate.registry.rules, gate.assembly.directory
    may = [
        standing.id for standing in directory.standings(rules)
        if standing.id != provider.standing.id and rules.admission(chat.requirements, standing) is None
    ]  # fmt: skip
    if may:
        note(f"with --provider: {', '.join(may)} may have this chat")
        return
    denial = rules.admission(chat.requirements, directory.standing_now(provider, rules))
    if denial is not None:
        note(f"no configured provider may have this chat; {_demand(gate, denial)}")


def _demand(gate: Lockgate, denial: Denial) -> str:
    """Name the key that demands it, and what a person can do."""
    by = denial.set_by
    place = f" ({by.file}:{by.line})" if by.file and by.line is not None else ""
    if by.kind is SetByKind.ORGANIZATION:
        return f"the organization demands it{place}"
    if denial.reason is DenialReason.GLOBAL_MINIMUM:
        return f"confidence.global_minimum in settings.toml demands it of every provider{place}"
    source = next((item for item in gate.assembly.services.instances(FAMILY) if item.name == by.name), None)
    if denial.reason is DenialReason.DATA_SECURITY:
        return "add one that you run yourself, or name one you trust in trusted_provider_ids of settings.toml"
    if source is not None:
        key = key_of("data_sources", source.id)
        return f"{key}.confidence in settings.toml demands it, of new chats as well; add a provider that has it"
    return "add a provider of that level: providers.ID.confidence in settings.toml gives it one"
