"""Puts the answer together: who wrote it, what was called, what failed, and the quotations by document."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from lockgate import CallResult, OfferedFunction
from lockgate_offline.choosing import Choice
from lockgate_offline.cleaning import one_line
from lockgate_offline.phrases import PHRASES, Phrases
from lockgate_offline.question import Question
from lockgate_offline.ranking import Quote, select
from lockgate_offline.reading import Document, Reading, numbered, read_result

_MAXIMUM_FAILURE: Final = 400
_MAXIMUM_TOOLS: Final = 8
_MAXIMUM_QUERY: Final = 120


@dataclass(frozen=True, slots=True)
class AnsweredCall:
    """A call the reader made, with what came back."""

    choice: Choice
    result: CallResult

    def reading(self) -> Reading:
        """Return the result as it was understood; empty for a call that did not work."""
        return Reading() if self.result.is_error else read_result(self.choice.name, self.result.content)


def compose(
    question: Question,
    calls: Sequence[AnsweredCall],
    *,
    functions: Sequence[OfferedFunction],
    given: Sequence[Document] = (),
    is_final: bool = False,
) -> str:
    """Write the whole answer.

    Args:
        question: What is asked.
        calls: The calls of this run with their results, in order.
        functions: What was offered.
        given: Documents that came with the messages or stand in the system prompt.
        is_final: The round had to answer without tools.
    """
    phrases = PHRASES[question.language]
    readings = [call.reading() for call in calls]
    documents = numbered([*given, *(document for reading in readings for document in reading.documents)])
    paragraphs = [_first_line(phrases, calls, has_documents=bool(documents))]
    paragraphs += _remarks(phrases, calls, readings)
    if documents:
        paragraphs += _quotations(question, phrases, documents, calls)
    elif not calls:
        paragraphs.append(_nothing_called(question, phrases, functions, is_final))
    if not documents and not any(reading.facts for reading in readings):
        paragraphs.append(phrases.connect)
    return "\n\n".join(paragraphs)


def _first_line(phrases: Phrases, calls: Sequence[AnsweredCall], *, has_documents: bool) -> str:
    if not calls:
        return phrases.attached if has_documents else phrases.nothing_called
    tools = ", ".join(dict.fromkeys(f"`{call.choice.name}`" for call in calls))
    queries = _queries(phrases, calls)
    return phrases.searched.format(tools=tools, queries=queries) if queries else phrases.called.format(tools=tools)


def _queries(phrases: Phrases, calls: Sequence[AnsweredCall]) -> str:
    return ", ".join(
        phrases.quote.format(text=one_line(call.choice.query, _MAXIMUM_QUERY)) for call in calls if call.choice.query
    )


def _remarks(phrases: Phrases, calls: Sequence[AnsweredCall], readings: Sequence[Reading]) -> list[str]:
    """Say what failed, what a tool noted, what it returned in short, and that it found nothing."""
    remarks: dict[str, None] = {}
    worked = [(call, reading) for call, reading in zip(calls, readings, strict=True) if not call.result.is_error]
    for call in calls:
        if call.result.is_error:
            words = one_line(call.result.content, _MAXIMUM_FAILURE) or phrases.empty_failure
            remarks[phrases.failed.format(tool=f"`{call.choice.name}`", words=words)] = None
    for call, reading in worked:
        tool = f"`{call.choice.name}`"
        if reading.facts:
            value = reading.facts[0] if len(reading.facts) == 1 else "\n- ".join(("", *reading.facts))
            remarks[phrases.returned.format(tool=tool, value=value)] = None
        for note in reading.notes:
            remarks[phrases.note.format(tool=tool, words=note)] = None
    if worked and all(reading.is_empty for _, reading in worked):
        queries = _queries(phrases, [call for call, _ in worked])
        tool = f"`{worked[-1][0].choice.name}`"
        phrase = phrases.nothing_found if queries else phrases.nothing_to_quote
        remarks[phrase.format(tool=tool, queries=queries)] = None
    return list(remarks)


def _quotations(
    question: Question, phrases: Phrases, documents: Sequence[Document], calls: Sequence[AnsweredCall]
) -> list[str]:
    selection = select(question, documents)
    if not selection.quotes:
        tools = ", ".join(dict.fromkeys(f"`{call.choice.name}`" for call in calls)) or documents[0].name
        return [phrases.nothing_to_quote.format(tool=tools)]
    paragraphs = []
    if selection.is_opening:
        paragraphs.append(phrases.opening)
    for name, quotes in groupby(selection.quotes, key=lambda quote: quote.document.name):
        paragraphs.append("\n".join([f"{name}:", *(_quotation(phrases, quote) for quote in quotes)]))
    if selection.is_weak:
        paragraphs.append(phrases.weak)
    return paragraphs


def _quotation(phrases: Phrases, quote: Quote) -> str:
    text = phrases.quote.format(text=quote.text)
    cut = " …" if quote.is_cut else ""
    cited = f" [{quote.document.number}]" if quote.document.number else ""
    place = f" ({quote.document.place})" if quote.document.place else ""
    return f"- {text}{cut}{cited}{place}"


def _nothing_called(
    question: Question, phrases: Phrases, functions: Sequence[OfferedFunction], is_final: bool
) -> str:
    if question.is_small_talk:
        return phrases.small_talk
    if is_final:
        return phrases.withheld
    if not functions:
        return phrases.no_tools
    names = [f"`{function.name}`" for function in functions]
    more = ["…"] if len(names) > _MAXIMUM_TOOLS else []
    return phrases.no_fit.format(tools=", ".join([*names[:_MAXIMUM_TOOLS], *more]))
