"""A key that does nothing because another one is missing is told: whoever wrote it believes that it protects."""

import pytest

from lockgate.settings.file_reading import settings_from_table


@pytest.mark.parametrize(
    ("table", "problems"),
    [
        ({"global_minimum": "HIGH"},
         ["confidence.global_minimum is not enforced until enforce_global_minimum = true stands beside it"]),
        ({"global_minimum": "NONE"}, []),
        ({"global_minimum": "HIGH", "enforce_global_minimum": False}, []),
        ({"global_minimum": "HIGH", "enforce_global_minimum": True}, []),
        ({"custom": {"MISTRAL": "LOW"}},
         ['confidence.custom has no effect until scheme = "CUSTOM" stands beside it']),
        ({"custom": {"MISTRAL": "LOW"}, "scheme": "TRUST_ALL"},
         ['confidence.custom has no effect until scheme = "CUSTOM" stands beside it']),
        ({"custom": {}}, []),
        ({"custom": {"MISTRAL": "LOW"}, "scheme": "CUSTOM"}, []),
    ],
)  # fmt: skip
def test_a_key_without_effect_is_told(table: dict[str, object], problems: list[str]) -> None:
    """What is switched off on purpose, or demands nothing, is no problem."""
    assert [str(problem) for problem in settings_from_table({"confidence": table}).problems] == problems
