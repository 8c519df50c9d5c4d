"""The rules by which the reader picks a tool. What it cannot fill in from the question, it does not call."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from lockgate import OfferedFunction
from lockgate_offline.parameters import Parameter, read_parameters
from lockgate_offline.question import Number, Question
from lockgate_offline.stop_words import word_set
from lockgate_offline.words import identifier_words, is_stop_word, stem, stems

Arguments = dict[str, object]

_SEARCHING: Final = frozenset({"search", "find", "lookup", "retrieve", "suche", "query"})
_CHANGING_FIRST: Final = word_set(
    "book buy call cancel create drop edit execute forward insert install move order pay post put rename replace",
    "reply reset run set update upload write",
)
_CHANGING_ANYWHERE: Final = frozenset({"delete", "remove", "send", "erase", "destroy"})
_PLAIN: Final = frozenset({"get", "list", "show", "current", "calculate", "calc", "compute", "fetch", "do", "read"})
_OWN_DOCUMENTS: Final = frozenset(stems("document local folder file data source passage semantic"))
_OPEN_WEB: Final = frozenset(stems("web internet online"))
_OPERATIONS: Final = (
    (frozenset({"add", "sum", "plus"}), frozenset(stems("add sum plus total addiere summe")), "+"),
    (frozenset({"subtract", "minus", "difference"}), frozenset(stems("subtract minus difference subtrahiere")), "-−"),
    (frozenset({"multiply", "times", "product"}), frozenset(stems("multiply times product mal multipliziere")), "*×·"),
    (frozenset({"divide", "quotient"}), frozenset(stems("divide divided quotient geteilt dividiere durch")), "/÷:"),
)
_FROM: Final = re.compile(r"[\d.,]+\s+(?:from|von)\s+[-\d]", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Choice:
    """A call the reader makes.

    Attributes:
        name: The function.
        arguments: Its arguments as a JSON object.
        query: The words searched with; empty when it is no search.
        query_argument: The argument that holds them.
    """

    name: str
    arguments: Mapping[str, object]
    query: str = ""
    query_argument: str = ""

    @property
    def arguments_text(self) -> str:
        """The arguments as JSON text, members in the order of the schema."""
        return json.dumps(dict(self.arguments), ensure_ascii=False)

    def with_query(self, query: str) -> "Choice":
        """Return the same search with other words."""
        return Choice(self.name, {**self.arguments, self.query_argument: query}, query, self.query_argument)


def choose(question: Question, functions: Iterable[OfferedFunction]) -> Choice | None:
    """Pick a function for a question, or none.

    In this order: an address and a function that takes one; numbers or quoted words and a function that the question
    names; a function without arguments that it names; a search. Functions whose name says that they change something
    are left alone: a reader reads.
    """
    if question.is_small_talk:
        return None
    candidates = [
        _Candidate(function, parameters)
        for function in functions
        if not _changes_something(function.name)
        if (parameters := read_parameters(function.parameters)) is not None
    ]
    for rule in (_by_address, _by_numbers, _by_quotation, _by_name, _by_search):
        if choice := rule(question, candidates):
            return choice
    return None


@dataclass(frozen=True, slots=True)
class _Candidate:
    function: OfferedFunction
    parameters: tuple[Parameter, ...]

    @property
    def required(self) -> tuple[Parameter, ...]:
        return tuple(parameter for parameter in self.parameters if parameter.required)

    @property
    def name_words(self) -> tuple[str, ...]:
        return identifier_words(self.function.name)

    def is_named(self, question: Question, *, wholly: bool = False) -> bool:
        """Whether the question uses the telling words of the function's name: one of them, or all."""
        telling = [
            stem(word)
            for word in self.name_words
            if word not in _PLAIN | _SEARCHING and not is_stop_word(word, question.language)
        ]
        if not telling:
            return False
        return (all if wholly else any)(word in question.words for word in telling)

    def likeness(self, question: Question) -> int:
        """How many key words its name and description share with the question, those of the name threefold."""
        name = {stem(word) for word in self.name_words} - {stem(word) for word in _SEARCHING}
        described = frozenset(stems(self.function.description[:4000]))
        return sum(3 * (term in name) + (term in described) for term in question.terms)

    def call(self, question: Question, filled: Arguments, *, query: str = "", by: str = "") -> Choice | None:
        """Complete the arguments with choices the question names; None when a required one stays open."""
        arguments: Arguments = {}
        for parameter in self.parameters:
            if parameter.name in filled:
                arguments[parameter.name] = filled[parameter.name]
            elif (value := _named_choice(parameter, question)) is not None:
                arguments[parameter.name] = value
            elif parameter.required:
                return None
        return Choice(self.function.name, arguments, query, by)


def _by_address(question: Question, candidates: list[_Candidate]) -> Choice | None:
    if not question.addresses:
        return None
    takers = [
        (candidate, parameter)
        for candidate in candidates
        for parameter in candidate.required
        if parameter.is_address and (parameter.longest is None or len(question.addresses[0]) <= parameter.longest)
    ]
    for candidate, parameter in sorted(takers, key=lambda taker: -taker[0].likeness(question)):
        if choice := candidate.call(question, {parameter.name: question.addresses[0]}):
            return choice
    return None


def _by_numbers(question: Question, candidates: list[_Candidate]) -> Choice | None:
    if not question.numbers:
        return None
    for candidate in candidates:
        wanted = [parameter for parameter in candidate.required if parameter.is_number]
        if not wanted or len(wanted) != len(question.numbers):
            continue
        operation = _operation(question, candidate)
        if not operation and not candidate.is_named(question):
            continue
        values = _placed(wanted, question.numbers)
        if operation == "-−" and len(values) == 2 and _FROM.search(question.text):
            values.reverse()
        pairs = list(zip(wanted, values, strict=True))
        if not all(parameter.takes(value) for parameter, value in pairs):
            continue
        filled: Arguments = {parameter.name: _as_asked(parameter, value) for parameter, value in pairs}
        if choice := candidate.call(question, filled):
            return choice
    return None


def _as_asked(parameter: Parameter, value: float) -> int | float:
    return value if "number" in parameter.kinds else int(value)


def _placed(parameters: list[Parameter], numbers: tuple[Number, ...]) -> list[int | float]:
    """Give each parameter the number that stands beside its name, or all of them in the order of the question."""
    beside = []
    for parameter in parameters:
        names = {stem(word) for word in parameter.words if len(word) > 1}
        beside.append([number for number in numbers if number.before in names or number.after in names])
    if all(len(found) == 1 for found in beside) and len({id(found[0]) for found in beside}) == len(numbers):
        return [found[0].value for found in beside]
    return [number.value for number in numbers]


def _operation(question: Question, candidate: _Candidate) -> str:
    """Return the signs of the arithmetic that both the question and the function's name speak of."""
    for names, asked, signs in _OPERATIONS:
        if names.isdisjoint(candidate.name_words):
            continue
        sign = rf"\d\s+[{re.escape(signs)}]\s+-?\d" if signs == "-−" else rf"\d\s*[{re.escape(signs)}]\s*-?\d"
        if not asked.isdisjoint(question.words) or re.search(sign, question.text):
            return signs
    return ""


def _by_quotation(question: Question, candidates: list[_Candidate]) -> Choice | None:
    if len(question.quoted) != 1:
        return None
    quoted = question.quoted[0]
    for candidate in candidates:
        texts = [parameter for parameter in candidate.required if parameter.is_text]
        if len(texts) != 1 or not candidate.is_named(question):
            continue
        if texts[0].longest is not None and len(quoted) > texts[0].longest:
            continue
        if choice := candidate.call(question, {texts[0].name: quoted}):
            return choice
    return None


def _by_name(question: Question, candidates: list[_Candidate]) -> Choice | None:
    for candidate in candidates:
        if not candidate.required and candidate.is_named(question, wholly=True):
            return candidate.call(question, {})
    return None


def _by_search(question: Question, candidates: list[_Candidate]) -> Choice | None:
    query = question.query
    if not query:
        return None
    ranked = sorted(
        ((_fitness(question, candidate), -index) for index, candidate in enumerate(candidates)), reverse=True
    )
    for fitness, position in ranked:
        candidate = candidates[-position]
        queries = [parameter for parameter in candidate.required if parameter.is_query]
        if fitness <= 0 or len(queries) != 1:
            continue
        fitting = _cut(query, queries[0].longest)
        choice = candidate.call(question, {queries[0].name: fitting}, query=fitting, by=queries[0].name)
        if choice and fitting:
            return choice
    return None


def _fitness(question: Question, candidate: _Candidate) -> int:
    """How well a search fits; 0 for none. The user's own documents come before the open web, unless it is named."""
    searches = not _SEARCHING.isdisjoint(candidate.name_words)
    likeness = candidate.likeness(question)
    if not searches and not likeness:
        return 0
    about = frozenset(stems(f"{' '.join(candidate.name_words)} {candidate.function.description[:4000]}"))
    name = frozenset(stem(word) for word in candidate.name_words)
    score = 4 * searches + min(likeness, 6)
    score += 3 * bool(about & _OWN_DOCUMENTS and not name & _OPEN_WEB)
    score += 12 * bool(name & _OPEN_WEB and question.words & _OPEN_WEB)
    return score


def _cut(query: str, longest: int | None) -> str:
    if longest is None or len(query) <= longest:
        return query
    return query[:longest].rpartition(" ")[0]


def _named_choice(parameter: Parameter, question: Question) -> object | None:
    """Return the value of a closed list that the question names.

    A required list with a single value needs no naming. An optional one is filled only when the value is no everyday
    word (it holds a digit, `_` or `-`) or stands beside the argument's name: a filter nobody asked for hides results.
    """
    if not parameter.choices:
        return None
    if parameter.required and len(parameter.choices) == 1:
        return _shaped(parameter, parameter.choices[0])
    text = " ".join(["", *re.findall(r"[\w-]+", question.text.lower()), ""])
    beside = {name for pair in pairwise(text.split()) for name in pair if set(pair) & set(parameter.words)}
    named = []
    for value in parameter.choices:
        if not isinstance(value, str) or f" {value.lower()} " not in text:
            continue
        is_plain = value.isalpha()
        if parameter.required or not is_plain or value.lower() in beside:
            named.append(value)
    if len(named) != 1 and not ("array" in parameter.kinds and named):
        return None
    return _shaped(parameter, *named)


def _shaped(parameter: Parameter, *values: object) -> object:
    return list(values) if "array" in parameter.kinds else values[0]


def _changes_something(name: str) -> bool:
    words = identifier_words(name)
    return bool(words) and (words[0] in _CHANGING_FIRST or not _CHANGING_ANYWHERE.isdisjoint(words))
