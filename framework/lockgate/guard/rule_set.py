"""Rules as data: a grammar of words for each language, compiled to patterns that cannot run away.

A rule file never contains a regular expression. A *form* is a row of slots; a slot is a list of phrases; between slots
lies a gap of bounded length. Compiled, every repetition has a small upper bound and none lies inside another, so a
pattern looks at a bounded number of characters from each position: time is linear in the length of the text whatever
the text is.

A phrase is words separated by spaces. ``a/b`` is a choice between words, ``stem*`` any word that begins so, and a
trailing ``?`` makes the word optional. In a form, ``<name>`` stands for a list, ``..`` for a gap of at most 30
characters within the sentence, ``...`` for one of at most 80, and a leading ``^`` for the beginning of a line.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any, Final

from lockgate.guard.findings import Category
from lockgate.guard.normalizing import PARAGRAPH, fold_phrase

SHORT_GAP: Final = 30
LONG_GAP: Final = 80
STEM_TAIL: Final = 12
"""Letters that may follow a stem."""

_SPACE: Final = r"[\s*_\"'`>+,-]{1,4}"
"""What may part the words of a phrase: white space, emphasis, quotes, a comma, the signs of an encoded address."""
_SPACE_LENGTH: Final = 4
_GAP_CHARACTER: Final = rf"[^.!?⟦⟧{PARAGRAPH}]"
_LINE_START: Final = rf"(?:\A|(?<=[\n{PARAGRAPH}]))[ >#*|\[({{-]{{0,6}}"
_MARGIN: Final = 48
"""Characters added to the reach of a form, so that no match touches the edge of a window opened for it."""
_WORD = re.compile(r"\w+")


class RuleFileError(ValueError):
    """A rule file cannot be read; the message names the file, the rule and what would be right."""


@dataclass(frozen=True, slots=True)
class Form:
    """One compiled row of slots.

    Attributes:
        pattern: The pattern for a normalized text.
        gates: For each slot the words of which one must stand in the text for the form to match.
        anchor: The gate with the longest words, which is the least likely to stand in a text by chance.
        reach: The longest text the pattern can match, in characters.
    """

    pattern: re.Pattern[str]
    gates: tuple[frozenset[str], ...]
    anchor: frozenset[str]
    reach: int


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule.

    Attributes:
        id: The identifier that findings carry, such as ``instruction_override``.
        category: What the passages it finds attempt.
        forms: Compiled rows of slots; empty for a rule of tokens.
        tokens: Literal marks of chat templates and tool calls, folded; empty for a rule of forms.
    """

    id: str
    category: Category
    forms: tuple[Form, ...] = ()
    tokens: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RuleSet:
    """Rules that belong together; immutable and safe to share between threads.

    Attributes:
        rules: The rules, in the order of their files.
        anchors: Every word of which one must stand in a text for any form to match.
    """

    rules: tuple[Rule, ...]
    anchors: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        """Collect the anchors of all forms."""
        anchors = frozenset[str]().union(*(form.anchor for rule in self.rules for form in rule.forms))
        object.__setattr__(self, "anchors", anchors)

    @classmethod
    def from_toml(cls, texts: Mapping[str, str]) -> "RuleSet":
        """Compile rule files.

        Args:
            texts: The content of each file by its name.

        Raises:
            RuleFileError: A file is not TOML, or a rule is incomplete, unknown or empty.
        """
        rules: list[Rule] = []
        for name, text in texts.items():
            try:
                data = tomllib.loads(text)
            except tomllib.TOMLDecodeError as error:
                raise RuleFileError(f"{name} is not a TOML file: {error}") from error
            lists = {key: _compile_list(name, key, phrases) for key, phrases in data.get("words", {}).items()}
            rules += [_compile_rule(name, row, lists) for row in data.get("rule", [])]
        return cls(tuple(rules))

    @classmethod
    def packaged(cls) -> "RuleSet":
        """The rules that come with the package, compiled at the first use and shared from then on."""
        return _packaged()


@cache
def _packaged() -> RuleSet:
    folder = files("lockgate.guard") / "rules"
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".toml"))
    return RuleSet.from_toml({name: (folder / name).read_text(encoding="utf-8") for name in names})


@dataclass(frozen=True, slots=True)
class _Slot:
    pattern: str
    gate: frozenset[str]
    reach: int


def _compile_list(name: str, key: str, phrases: object) -> _Slot:
    if not isinstance(phrases, list) or not phrases or not all(isinstance(phrase, str) for phrase in phrases):
        raise RuleFileError(f"{name}: the word list “{key}” must be a list of at least one phrase")
    slots = [_compile_phrase(name, phrase) for phrase in phrases]
    alternatives = sorted({slot.pattern for slot in slots}, key=lambda pattern: (-len(pattern), pattern))
    gate = frozenset[str]().union(*(slot.gate for slot in slots))
    return _Slot(f"(?:{'|'.join(alternatives)})", gate, max(slot.reach for slot in slots))


def _compile_phrase(name: str, phrase: str) -> _Slot:
    """A phrase as a pattern; its gate is the choice with the longest words, for that is the rarest."""
    pattern, reach = "", 0
    gate: frozenset[str] | None = None
    for token in phrase.split():
        optional = token.endswith("?")
        words = [fold_phrase(word) for word in token.rstrip("?").split("/")]
        stems = [max(_WORD.findall(word), key=len, default="") for word in words]
        choice = "|".join(
            re.escape(word.rstrip("*")) + (rf"\w{{0,{STEM_TAIL}}}" if "*" in word else "") for word in words
        )
        reach += max(map(len, words)) + STEM_TAIL + _SPACE_LENGTH
        if optional:
            pattern += f"(?:(?:{choice}){_SPACE})?"
            continue
        pattern += f"(?:{choice}){_SPACE}"
        required = frozenset(stems)
        if all(stems) and (gate is None or _rarity(required) > _rarity(gate)):
            gate = required
    if gate is None or not pattern.endswith(_SPACE):
        raise RuleFileError(f"{name}: the phrase “{phrase}” must end with a required word of letters")
    return _Slot(rf"(?<!\w){pattern.removesuffix(_SPACE)}(?!\w)", gate, reach)


def _rarity(gate: frozenset[str]) -> tuple[int, int]:
    return min(map(len, gate)), -len(gate)


def _compile_rule(name: str, row: Mapping[str, Any], lists: Mapping[str, _Slot]) -> Rule:
    identifier = row.get("id")
    if not isinstance(identifier, str) or not identifier:
        raise RuleFileError(f"{name}: a rule has no “id”")
    try:
        category = Category(row.get("category"))
    except ValueError as error:
        known = ", ".join(known.value for known in Category)
        raise RuleFileError(f"{name}: rule “{identifier}” needs a “category” out of {known}") from error
    forms, tokens = row.get("forms", []), row.get("tokens", [])
    if not forms and not tokens:
        raise RuleFileError(f"{name}: rule “{identifier}” has neither “forms” nor “tokens”")
    unless = tuple(row.get("unless_after", ()))
    compiled = tuple(_compile_form(name, identifier, form, lists, unless) for form in forms)
    return Rule(identifier, category, compiled, tuple(fold_phrase(token) for token in tokens))


def _compile_form(name: str, identifier: str, form: str, lists: Mapping[str, _Slot], unless: tuple[str, ...]) -> Form:
    """A form as one pattern; its own words and signs stand beside the slots as phrases of their own."""
    line_start = form.startswith("^")
    pattern, joint, reach = (_LINE_START, "", 8) if line_start else ("", "", 0)
    pattern += "".join(rf"(?<!{re.escape(fold_phrase(word))} )" for word in unless)
    gates: list[frozenset[str]] = []
    for part in _form_parts(form.removeprefix("^")):
        if part.startswith(".."):
            gap = SHORT_GAP if part == ".." else LONG_GAP
            joint = f"{_GAP_CHARACTER}{{0,{gap}}}?"
            reach += gap
            continue
        if _WORD.search(part) is None:
            pattern += (joint or r"\s{0,2}") + re.escape(fold_phrase(part))
            reach += len(part) + 2
            joint = r"\s{0,2}"
            continue
        slot = lists.get(part[1:-1]) if part.startswith("<") else _compile_phrase(name, part)
        if slot is None:
            raise RuleFileError(f"{name}: rule “{identifier}” uses the word list “{part[1:-1]}”, which is not there")
        pattern += (joint or _SPACE) + slot.pattern if gates else slot.pattern
        reach += slot.reach + _SPACE_LENGTH
        joint = ""
        gates.append(slot.gate)
    if not gates or joint.endswith("?"):
        raise RuleFileError(f"{name}: rule “{identifier}” has a form that does not end with a word: “{form}”")
    return Form(re.compile(pattern), tuple(gates), max(gates, key=_rarity), reach + _MARGIN)


def _form_parts(form: str) -> list[str]:
    """The slots, gaps, signs and phrases of a form; words that follow each other are one phrase."""
    parts: list[str] = []
    joined = False
    for token in form.split():
        plain = not token.startswith(("<", "..")) and _WORD.search(token) is not None
        if plain and joined:
            parts[-1] += " " + token
        else:
            parts.append(token)
        joined = plain
    return parts
