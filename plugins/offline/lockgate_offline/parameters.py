"""What a function's schema asks for, as far as plain rules can fill it."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeGuard

from lockgate_offline.words import identifier_words

_QUERY_WORDS: Final = frozenset(
    {"query", "queries", "q", "question", "search", "keyword", "keywords", "term", "terms", "frage", "suche"}
)
_ADDRESS_WORDS: Final = frozenset({"url", "uri", "link", "href", "webpage", "website"})
_KEYS_OF_UNIONS: Final = ("anyOf", "oneOf")


@dataclass(frozen=True, slots=True)
class Parameter:
    """One argument of a function.

    Attributes:
        name: As in the schema.
        required: It has to be there.
        kinds: JSON types it may have; empty when the schema does not say so in a way that is understood.
        choices: The only values it may have, or its items for an array; empty when it is free.
        description: The words of the schema.
        format: JSON Schema's `format`.
        minimum, maximum: Bounds of a number, inclusive.
        longest: Most characters of a string; None for no bound.
    """

    name: str
    required: bool
    kinds: frozenset[str]
    choices: tuple[object, ...] = ()
    description: str = ""
    format: str = ""
    minimum: float = -math.inf
    maximum: float = math.inf
    longest: int | None = None

    @property
    def words(self) -> tuple[str, ...]:
        """The words of its name, lower case."""
        return identifier_words(self.name)

    @property
    def is_query(self) -> bool:
        """Whether it takes the words of a search."""
        return "string" in self.kinds and not self.choices and not _QUERY_WORDS.isdisjoint(self.words)

    @property
    def is_address(self) -> bool:
        """Whether it takes a web address."""
        if "string" not in self.kinds or self.choices:
            return False
        if self.format in ("uri", "url", "iri") or not _ADDRESS_WORDS.isdisjoint(self.words):
            return True
        described = self.description.lower()
        return "address" in self.words and ("http" in described or "web" in described)

    @property
    def is_number(self) -> bool:
        """Whether it takes a number."""
        return bool(self.kinds & {"number", "integer"}) and not self.choices

    @property
    def is_text(self) -> bool:
        """Whether it takes free text that is neither a query nor an address."""
        return "string" in self.kinds and not (self.choices or self.is_query or self.is_address or self.format)

    def takes(self, value: float) -> bool:
        """Tell whether a number keeps to the type and the bounds."""
        if "number" not in self.kinds and not float(value).is_integer():
            return False
        return self.minimum <= value <= self.maximum


def read_parameters(schema: Mapping[str, object]) -> tuple[Parameter, ...] | None:
    """Read the schema of a function's arguments, in its order.

    Returns:
        The parameters, or None for a schema that is no plain object or asks for something it does not describe.
    """
    properties = schema.get("properties", {})
    required = schema.get("required", ())
    if not isinstance(properties, Mapping) or not _is_list(required):
        return None
    names = frozenset(name for name in required if isinstance(name, str))
    if not names <= properties.keys():
        return None
    return tuple(
        _parameter(str(name), value if isinstance(value, Mapping) else {}, name in names)
        for name, value in properties.items()
    )


def _parameter(name: str, schema: Mapping[str, object], required: bool) -> Parameter:
    variants = _variants(schema)
    kinds: set[str] = set()
    choices: list[object] = []
    merged: dict[str, object] = {}
    for variant in variants:
        kind = variant.get("type")
        kinds.update(part for part in (kind if _is_list(kind) else [kind]) if isinstance(part, str))
        choices += _choices(variant)
        merged = {**variant, **merged}
    longest = merged.get("maxLength")
    description = schema.get("description")
    return Parameter(
        name=name,
        required=required,
        kinds=frozenset(kinds),
        choices=tuple(value for value in choices if value is not None),
        description=description if isinstance(description, str) else "",
        format=str(merged.get("format") or ""),
        minimum=_bound(merged, "minimum", "exclusiveMinimum", -math.inf),
        maximum=_bound(merged, "maximum", "exclusiveMaximum", math.inf),
        longest=longest if isinstance(longest, int) else None,
    )


def _variants(schema: Mapping[str, object]) -> list[Mapping[str, object]]:
    """The schema itself, or what a union of types offers; one level, which is what optional arguments need."""
    found: list[Mapping[str, object]] = [schema]
    for key in _KEYS_OF_UNIONS:
        union = schema.get(key)
        if _is_list(union):
            found += [variant for variant in union if isinstance(variant, Mapping)]
    return found


def _choices(schema: Mapping[str, object]) -> list[object]:
    if "const" in schema:
        return [schema["const"]]
    listed = schema.get("enum")
    items = schema.get("items")
    if not _is_list(listed) and isinstance(items, Mapping):
        listed = items.get("enum")
    return list(listed) if _is_list(listed) else []


def _bound(schema: Mapping[str, object], inclusive: str, exclusive: str, none: float) -> float:
    value = schema.get(inclusive)
    if isinstance(value, int | float):
        return float(value)
    value = schema.get(exclusive)
    return math.nextafter(float(value), -none) if isinstance(value, int | float) else none


def _is_list(value: object) -> TypeGuard[Sequence[object]]:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)
