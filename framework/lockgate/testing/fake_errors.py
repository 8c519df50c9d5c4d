"""The forms in which hosts write an error: facts, one row a host."""

from collections.abc import Callable

from lockgate.testing.fake_answers import ErrorAnswer
from lockgate.testing.fake_wire import JSON, Reply, json_text

# What OpenAI calls the errors of a status when the script does not say.
OPENAI_TYPES = {
    401: "invalid_request_error",
    403: "invalid_request_error",
    429: "requests",
    500: "server_error",
    502: "server_error",
    503: "server_error",
    504: "server_error",
}

# What Google's APIs call a status (google.rpc.Code).
GOOGLE_STATUS = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}


def _openai(answer: ErrorAnswer) -> object:
    kind = answer.type or OPENAI_TYPES.get(answer.status, "invalid_request_error")
    error = {"message": answer.message, "type": kind, "param": answer.param, "code": answer.code}
    return {"error": error | dict(answer.extra)}


def _mistral(answer: ErrorAnswer) -> object:
    flat = {"object": "error", "message": answer.message, "type": answer.type or "invalid_request_error"}
    return flat | {"param": answer.param, "code": answer.code} | dict(answer.extra)


def _detail(answer: ErrorAnswer) -> object:
    """Mistral and others behind FastAPI (422)."""
    place = ["body", *(answer.param or "messages").split(".")]
    return {"detail": [{"type": answer.type or "value_error", "loc": place, "msg": answer.message}]}


def _gemini(answer: ErrorAnswer) -> object:
    """Google's compatible endpoint: a list around the object."""
    status = answer.type or GOOGLE_STATUS.get(answer.status, "UNKNOWN")
    code = answer.status if answer.code is None else answer.code
    return [{"error": {"code": code, "message": answer.message, "status": status} | dict(answer.extra)}]


def _ollama(answer: ErrorAnswer) -> object:
    return {"error": answer.message} | dict(answer.extra)


def _watsonx(answer: ErrorAnswer) -> object:
    error = {"code": answer.code or answer.type or "internal_error", "message": answer.message}
    return {"errors": [error], "trace": "fake-trace", "status_code": answer.status} | dict(answer.extra)


FORMS: dict[str, Callable[[ErrorAnswer], object]] = {
    "openai": _openai,
    "mistral": _mistral,
    "detail": _detail,
    "gemini": _gemini,
    "ollama": _ollama,
    "watsonx": _watsonx,
}


def error_reply(answer: ErrorAnswer, native: str) -> Reply:
    """The reply for an error; `native` is the form of the API that was asked."""
    form = native if answer.form == "native" else answer.form
    if form == "text":
        body, content_type = answer.message, "text/plain; charset=utf-8"
    else:
        body, content_type = json_text(FORMS[form](answer)), JSON
    return Reply(
        status=answer.status,
        content_type=content_type,
        headers=answer.headers,
        parts=(body.encode(),),
        delivery=answer.delivery,
    )
