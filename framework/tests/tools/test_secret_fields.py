"""A secret in a settings model is found, however its type is written, and its value is masked."""

from typing import Annotated, Any, NewType, Optional

import pytest
from pydantic import Field, SecretStr, create_model

from lockgate.settings import ToolSettings

Key = NewType("Key", SecretStr)


class OwnSecret(SecretStr):
    """A secret of a pack's own class."""


@pytest.mark.parametrize(
    "annotation",
    [
        SecretStr, SecretStr | None, Optional[SecretStr], Annotated[SecretStr, Field(min_length=1)] | None,  # noqa: UP045 - both spellings are tested
        list[SecretStr], list[Annotated[SecretStr, "x"]] | None, dict[str, SecretStr], tuple[SecretStr, ...], Key,
        OwnSecret, str | SecretStr,
    ],
    ids=str,
)  # fmt: skip
def test_a_field_that_can_hold_a_secret_is_a_secret(annotation: Any) -> None:
    """It is kept apart, whatever stands around the secret in the type."""
    fields: dict[str, Any] = {"key": (annotation, None), "plain": (str, ""), "many": (list[str], [])}
    assert create_model("Made", __base__=ToolSettings, **fields).secret_names() == {"key"}


def test_secrets_inside_lists_and_tables_are_masked() -> None:
    """Every value that could stand in an answer is named for masking; an empty one is none."""

    class Keys(ToolSettings):
        """Secrets of several shapes."""

        one: SecretStr | None = None
        several: tuple[SecretStr, ...] = ()
        named: dict[str, list[SecretStr]] | None = None
        plain: str = "shown"

    keys = Keys(
        one=SecretStr("a"), several=(SecretStr("b"), SecretStr("")), named={"x": [SecretStr("c"), SecretStr("d")]}
    )
    assert sorted(keys.secret_values()) == ["a", "b", "c", "d"]
    assert list(Keys().secret_values()) == []
