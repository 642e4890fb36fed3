"""The public surface of the Lattice SDK: two clients, their models and their errors.

The synchronous client is built from the asynchronous one: ``pip install`` does it, and in a checkout
``python3 sdks/python/tools/make_sync.py``.
"""

from ._async.client import LatticeClient
from ._async.terminal import Terminal
from ._sync.client import SyncLatticeClient
from ._sync.terminal import Terminal as SyncTerminal
from .errors import (
    FieldProblem,
    LatticeAuthError,
    LatticeConflictError,
    LatticeConnectionError,
    LatticeCursorGoneError,
    LatticeError,
    LatticeForbiddenError,
    LatticeInvalidError,
    LatticeNotAvailableError,
    LatticeNotFoundError,
    LatticeQuotaError,
    LatticeRateLimitError,
    LatticeServerError,
    LatticeTimeoutError,
    LatticeUnavailableError,
)
from .models import generated
from .models.generated import *  # noqa: F403
from .models.health import Health
from .models.monitoring import LogLine, Metrics, WatchEvent
from .models.submission import AllocationSpec, Submission
from .models.tasks import LaunchEnd, LaunchEvent, LaunchStarted, NodeTasks, TaskEnd, TaskOutput
from .models.terminals import TerminalEnd, TerminalSignal
from .record import Record
from .retry import RetryPolicy
from .state import FINAL_STATES, State

__version__ = "0.1.0"

__all__ = [
    "AllocationSpec",
    "FINAL_STATES",
    "FieldProblem",
    "Health",
    "LatticeAuthError",
    "LatticeClient",
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
    "LaunchEnd",
    "LaunchEvent",
    "LaunchStarted",
    "LogLine",
    "Metrics",
    "NodeTasks",
    "Record",
    "RetryPolicy",
    "State",
    "Submission",
    "SyncLatticeClient",
    "SyncTerminal",
    "TaskEnd",
    "TaskOutput",
    "Terminal",
    "TerminalEnd",
    "TerminalSignal",
    "WatchEvent",
]
__all__ += generated.__all__
