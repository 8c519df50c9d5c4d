"""What hosts say of errors becomes one clear sentence, without secrets."""

import json
from datetime import UTC, datetime

import pytest

from lockgate.errors import FailureKind, ProviderError
from lockgate.providers.failures import AskedHost, read_error, read_error_body, without_secrets

NOW = datetime(2026, 11, 30, 12, 0, 0, tzinfo=UTC)
KEY = "sk-proj-0123456789abcdef"
HOST = AskedHost("Somewhere", "https://user:pass@api.example.com/v1/chat/completions?key=abc", (KEY,))


def failure(status: int, body: object, **headers: str) -> ProviderError:
    """The error for an answer with a JSON body."""
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return HOST.http_failure(status, {name.replace("_", "-"): value for name, value in headers.items()}, raw, NOW)


@pytest.mark.parametrize(
    ("body", "message", "kind", "code"),
    [
        ({"error": {"message": "m", "type": "t", "param": None, "code": "c"}}, "m", "t", "c"),
        ({"object": "error", "message": "m", "type": "t", "code": 3000}, "m", "t", "3000"),
        ({"message": "m"}, "m", "", ""),
        ({"detail": [{"type": "t", "loc": ["body"], "msg": "m"}]}, "m", "t", ""),
        ({"detail": "m"}, "m", "", ""),
        ([{"error": {"code": 429, "message": "m", "status": "RESOURCE_EXHAUSTED"}}], "m", "RESOURCE_EXHAUSTED", "429"),
        ({"error": "m"}, "m", "", ""),
        ({"errors": [{"code": "c", "message": "m"}], "trace": "x"}, "m", "", "c"),
        ({"error": {"message": {"deep": 1}}}, '{"deep": 1}', "", ""),
    ],
)
def test_every_form_of_an_error_is_read(body: object, message: str, kind: str, code: str) -> None:
    """Message, type and code are found in the forms of OpenAI, Mistral, FastAPI, Google, Ollama and watsonx."""
    error = read_error_body(json.dumps(body).encode())
    assert (error.message, error.type, error.code) == (message, kind, code)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"<!DOCTYPE html><html><head><title>Bad\n Gateway &amp; more</title></head></html>", "Bad Gateway & more"),
        (b"<html><h1>Sorry</h1></html>", "Sorry"),
        (b"<html></html>", "an HTML page"),
        (b"upstream connect error", "upstream connect error"),
        (b"\xff\xfe broken", "broken"),
        (b"", ""),
        (b"[" * 100_000, "[["),
        (b"5", "5"),
    ],
)
def test_what_is_no_json_is_told_as_well(body: bytes, message: str) -> None:
    """A page is told by its title, plain text as it is; nothing raises."""
    assert message in read_error_body(body).message


@pytest.mark.parametrize("value", [{}, [], None, 5, "x", {"choices": []}, {"error": None}, {"usage": {}}, [[], 1]])
def test_an_answer_is_no_error(value: object) -> None:
    """What has no sign of an error is none."""
    assert read_error(value) is None


@pytest.mark.parametrize(
    ("status", "body", "kind", "words"),
    [
        (401, {"error": {"message": "Incorrect"}}, FailureKind.AUTHENTICATION, "refused the API key (401): Incorrect"),
        (403, {"error": {"message": "no"}}, FailureKind.AUTHENTICATION, "does not allow this (403): no"),
        (402, {"error": {"message": "pay"}}, FailureKind.QUOTA, "used up (402): pay"),
        (404, {"error": {"message": "The model `x` does not exist"}}, FailureKind.NOT_FOUND, "does not know the model"),
        (404, b"404 page not found", FailureKind.NOT_FOUND, "check the base address (404): 404 page not found"),
        (408, {}, FailureKind.TIMEOUT, "took too long (408)"),
        (413, b"", FailureKind.CONTEXT_TOO_LONG, "longer than the model can read"),
        (429, {"error": {"message": "Rate limit"}}, FailureKind.RATE_LIMIT, "too many requests"),
        (429, {"error": {"message": "x", "code": "insufficient_quota"}}, FailureKind.QUOTA, "(insufficient_quota)"),
        (500, {}, FailureKind.SERVER, "failed (500)."),
        (503, {}, FailureKind.OVERLOADED, "(503)."),
        (529, {}, FailureKind.OVERLOADED, "(529)."),
        (400, {"error": {"message": "odd"}}, FailureKind.BAD_REQUEST, "did not accept the request (400): odd"),
        (400, {"error": {"message": "x", "code": "context_length_exceeded"}}, FailureKind.CONTEXT_TOO_LONG, "longer"),
        (400, {"error": {"message": "x", "type": "too_many_prompt_tokens"}}, FailureKind.CONTEXT_TOO_LONG, "longer"),
        (400, {"error": "the request exceeds the available context size"}, FailureKind.CONTEXT_TOO_LONG, "longer"),
        (400, {"error": {"message": "prompt is too long: 5"}}, FailureKind.CONTEXT_TOO_LONG, "longer"),
        (400, {"error": {"message": "m", "code": "tool_use_failed"}}, FailureKind.TOOL_REFUSED, "(tool_use_failed)"),
        (400, {"error": "llama2 does not support tools"}, FailureKind.TOOL_REFUSED, "did not accept the tools"),
        (418, {}, FailureKind.BAD_REQUEST, "(418)."),
    ],
)
def test_a_status_becomes_a_class_of_failure_and_a_sentence(
    status: int, body: object, kind: FailureKind, words: str
) -> None:
    """Each status with the host's words has its class, and a sentence that names provider, address and status."""
    error = failure(status, body)
    assert (error.kind, error.status) == (kind, status)
    assert str(error).startswith('The provider "Somewhere" at https://api.example.com/v1/chat/completions ')
    assert words in str(error)


def test_a_redirect_is_told_and_not_followed() -> None:
    """A redirect says where it leads, without what must not be shown of an address."""
    error = failure(302, b"", location="https://a:b@login.example.com/x?token=1")
    assert error.kind is FailureKind.NOT_FOUND
    assert "https://login.example.com/x;" in str(error)
    assert "token" not in str(error)


def test_without_a_key_the_sentence_asks_for_one() -> None:
    """Who configured no key is not told that it is wrong."""
    error = HOST.http_failure(401, {}, b"", NOW, has_key=False)
    assert "wants an API key, and none is configured (401)." in str(error)


def test_googles_rate_limit_is_no_used_up_quota() -> None:
    """Google words a rate limit like a quota; its delay tells it apart."""
    google = {"code": 429, "message": "You exceeded your current quota", "details": [{"retryDelay": "20s"}]}
    error = failure(429, [{"error": google}])
    assert (error.kind, error.retry_after) == (FailureKind.RATE_LIMIT, 20.0)
    assert failure(429, [{"error": google | {"details": []}}]).kind is FailureKind.QUOTA


@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        ({"error": {"message": "slow", "code": 429}}, FailureKind.RATE_LIMIT, 429),
        ({"error": {"message": "Rate limit reached", "code": None}}, FailureKind.RATE_LIMIT, None),
        ({"error": {"message": "Overloaded", "type": "overloaded_error"}}, FailureKind.OVERLOADED, None),
        ({"error": {"message": "no", "code": "invalid_api_key"}}, FailureKind.AUTHENTICATION, None),
        ({"error": {"message": "maximum context length is 5"}}, FailureKind.CONTEXT_TOO_LONG, None),
        ({"error": {"message": "x", "code": "insufficient_quota"}}, FailureKind.QUOTA, None),
        ({"error": {"message": "x", "type": "invalid_request_error"}}, FailureKind.BAD_REQUEST, None),
        ({"error": {"message": "boom"}}, FailureKind.SERVER, None),
    ],
)
def test_an_error_after_a_200_has_its_class_by_its_words(body: object, kind: FailureKind, status: int | None) -> None:
    """In a stream only the host's words say what went wrong; a code that is a status counts as one."""
    found = read_error(body)
    assert found is not None
    error = HOST.stream_failure(found, NOW)
    assert (error.kind, error.status) == (kind, status)


def test_no_secret_leaves_in_any_form() -> None:
    """The key is removed from message and host's words, encoded forms and whatever follows Bearer too."""
    odd = 'k"ey/with?signs'
    host = AskedHost("x", "http://h", (KEY, odd))
    body = {"error": {"message": f"bad {KEY} {odd} k%22ey%2Fwith%3Fsigns Bearer abcdef123 in header"}}
    error = host.http_failure(401, {}, json.dumps(body).encode(), NOW)
    for text in (str(error), error.server_message, repr(error)):
        assert KEY not in text
        assert odd not in text
        assert "k%22ey" not in text
        assert "abcdef123" not in text
    assert KEY not in repr(host)


def test_a_short_secret_is_removed_only_where_it_stands_alone() -> None:
    """The key `x` is hidden without making the rest of a sentence unreadable."""
    assert without_secrets("key x is explained, x!", ("x",)) == "key ***** is explained, *****!"


def test_a_hosts_words_are_short_and_on_one_line() -> None:
    """Control characters and directions cannot steer a terminal, and 2,000 characters are enough."""
    error = failure(400, {"error": {"message": "a\x1b[31m\u202e\nb" + "c" * 5_000}})
    assert error.server_message.startswith("a [31m b")
    assert len(error.server_message) <= 2_000
    assert str(error).isprintable()


@pytest.mark.parametrize("body", [b"[" * 700 + b"]" * 700, b'{"error":{"message":' + b"[" * 700 + b"]" * 700 + b"}}"])
def test_a_deep_body_is_told_without_a_crash(body: bytes) -> None:
    """Nesting costs no stack: a body of any depth becomes an error of a few words."""
    error = HOST.stream_failure(read_error_body(body), NOW)
    assert error.kind is FailureKind.SERVER
    assert len(str(error)) < 3_000


def test_what_is_too_deep_to_write_is_told_in_words() -> None:
    """A value that JSON cannot hold for its depth does not raise."""
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    error = read_error({"error": {"message": deep}})
    assert error is not None
    assert error.message == "a value that is nested too deeply to be shown"


@pytest.mark.parametrize("shift", range(0, 30, 3))
@pytest.mark.parametrize("padding", ["x", " "])
def test_a_long_message_never_ends_in_half_a_key(padding: str, shift: int) -> None:
    """Wherever a long message is cut before it is cleaned, no part of a key is left, even where blanks shrink."""
    message = padding * (16_000 - shift) + KEY + "y" * 1_000_000
    words = HOST.failure(FailureKind.SERVER, "failed", server_message=message).server_message
    assert len(words) <= 2_000
    assert KEY[:4] not in words
