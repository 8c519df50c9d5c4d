"""The written table of what becomes of a call, read from its page, and asked in the words it is written in."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from lockgate.policy import (
    ChatRequirements,
    ConfidenceLevel,
    DataSourceSecurity,
    OutboundDataRestriction,
    ProviderStanding,
    ToolOutboundData,
)

PAGE = Path(__file__).parent / "calling" / "outcome_table.md"
PLAIN, SELF_HOSTED, TRUSTED = KINDS = ("any provider", "self-hosted", "trusted by the organization")

Row = Mapping[str, str]


@dataclass(frozen=True)
class Ending:
    """A row of the last table: what happens, whether the tool ran, the text arrived, and the chat was raised."""

    happens: str
    ran: bool
    arrives: bool
    raised: bool


@cache
def tables() -> Mapping[str, Sequence[Row]]:
    """Read the page: heading of a section → the rows of its table, each by the names of the columns."""
    found: dict[str, list[Row]] = {}
    heading = ""
    columns: list[str] = []
    for line in PAGE.read_text("utf-8").splitlines():
        if line.startswith("#"):
            heading, columns = line.lstrip("# "), []
        elif line.startswith("|"):
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            if not columns:
                columns = cells
            elif not set(line) <= set("|-"):
                found.setdefault(heading, []).append(dict(zip(columns, cells, strict=True)))
    return found


def _asked(word: str, *, yes: str = "yes", no: str = "no") -> bool:
    """Read a cell of two possible words; any other is a mistake in the page."""
    return {yes: True, no: False}[word]


@cache
def may_run(restriction: OutboundDataRestriction, data: ToolOutboundData, *, refuses_itself: bool) -> bool:
    """Tell what the page says of a tool in a chat with this restriction."""
    (row,) = [
        row for row in tables()["Where a tool's arguments may go"]
        if row["the tool sends to"] == data.name and _asked(row["refuses itself"]) == refuses_itself
    ]  # fmt: skip
    return _asked(row[restriction.name], yes="may run", no="blocked")


@cache
def may_run_again(
    restriction: OutboundDataRestriction, data: ToolOutboundData, *, refuses_itself: bool, limit: int, so_far: int
) -> bool:
    """Tell whether the page lets a tool run once more that has run `so_far` times in this answer, all restricted."""
    (row,) = [
        row for row in tables()["How many calls an answer may make"]
        if row["the tool sends to"] == data.name and _asked(row["refuses itself"]) == refuses_itself
    ]  # fmt: skip
    return {"any number": True, "not at all": False, "up to the limit": so_far < limit}[row[restriction.name]]


@cache
def reaches(level: ConfidenceLevel, demanded: ConfidenceLevel) -> bool:
    """Tell what the page says of a provider of `level` where `demanded` is asked for."""
    (row,) = [row for row in tables()["Which provider reaches which level"] if row["a provider of"] == level.name]
    return _asked(row[demanded.name])


@cache
def may_have(security: DataSourceSecurity, kind: str) -> bool:
    """Tell what the page says of a provider of this kind and content of this security."""
    rows = tables()["Which provider may have the content of which source"]
    (row,) = [row for row in rows if row["the content is"] == security.name]
    return _asked(row[kind])


@cache
def order(axis: str) -> tuple[str, ...]:
    """Return the levels of an axis as the page orders them."""
    (row,) = [row for row in tables()["What chat and result demand together"] if row["what is demanded"] == axis]
    return tuple(row["from the mildest to the strictest"].split(", "))


def together(chat: ChatRequirements, result: ChatRequirements) -> tuple[str, str, str]:
    """Return the names of what both demand together: confidence, data security, outbound."""
    pairs = {
        "confidence": (chat.confidence.name, result.confidence.name),
        "data security": (chat.data_security.name, result.data_security.name),
        "outbound": (chat.outbound.name, result.outbound.name),
    }
    confidence, security, outbound = (max(pair, key=order(axis).index) for axis, pair in pairs.items())
    return confidence, security, outbound


def names(requirements: ChatRequirements) -> tuple[str, str, str]:
    """Return the names of what is demanded: confidence, data security, outbound."""
    return requirements.confidence.name, requirements.data_security.name, requirements.outbound.name


def may_have_both(demanded: tuple[str, str, str], level: ConfidenceLevel, kind: str) -> bool:
    """Tell whether a provider may have content that demands this, by the second and the third table."""
    confidence, security, _ = demanded
    return reaches(level, ConfidenceLevel[confidence]) and may_have(DataSourceSecurity[security], kind)


@cache
def ending(
    *, minimum_reached: bool, lets_go: bool, may_have_it: bool, calls_left: bool = True, may_have_chat: bool = True
) -> Ending:
    """Return the first row of the last table that fits."""
    for row in tables()["The call, step by step"]:
        asked = {
            "provider may have the chat": may_have_chat,
            "tool's minimum reached": minimum_reached,
            "chat lets the arguments go": lets_go,
            "restricted calls left": calls_left,
            "provider may have both together": may_have_it,
        }
        if all(row[name] == "any" or _asked(row[name]) == is_so for name, is_so in asked.items()):
            return Ending(
                row["what happens"], _asked(row["tool ran"]), _asked(row["text reaches the model"]),
                _asked(row["the chat demands afterwards"], yes="both together", no="what it did"),
            )
    raise AssertionError("The page has no row for this case.")


def standing_of(level: ConfidenceLevel, kind: str) -> ProviderStanding:
    """Return a provider of that level and kind."""
    return ProviderStanding("asked", "T", level, self_hosted=kind == SELF_HOSTED, trusted=kind == TRUSTED)
