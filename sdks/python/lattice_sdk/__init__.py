"""The public surface of the Lattice SDK: two clients, what they answer, and what they raise."""

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
from .models.allocations import Allocation, Cancelled, Dependency, Hold, NodeProgress, Submitted, TaskGroupStatus
from .models.cluster import (
    Backup,
    BackupCheck,
    BackupVerification,
    ClusterStatus,
    Health,
    LeaderTransfer,
    Member,
)
from .models.dags import Dag, DagGraph, DagMember, SubmittedDag
from .models.explain import Cause, Explanation, Plan, Suggestion, Timeline, TimelineEntry
from .models.images import CachedImage, Image, NodeCache
from .models.monitoring import AllocationEvent, LogLine, Metrics, WatchEvent
from .models.networks import Grant, NetworkDomain
from .models.nodes import Capabilities, Claim, Node
from .models.services import Service, ServiceEndpoint, ServiceSummary
from .models.submission import AllocationSpec, Submission
from .models.tasks import (
    CreatedSession,
    LaunchEnd,
    LaunchEvent,
    LaunchStarted,
    NodeTasks,
    Session,
    TaskEnd,
    TaskOutput,
)
from .models.tenants import Quota, Tenant, VCluster
from .models.terminals import TerminalEnd, TerminalSignal
from .models.usage import Budget, DayUsage, RunningUsage, ShareOfUsage, Usage
from .retry import RetryPolicy
from .state import FINAL_STATES, State

__version__ = "0.1.0"

__all__ = [
    "Allocation",
    "AllocationEvent",
    "AllocationSpec",
    "Backup",
    "BackupCheck",
    "BackupVerification",
    "Budget",
    "CachedImage",
    "Cancelled",
    "Capabilities",
    "Cause",
    "Claim",
    "ClusterStatus",
    "CreatedSession",
    "Dag",
    "DagGraph",
    "DagMember",
    "DayUsage",
    "Dependency",
    "Explanation",
    "FINAL_STATES",
    "FieldProblem",
    "Grant",
    "Health",
    "Hold",
    "Image",
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
    "LeaderTransfer",
    "LogLine",
    "Member",
    "Metrics",
    "NetworkDomain",
    "Node",
    "NodeCache",
    "NodeProgress",
    "NodeTasks",
    "Plan",
    "Quota",
    "RetryPolicy",
    "RunningUsage",
    "Service",
    "ServiceEndpoint",
    "ServiceSummary",
    "Session",
    "ShareOfUsage",
    "State",
    "Submission",
    "Submitted",
    "SubmittedDag",
    "Suggestion",
    "SyncLatticeClient",
    "SyncTerminal",
    "TaskEnd",
    "TaskGroupStatus",
    "TaskOutput",
    "Tenant",
    "Terminal",
    "TerminalEnd",
    "TerminalSignal",
    "Timeline",
    "TimelineEntry",
    "Usage",
    "VCluster",
    "WatchEvent",
]
