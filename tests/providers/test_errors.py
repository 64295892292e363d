"""From errors to failures: what the wires' own tests do not reach."""

from __future__ import annotations

import errno
import json
import socket

import httpx2
import pytest

from engine.vocabulary.errors import PermanentFailure, RequestFailure, TransientFailure
from providers.errors import (
    MAX_MESSAGE,
    ServiceError,
    failure_of,
    redacted,
    retry_after_s,
    service_error,
    transport_cause,
)

NOON = 1_700_000_000.0


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "-4"}, 0.0),
        ({"retry-after-ms": "250"}, 0.25),
        ({"retry-after-ms": "soon", "retry-after": "2"}, 2.0),
        ({"retry-after": "Tue, 14 Nov 2023 22:13:50 GMT"}, 30.0),
        ({"retry-after": "Tue, 14 Nov 2023 22:00:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({}, None),
    ],
)
def test_the_wait_is_read_in_all_its_forms(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after_s(httpx2.Headers(headers), now=NOON) == seconds


@pytest.mark.parametrize(
    ("code", "message", "kind"),
    [
        ("overloaded_error", "x", TransientFailure),
        ("rate_limit_exceeded", "x", TransientFailure),
        ("server_error", "x", TransientFailure),
        ("502", "x", TransientFailure),
        ("429", "x", TransientFailure),
        ("400", "x", RequestFailure),
        ("", "Provider returned error", TransientFailure),
        ("", "the model is temporarily unavailable", TransientFailure),
        ("insufficient_quota", "x", PermanentFailure),
        ("authentication_error", "x", PermanentFailure),
        ("invalid_prompt", "x", RequestFailure),
        ("", "x", RequestFailure),
    ],
)
def test_an_error_inside_of_a_stream_is_classified_by_its_code_and_words(
    code: str, message: str, kind: type[object]
) -> None:
    failure = failure_of(ServiceError(message, code), label="S")
    assert isinstance(failure, kind)
    assert message in str(failure)


@pytest.mark.parametrize(
    ("report", "message", "code"),
    [
        ({"message": "m", "code": 502}, "m", "502"),
        (
            {"type": "error", "error": {"type": "overloaded_error", "message": "m"}},
            "m",
            "overloaded_error",
        ),
        ({"code": "server_error"}, "server_error", "server_error"),
        ("just words", "just words", ""),
        ({}, "unknown error", ""),
    ],
)
def test_error_objects_of_every_shape_are_read(report: object, message: str, code: str) -> None:
    error = service_error(report)
    assert (error.message, error.code) == (message, code)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ConnectionRefusedError(errno.ECONNREFUSED, "refused"), "connection refused"),
        (socket.gaierror(socket.EAI_NONAME, "unknown"), "cannot be resolved"),
        (httpx2.ConnectTimeout("x"), "no connection in time"),
        (httpx2.ReadTimeout("x"), "no reply in time"),
        (httpx2.RemoteProtocolError("x"), "closed before the reply was complete"),
        (httpx2.ConnectError("x"), "no connection"),
        (httpx2.ProxyError("x"), "the connection failed"),
    ],
)
def test_a_broken_connection_is_transient_with_its_cause(error: Exception, words: str) -> None:
    outer = RuntimeError("wrapped")
    outer.__cause__ = error
    assert words in (transport_cause(outer) or "")
    failure = failure_of(outer, label="S")
    assert isinstance(failure, TransientFailure)
    assert failure.message.startswith("S: ")


def test_a_certificate_problem_is_named() -> None:
    import ssl

    cause = transport_cause(ssl.SSLCertVerificationError("certificate has expired"))
    assert cause is not None
    assert "certificate has expired" in cause


def test_what_cannot_be_read_is_a_failed_request() -> None:
    with pytest.raises(ValueError, match="Expecting") as raised:
        json.loads("{broken")
    failure = failure_of(raised.value, label="S")
    assert failure == RequestFailure("S: the reply cannot be read (it is not valid JSON)")


def test_messages_are_short_and_hold_no_keys() -> None:
    key = "abcd1234-my-own-key"
    text = f"wrong key {key}, sk-proj-abcdef123456, Bearer xyz and more " + "x" * 1000
    failure = failure_of(ServiceError(text), label="S", secrets=(key, ""))
    assert isinstance(failure, RequestFailure)
    for secret in (key, "abcdef123456", "xyz"):
        assert secret not in failure.message
    assert len(failure.message) <= MAX_MESSAGE + len("S: ")


def test_an_ordinary_text_is_not_redacted() -> None:
    text = "The ask-me-anything key of the task is prompt_cache_key."
    assert redacted(text, ()) == text
