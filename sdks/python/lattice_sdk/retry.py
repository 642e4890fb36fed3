"""Decides which failures are retried, and when. A change is repeated only when it carries a request id, or was never
sent. Delays double, with jitter so that the clients of a restarted server do not return in step.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from .errors import (
    LatticeConnectionError,
    LatticeError,
    LatticeRateLimitError,
    LatticeTimeoutError,
    LatticeUnavailableError,
)

__all__ = ["RetryPolicy", "backoff", "pause_before_retry"]


@dataclass(frozen=True)
class RetryPolicy:
    """The defaults outlast a server restart and an election."""

    retries: int = 6
    """Attempts after the first one."""
    first_delay: float = 0.1
    longest_delay: float = 2.0
    deadline: float = 30.0
    """No attempt starts later than this many seconds after the first one."""


def pause_before_retry(
    policy: RetryPolicy, error: LatticeError, *, tries: int, elapsed: float, repeatable: bool
) -> float | None:
    """Returns the seconds to wait before the next try; None to give up."""
    if tries >= policy.retries or not _may_repeat(error, repeatable):
        return None
    pause = max(error.retry_after, backoff(policy, tries))
    return None if elapsed + pause > policy.deadline else pause


def backoff(policy: RetryPolicy, tries: int) -> float:
    """Returns between half and all of the doubled delay."""
    whole = min(policy.longest_delay, policy.first_delay * 2.0**tries)
    return whole / 2 + whole / 2 * random.random()


def _may_repeat(error: LatticeError, repeatable: bool) -> bool:
    if isinstance(error, LatticeRateLimitError):
        # Rejected before anything was done.
        return True
    if isinstance(error, LatticeConnectionError):
        return repeatable or not error.sent
    if isinstance(error, LatticeTimeoutError):
        # The time limit has passed; a retry would double it.
        return False
    return isinstance(error, LatticeUnavailableError) and error.retryable and repeatable
