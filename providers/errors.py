"""From what an SDK, the network or a service reports to what a failed call means."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterable, Iterator, Mapping
from email.utils import parsedate_to_datetime
from typing import Any

from engine.vocabulary.errors import (
    CallFailure,
    ContextTooLong,
    EmptyTurn,
    PermanentFailure,
    RequestFailure,
    TransientFailure,
)
from providers.context_errors import is_too_long

MAX_MESSAGE = 300

_TRANSIENT_WORDS = (
    "upstream request failed",
    "provider returned error",
    "temporarily unavailable",
    "service unavailable",
    "overloaded",
    "bad gateway",
    "gateway timeout",
    "error decoding response body",
)
_TRANSIENT_CODES = frozenset(
    {
        "api_error",
        "internal_error",
        "internal_server_error",
        "overloaded_error",
        "rate_limit_error",
        "rate_limit_exceeded",
        "server_error",
        "server_overloaded",
        "service_unavailable",
        "timeout",
        "timeout_error",
    }
)
_PERMANENT_CODES = frozenset(
    {"authentication_error", "billing_error", "invalid_api_key", "permission_error"}
)
_NO_REPLY = "no reply in time (timeout)"
_MISCODED = "the reply is not compressed in the way that it says"
_CUT_OFF = "the connection was closed before the reply was complete"
_NO_QUOTA = "insufficient_quota"
_NO_CALL = "tool_use_failed"
_KEY_LIKE = re.compile(r"\b(?:sk|gsk|xai)[-_][\w*-]{6,}|\bAIza[\w-]{6,}|\bBearer\s+\S+")


class ServiceError(Exception):
    """An error that a service reports inside of a reply instead of by a status.

    `code` is the service's own word for it, or an HTTP status.
    """

    def __init__(self, message: str, code: str = "") -> None:
        self.message, self.code = message, code
        super().__init__(message)


def service_error(report: Any) -> ServiceError:
    """The error in an `error` object, whatever its shape."""
    if not isinstance(report, Mapping):
        return ServiceError(str(report))
    inner = report.get("error")
    if isinstance(inner, Mapping):
        report = inner
    message = report.get("message")
    code = report.get("code") or report.get("type") or ""
    return ServiceError(str(message or code or "unknown error"), str(code))


def failure_of(
    error: Exception,
    *,
    label: str,
    secrets: Iterable[str] = (),
    address: str = "",
    is_local: bool = False,
) -> CallFailure:
    """What a failed call means.

    Args:
        error: anything that the SDKs, the HTTP library or a stream raises.
        label: the service's name for people.
        secrets: texts that must not show up in the message.
        address: where the service was called; named where the connection is to blame.
        is_local: whether that is on this computer.
    """
    status = status_of(error)
    if status is not None and status >= 300:
        text = _clean(refusal_text(error), secrets)
        return _by_status(status, text, label, error)
    if isinstance(error, ServiceError) or _is_reported(error):
        return _by_report(_as_service_error(error), label, secrets)
    cause = transport_cause(error)
    if cause is not None:
        return TransientFailure(unconnected(cause, label, address, is_local=is_local))
    return RequestFailure(f"{label}: the reply cannot be read ({_unreadable(error)})")


def _unreadable(error: Exception) -> str:
    """Why a reply cannot be read; nothing of its content."""
    match error:
        case UnicodeDecodeError():
            return "it is not UTF-8 text"
        case RecursionError():
            return "it is nested too deeply"
        case json.JSONDecodeError():
            return "it is not valid JSON"
    return type(error).__name__


def status_of(error: BaseException) -> int | None:
    """The HTTP status that the error carries, if any."""
    status = getattr(error, "status_code", None)
    return status if isinstance(status, int) else None


def refusal_text(error: BaseException) -> str:
    """What the service said about a refused request, as long as it is."""
    body = getattr(error, "body", None)
    if isinstance(body, str):
        return body.strip()
    if body is not None:
        return json.dumps(body, ensure_ascii=False, default=str)
    return str(error)


def retry_after_s(headers: Mapping[str, str], *, now: float | None = None) -> float | None:
    """How long the service wants us to wait, in seconds; `None` where it does not say."""
    for name, scale in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = headers.get(name)
        if value is None:
            continue
        try:
            return max(0.0, float(value) * scale)
        except ValueError:
            pass
        try:
            until = parsedate_to_datetime(value).timestamp()
        except ValueError:
            continue
        return max(0.0, until - (time.time() if now is None else now))
    return None


def transport_cause(error: BaseException) -> str | None:
    """Why a connection failed, in a few words; `None` for errors of another kind."""
    chain = list(_chain(error))
    for link in chain:
        if isinstance(link, ConnectionRefusedError):
            return "connection refused"
        name = type(link).__name__
        if name == "gaierror":
            return "the host name cannot be resolved"
        if "SSL" in name or "Certificate" in name:
            return f"the secure connection failed ({_short(str(link))})"
    names = {base.__name__ for link in chain for base in type(link).__mro__}
    if "ConnectTimeout" in names:
        return "no connection in time (timeout)"
    if names & {"APITimeoutError", "TimeoutException", "TimeoutError"}:
        return _NO_REPLY
    if "DecodingError" in names:
        return _MISCODED
    if names & {"RemoteProtocolError", "ReadError", "IncompleteRead"}:
        return _CUT_OFF
    if names & {"ConnectError", "ConnectionError"}:
        return "no connection"
    if names & {"APIConnectionError", "TransportError"}:
        return "the connection failed"
    return None


def unconnected(cause: str, label: str, address: str, *, is_local: bool) -> str:
    """What to tell a person about a connection that failed for this cause."""
    if not address:
        return f"{label}: {cause}"
    if cause in (_NO_REPLY, _CUT_OFF, _MISCODED):
        return f"{label} at {address}: {cause}"
    hint = "is the server running?" if is_local else "check the address and the network"
    return f"{label} cannot be reached at {address}: {cause} ({hint})"


def redacted(text: str, secrets: Iterable[str]) -> str:
    """The text without keys."""
    for secret in secrets:
        if secret:
            text = text.replace(secret, "***")
    return _KEY_LIKE.sub("***", text)


def _by_status(status: int, text: str, label: str, error: Exception) -> CallFailure:
    message = f"{label} answered {status}: {text}" if text else f"{label} answered {status}"
    lowered = refusal_text(error).lower()
    if status == 401:
        return PermanentFailure(f"{message} (check the key)")
    if _NO_QUOTA in lowered:
        return PermanentFailure(f"{message} (the account has no credit left)")
    if status == 413 or (status >= 400 and is_too_long(lowered)):
        return ContextTooLong(message)
    if _NO_CALL in lowered:
        return EmptyTurn(message)
    if status < 400:
        return PermanentFailure(f"{message} (the address redirects; use the one it leads to)")
    if any(words in lowered for words in _TRANSIENT_WORDS):
        return TransientFailure(message, _wait(error))
    if status in (408, 409, 429) or status >= 500:
        return TransientFailure(message, _wait(error))
    if status == 400:
        return RequestFailure(message)
    return PermanentFailure(message)


def _by_report(error: ServiceError, label: str, secrets: Iterable[str]) -> CallFailure:
    message = f"{label}: {_clean(error.message, secrets)}"
    code, lowered = error.code.lower(), error.message.lower()
    if code == _NO_QUOTA or _NO_QUOTA in lowered:
        return PermanentFailure(f"{message} (the account has no credit left)")
    if is_too_long(f"{code} {lowered}"):
        return ContextTooLong(message)
    if code.isdecimal() and int(code) >= 400:
        return _by_status(int(code), _clean(error.message, secrets), label, error)
    if code in _PERMANENT_CODES:
        return PermanentFailure(message)
    if code in _TRANSIENT_CODES or any(words in lowered for words in _TRANSIENT_WORDS):
        return TransientFailure(message)
    return RequestFailure(message)


def _is_reported(error: BaseException) -> bool:
    """Whether an SDK raised this for an error event inside of a stream."""
    return isinstance(getattr(error, "body", None), Mapping | str)


def _as_service_error(error: Exception) -> ServiceError:
    return error if isinstance(error, ServiceError) else service_error(getattr(error, "body", None))


def _wait(error: Exception) -> float | None:
    headers = getattr(getattr(error, "response", None), "headers", None)
    return None if headers is None else retry_after_s(headers)


def _clean(text: str, secrets: Iterable[str]) -> str:
    return _short(redacted(_message_in(text), secrets))


def _message_in(text: str) -> str:
    try:
        report = json.loads(text)
    except (ValueError, RecursionError):
        return text
    if isinstance(report, Mapping):
        error = report.get("error", report)
        message = error.get("message") if isinstance(error, Mapping) else error
        if isinstance(message, str) and message:
            return message
    return text


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= MAX_MESSAGE else text[: MAX_MESSAGE - 1] + "…"


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    link: BaseException | None = error
    while link is not None and id(link) not in seen:
        seen.add(id(link))
        yield link
        link = link.__cause__ or link.__context__
