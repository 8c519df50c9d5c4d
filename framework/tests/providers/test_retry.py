"""How long to wait before asking again."""

from datetime import UTC, datetime

import pytest

from lockgate.providers.retry import RetryPolicy, wait_asked_for

NOW = datetime(2026, 11, 30, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "Mon, 30 Nov 2026 12:00:09 GMT"}, 9.0),
        ({"retry-after": "Mon, 30 Nov 2026 12:00:09 -0000"}, 9.0),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
        ({"retry-after-ms": "250", "retry-after": "1"}, 0.25),
        ({"retry-after-ms": "0", "retry-after": "1"}, 1.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "Mon, 99 Nov 2026 99:99:99 GMT"}, None),
        ({"retry-after-ms": "x"}, None),
        ({}, None),
    ],
)
def test_headers_say_how_long_to_wait(headers: dict[str, str], seconds: float | None) -> None:
    """Seconds, milliseconds and dates are read; a date in the past is zero; nonsense is nothing, never an error."""
    assert wait_asked_for(headers, "", None, NOW) == seconds


@pytest.mark.parametrize(
    ("message", "seconds"),
    [
        ("Please try again in 94ms.", 0.094),
        ("Please try again in 1.5s. Visit", 1.5),
        ("Please try again in 6m0s.", 360.0),
        ("try again in 1h2m3s", 3723.0),
        ("Retry after 20 seconds", 20.0),
        ("try again in 2 minutes", 120.0),
        ("try again in about 3 hours", 10800.0),
        ("try again in 5 milliseconds", 0.005),
        ("try again later", None),
        ("try again in 5 moons", None),
        ("", None),
    ],
)
def test_the_text_may_say_how_long_to_wait(message: str, seconds: float | None) -> None:
    """A hint in the words counts where no header has one."""
    found = wait_asked_for({}, message, None, NOW)
    assert found == (None if seconds is None else pytest.approx(seconds))


@pytest.mark.parametrize(
    ("body", "seconds"),
    [
        ([{"error": {"details": [{"@type": "x"}, {"retryDelay": "34.07s"}]}}], 34.07),
        ({"error": {"details": [{"retryDelay": "5s"}]}}, 5.0),
        ({"error": {"details": [{"retryDelay": "soon"}]}}, None),
        ({"error": {"details": "words"}}, None),
        ([], None),
        ("words", None),
    ],
)
def test_google_says_it_in_the_details(body: object, seconds: float | None) -> None:
    """`retryDelay` of Google's error details is read, whether or not the body is a list."""
    assert wait_asked_for({}, "", body, NOW) == seconds


def test_waits_are_bounded_in_number_and_in_sum() -> None:
    """There are two further tries by default; a wait that would go beyond the sum ends the tries."""
    policy = RetryPolicy()
    assert policy.wait(1, 0.0, None) == 1.0
    assert policy.wait(2, 1.0, None) == 4.0
    assert policy.wait(3, 5.0, None) is None
    assert policy.wait(1, 0.0, 30.0) == 30.0
    assert policy.wait(1, 0.0, 30.1) is None
    assert policy.wait(2, 20.0, 10.5) is None
    assert policy.wait(1, 0.0, 0.0) == 1.0
