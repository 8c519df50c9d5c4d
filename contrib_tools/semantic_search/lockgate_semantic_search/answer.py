"""From passages to the result of a call: turns within a budget, one batch through the guard, requirements."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from lockgate import (
    NOTHING,
    ChatRequirements,
    GuardScope,
    GuardSource,
    GuardText,
    SetBy,
    SetByKind,
    Source,
    SourceKind,
    ToolResult,
    to_compact_json,
)
from lockgate.retrieval import Gap, Passage, as_markdown, take_turns, to_sources
from lockgate_semantic_search.offering import demands_of
from lockgate_semantic_search.searching import Outcome

MAX_CHARACTERS: Final = 100_000
"""The most characters of passages in one result, as they stand in it."""

_ISSUES = {
    Gap.NOT_SEARCHED: "NOT_SEARCHED: it could not be searched, so nothing can be said of what it holds.",
    Gap.PARTLY_SEARCHED: "PARTLY_SEARCHED: only a part of it could be searched; it may hold more that fits.",
    Gap.QUERY_NOT_SEARCHABLE: "QUERY_NOT_SEARCHABLE: it cannot be searched with this query; use other or fewer words.",
}
_SEPARATOR = "\n\n"


@dataclass(frozen=True, slots=True)
class _Delivered:
    """A passage as it goes to the model."""

    outcome: int
    text: str
    sources: tuple[Source, ...]


async def build_result(
    query: str, page: int, outcomes: Sequence[Outcome], guard: GuardScope, remaining_characters: int
) -> ToolResult:
    """Put the result of a search together.

    The data sources take turns: the best passage of each, then the second best of each. Passages are whole or not
    there. Only data sources whose passages are in the result demand anything of the chat.

    Args:
        query: The query, which is repeated in the result.
        page: The page.
        outcomes: What each data source brought.
        guard: Filters everything that came from a data source, in one batch.
        remaining_characters: How long the whole result may be, as JSON.
    """
    budget = _budget(query, page, outcomes, remaining_characters)
    turns = take_turns([item.page.passages for item in outcomes], budget, lambda item: _cost(as_markdown(item, 9999)))
    delivered: list[_Delivered] = []
    left_out = list(turns.left_out)
    for item in await _guarded(turns.taken, guard):
        # The guard's notes can make a text longer.
        price = _cost(item.text)
        if price <= budget:
            budget -= price
            delivered.append(item)
        else:
            left_out[item.outcome] += 1
    counts = [sum(1 for item in delivered if item.outcome == index) for index in range(len(outcomes))]
    text = _SEPARATOR.join(item.text for item in delivered)
    content = _content(query, page, outcomes, counts=counts, left_out=left_out, text=text)
    contributing = [outcome for outcome, count in zip(outcomes, counts, strict=True) if count]
    return ToolResult(
        content, tuple(source for item in delivered for source in item.sources), _requirements(contributing)
    )


def _cost(text: str) -> int:
    """What a passage takes in the JSON text, with the blank line before it; the quotation marks are not its own."""
    return len(to_compact_json(_SEPARATOR + text)) - 2


def _budget(query: str, page: int, outcomes: Sequence[Outcome], remaining_characters: int) -> int:
    """What is left for passages beside the longest frame the result can have."""
    full = [len(item.page.passages) for item in outcomes]
    frame = _content(query, page, outcomes, counts=full, left_out=full, text="")
    return max(0, min(MAX_CHARACTERS, remaining_characters - len(to_compact_json(frame))))


async def _guarded(taken: Sequence[tuple[int, Passage]], guard: GuardScope) -> list[_Delivered]:
    batch: list[GuardText] = []
    raw: list[_Delivered] = []
    for number, (outcome, passage) in enumerate(taken, 1):
        origin = GuardSource(SourceKind.RETRIEVAL_CONTEXT, f"{passage.data_source_name}: {passage.path}")
        item = _Delivered(outcome, as_markdown(passage, number), to_sources(passage))
        raw.append(item)
        batch.append(GuardText(item.text, origin))
        batch.extend(GuardText(source.title, origin) for source in item.sources)
    cleaned = iter(await guard.clean(batch))
    return [
        _Delivered(
            item.outcome, next(cleaned), tuple(replace(source, title=next(cleaned)) for source in item.sources)
        )
        for item in raw
    ]


def _content(
    query: str,
    page: int,
    outcomes: Sequence[Outcome],
    *,
    counts: Sequence[int],
    left_out: Sequence[int],
    text: str,
) -> dict[str, object]:
    rows: list[dict[str, object]] = []
    for outcome, count, missing in zip(outcomes, counts, left_out, strict=True):
        row: dict[str, object] = {
            "id": outcome.source.id,
            "name": outcome.source.name,
            "result_count": count,
            "has_more": outcome.page.has_more,
        }
        issues = [_ISSUES[gap] for gap in outcome.page.gaps]
        if missing:
            noun = "passage that was found is" if missing == 1 else "passages that were found are"
            issues.append(f"{missing} {noun} left out, because the result is full; a narrower query helps.")
        if issues:
            row["issues"] = issues
        rows.append(row)
    return {"query": query, "page": page, "data_sources": rows, "text_content": text}


def _requirements(outcomes: Sequence[Outcome]) -> ChatRequirements:
    joined = NOTHING
    for outcome in outcomes:
        by = SetBy(SetByKind.DATA_SOURCE, outcome.source.name)
        joined = joined.join(
            replace(demands_of(outcome.source), confidence_by=by, data_security_by=by)
        )
    return joined
