"""Finding web addresses in text, the way a reader would: without the punctuation of the sentence around them."""

import html
import re

_ADDRESS = re.compile(r"https?://[^\s<>\"'`{}|\\^]+", re.IGNORECASE)
_SENTENCE_ENDS = frozenset(".,;:!?*_~。．，、；：！？…」』）】》〉”’")
_OPENING = {")": "(", "]": "["}
_CLOSING = {"(": ")", "[": "]"}
_BRACKET = re.compile(r"[()\[\]]")
_LISTED = re.compile(r"[,;](?=https?://)", re.IGNORECASE)
_FOREIGN_PUNCTUATION = re.compile("[。，、；：！？…「」『』（）【】《》〈〉“”‘’]")


def find_addresses(text: str) -> list[str]:
    """Return the web addresses that stand in a text, in order, each once. Takes time in proportion to the text.

    Where a text can be read in two ways, both readings are returned: with HTML entities decoded; ended at the first
    full-width punctuation mark, which needs no blank before the next sentence; ended at the first bracket that the
    address does not open; as the items of a list without blanks. What is found may still be refused by the parser.
    """
    found: dict[str, None] = {}
    if "://" not in text:
        return []
    for match in _ADDRESS.finditer(text):
        for piece in match[0].split("]("):  # Markdown: the address as the text of its own link
            _collect(piece, found)
            items = _LISTED.split(piece)
            for item in items if len(items) > 1 else ():
                _collect(item, found)
    return list(found)


def _collect(piece: str, found: dict[str, None]) -> None:
    _add(piece, found)
    if "&" in piece and (decoded := html.unescape(piece)) != piece:
        again = _ADDRESS.match(decoded)
        if again is not None:
            _add(again[0], found)
    foreign = _FOREIGN_PUNCTUATION.search(piece)
    if foreign is not None:
        _add(piece[: foreign.start()], found)
    closed = _first_unopened_bracket(piece)
    if closed is not None:
        _add(piece[:closed], found)


def _add(piece: str, found: dict[str, None]) -> None:
    if _ADDRESS.match(piece) is None:
        return
    trimmed = _without_sentence_end(piece)
    if not trimmed.endswith("/") or len(trimmed) > len("https://"):
        found[trimmed] = None


def _first_unopened_bracket(piece: str) -> int | None:
    open_now = {")": 0, "]": 0}
    for match in _BRACKET.finditer(piece):
        closing = _CLOSING.get(match[0])
        if closing is not None:
            open_now[closing] += 1
        elif open_now[match[0]]:
            open_now[match[0]] -= 1
        else:
            return match.start()
    return None


def _without_sentence_end(piece: str) -> str:
    """Cut punctuation that ends a sentence, and closing brackets that the address itself does not open."""
    surplus = {closing: piece.count(closing) - piece.count(opening) for closing, opening in _OPENING.items()}
    end = len(piece)
    while end:
        last = piece[end - 1]
        if surplus.get(last, 0) > 0:
            surplus[last] -= 1
        elif last not in _SENTENCE_ENDS:
            break
        end -= 1
    return piece[:end]
