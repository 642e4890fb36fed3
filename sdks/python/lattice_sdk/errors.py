"""The errors of the clients. Every failure, including network failures, is a problem of the server's error catalogue:
programs handle a class or ``error.code``, people read the detail and the hint. A code that is newer than this package
falls back to the class of its HTTP status.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = [
    "CLASS_OF_CODE",
    "FieldProblem",
    "LatticeAuthError",
    "LatticeConflictError",
    "LatticeConnectionError",
    "LatticeCursorGoneError",
    "LatticeError",
    "LatticeForbiddenError",
    "LatticeInvalidError",
    "LatticeNotAvailableError",
    "LatticeNotFoundError",
    "LatticeQuotaError",
    "LatticeRateLimitError",
    "LatticeServerError",
    "LatticeTimeoutError",
    "LatticeUnavailableError",
    "connection_error",
    "error_from_answer",
    "error_from_problem",
]

MAX_FOREIGN_TEXT = 200
"""For responses of other parties, for example the error page of a proxy."""


@dataclass(frozen=True)
class FieldProblem:
    """One field of a request that is not acceptable."""

    field: str
    detail: str
    hint: str = ""


class LatticeError(Exception):
    """Any failure of a call. ``status_code`` is 0 without a response."""

    def __init__(
        self,
        detail: str,
        *,
        code: str = "internal",
        status_code: int = 0,
        title: str = "",
        hint: str = "",
        fields: tuple[FieldProblem, ...] = (),
        retryable: bool = False,
        retry_after: float = 0.0,
    ) -> None:
        super().__init__(detail)
        self.detail = detail
        self.code = code
        self.status_code = status_code
        self.title = title
        self.hint = hint
        self.fields = fields
        self.retryable = retryable
        self.retry_after = retry_after
        """Seconds that the server asks to wait; 0 if unspecified."""

    def __str__(self) -> str:
        # With a single field, the detail usually is its problem.
        fields = "".join(f"; {one.field} {one.detail}" for one in self.fields if len(self.fields) > 1)
        hint = f" ({self.hint})" if self.hint else ""
        return f"{self.code}: {self.detail}{fields}{hint}"


class LatticeInvalidError(LatticeError):
    """The request is invalid; ``fields`` lists the errors."""


class LatticeAuthError(LatticeError):
    """Not logged in, or not permitted."""


class LatticeForbiddenError(LatticeAuthError):
    """The caller is authenticated but not permitted."""


class LatticeNotFoundError(LatticeError):
    """No such allocation, node, tenant or other object."""


class LatticeNotAvailableError(LatticeError):
    """The server does not support this call."""


class LatticeConflictError(LatticeError):
    """Not possible in the current state."""


class LatticeCursorGoneError(LatticeConflictError):
    """Events after this cursor are no longer stored; read the current state and continue from there."""


class LatticeQuotaError(LatticeError):
    """The request exceeds a limit of the tenant or user."""


class LatticeRateLimitError(LatticeError):
    """Too many requests; ``retry_after`` is the time to wait."""


class LatticeUnavailableError(LatticeError):
    """The server cannot serve the request now."""


class LatticeConnectionError(LatticeUnavailableError):
    """The server cannot be reached, or the connection broke."""

    sent = True
    """False if no part of the request can have arrived."""


class LatticeTimeoutError(LatticeUnavailableError):
    """No response in time; a change may have been applied."""


class LatticeServerError(LatticeError):
    """A defect of the server."""


CLASS_OF_CODE: Mapping[str, type[LatticeError]] = {
    "invalid_argument": LatticeInvalidError,
    "malformed_body": LatticeInvalidError,
    "body_too_large": LatticeInvalidError,
    "unsupported_media_type": LatticeInvalidError,
    "unsupported_feature": LatticeNotAvailableError,
    "not_found": LatticeNotAvailableError,
    "method_not_allowed": LatticeNotAvailableError,
    "unauthenticated": LatticeAuthError,
    "forbidden": LatticeForbiddenError,
    "tenant_mismatch": LatticeForbiddenError,
    "not_owner": LatticeForbiddenError,
    "cursor_gone": LatticeCursorGoneError,
    "quota_exceeded": LatticeQuotaError,
    "too_many_terminals": LatticeQuotaError,
    "rate_limited": LatticeRateLimitError,
    "connection_failed": LatticeConnectionError,
    "deadline_exceeded": LatticeTimeoutError,
    "internal": LatticeServerError,
}
"""Codes that their HTTP status does not identify."""

CLASS_OF_STATUS: Mapping[int, type[LatticeError]] = {
    400: LatticeInvalidError,
    401: LatticeAuthError,
    403: LatticeForbiddenError,
    404: LatticeNotFoundError,
    405: LatticeNotAvailableError,
    408: LatticeUnavailableError,
    409: LatticeConflictError,
    410: LatticeCursorGoneError,
    413: LatticeInvalidError,
    415: LatticeInvalidError,
    426: LatticeNotAvailableError,
    429: LatticeQuotaError,
    431: LatticeInvalidError,
    501: LatticeNotAvailableError,
    502: LatticeUnavailableError,
    503: LatticeUnavailableError,
    504: LatticeTimeoutError,
}


def error_from_answer(status: int, body: str, headers: Mapping[str, str] | None = None) -> LatticeError:
    """Returns the problem of an unsuccessful response, also of a response from a proxy."""
    try:
        problem = json.loads(body)
    except ValueError:
        problem = None
    retry_after = _seconds((headers or {}).get("retry-after", ""))
    if not isinstance(problem, dict):
        text = body.strip()[:MAX_FOREIGN_TEXT] or f"the answer has status {status} and says nothing"
        problem = {"detail": text, "retryable": status in (502, 503, 504)}
    return error_from_problem(problem, status=status, retry_after=retry_after)


def error_from_problem(problem: Mapping[str, Any], *, status: int = 0, retry_after: float = 0.0) -> LatticeError:
    """Returns the error of a problem in JSON, from a response or at the end of a failed stream."""
    stated = problem.get("status")
    status = status or (stated if isinstance(stated, int) else 0)
    code = str(problem.get("code") or ("unavailable" if status in (502, 503) else "internal"))
    kind = CLASS_OF_CODE.get(code) if "code" in problem else None
    kind = kind or CLASS_OF_STATUS.get(status) or (LatticeServerError if status >= 500 else LatticeError)
    return kind(
        str(problem.get("detail") or problem.get("title") or code),
        code=code,
        status_code=status,
        title=str(problem.get("title") or ""),
        hint=str(problem.get("hint") or ""),
        fields=tuple(_field(one) for one in problem.get("fields") or () if isinstance(one, dict)),
        retryable=problem.get("retryable") is True,
        retry_after=retry_after,
    )


def connection_error(detail: str, *, sent: bool) -> LatticeConnectionError:
    hint = "Retry; the change may have been applied." if sent else "Is the cluster running?"
    error = LatticeConnectionError(detail, code="connection_failed", hint=hint, retryable=True)
    error.sent = sent
    return error


def _field(one: Mapping[str, Any]) -> FieldProblem:
    return FieldProblem(str(one.get("field", "")), str(one.get("detail", "")), str(one.get("hint", "")))


def _seconds(text: str) -> float:
    return float(text) if text.isdigit() else 0.0
