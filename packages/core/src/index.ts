// The public surface of the core: every name that another package or a test may import.

export { applyEntry } from "./apply.ts";
export { type Amount, amountOf, MS_PER_HOUR, NO_USE, plus } from "./base/amount.ts";
export { byCodeUnits, canonical } from "./base/canonical.ts";
export { compareAllocationIds } from "./base/id-order.ts";
export {
  type AllocationId,
  type Attempt,
  after,
  allocationIdOf,
  attempt,
  between,
  type DagId,
  DEFAULT_TENANT,
  type Duration,
  duration,
  elementOf,
  type GroupId,
  type Instant,
  instant,
  type LogIndex,
  logIndex,
  type NodeId,
  OTHER_USERS,
  parseAllocationId,
  parseDagId,
  parseGroupId,
  parseNodeId,
  parseTenantId,
  parseUserName,
  parseVClusterId,
  seconds,
  type TenantId,
  type Term,
  term,
  UNKNOWN_USER,
  type UserName,
  unchecked,
  type VClusterId,
} from "./base/ids.ts";
export { InvariantError, present } from "./base/invariant.ts";
export type { FieldProblem, Outcome, Refusal, RefusalCode } from "./base/outcome.ts";
export { failed, ok, type Result } from "./base/result.ts";
export {
  addValue,
  bucketOf,
  emptySketch,
  mergeSketch,
  packedBuckets,
  quantileOf,
  type Sketch,
  sketchOf,
} from "./base/sketch.ts";
export { COMMAND_VERSIONS, ENTRY_VERSION } from "./base/versions.ts";
export { decodeEntry, EntryFormatError, encodeEntry } from "./codec.ts";
export type { Command, Entry } from "./command.ts";
export type { EndBackoffCommand } from "./commands/allocation/end-backoff.ts";
export type { PreemptCommand } from "./commands/allocation/preempt.ts";
export type { RequeueCommand } from "./commands/allocation/requeue.ts";
export type { ScaleCommand } from "./commands/allocation/scale.ts";
export type { ServiceChange, UpdateAllocationCommand } from "./commands/allocation/update.ts";
export type { AttemptCheckpointCommand } from "./commands/attempt/checkpoint.ts";
export type { ExpireCommand } from "./commands/attempt/expire.ts";
export { MAX_PROLOGUE_RETRIES } from "./commands/attempt/failed-start.ts";
export type { ReportCommand } from "./commands/attempt/report.ts";
export { MAX_SIGNED_TOGETHER } from "./commands/audit/sign.ts";
export type { CheckpointClearedCommand } from "./commands/checkpoint/cleared.ts";
export type { ExpireCheckpointCommand } from "./commands/checkpoint/expire.ts";
export { prepareRestoredState, RESTORED_ID_GAP } from "./commands/cluster/restore-commit.ts";
export type { UseEnrolmentCommand } from "./commands/enrolment/use.ts";
export { sameNodes } from "./commands/network/fabric.ts";
export type { NodeHealthCommand } from "./commands/node/health.ts";
export type { ProbeNodeCommand } from "./commands/node/probe.ts";
export type { QuarantineNodeCommand } from "./commands/node/quarantine.ts";
export type { RegisterNodeCommand } from "./commands/node/register.ts";
export type { ClearNoticeCommand } from "./commands/notice/clear.ts";
export type { RaiseNoticeCommand } from "./commands/notice/raise.ts";
export type { UpdateTenantCommand } from "./commands/tenant/update.ts";
export type { UpdateVClusterCommand } from "./commands/vcluster/update.ts";
export { isCommandKind } from "./handlers.ts";
export { type Enrolment, MAX_ENROLMENT_NETWORKS } from "./model/access/enrolment.ts";
export { GRANT_ROLES, type Grant, type GrantRole, grantKey, isGrantRole } from "./model/access/grant.ts";
export { MAX_EARLIER_SECRETS } from "./model/access/secret.ts";
export type { Allocation, Scores } from "./model/allocation/allocation.ts";
export { groupEnd } from "./model/allocation/group-record.ts";
export { specToRun } from "./model/allocation/index-text.ts";
export { isQueued } from "./model/allocation/is-queued.ts";
export { newAllocation } from "./model/allocation/new-allocation.ts";
export { attemptAt, attemptOn } from "./model/allocation/node-attempts.ts";
export {
  MAX_PAST_ATTEMPTS,
  MAX_PAST_CHECKPOINT_NOTES,
  MAX_PAST_NOTES,
  MAX_PAST_REFUSALS,
  type NoteType,
  type PastAttempt,
  type PastFailure,
  type PastNote,
} from "./model/allocation/past.ts";
export {
  type AllocationPhase,
  type AttemptRef,
  allocationMoves,
  type CheckpointingPhase,
  canMove,
  type FailureReason,
  type FinalPhase,
  isActive,
  isFinal,
  isPlaced,
  type NodeProgress,
  type PhaseKind,
  type PlacedPhase,
  type RunningPhase,
} from "./model/allocation/phase.ts";
export { placementConstraints } from "./model/allocation/placement-constraints.ts";
export { fitsRoom, isSharedBy, mayShare, roomOf, shareOf } from "./model/allocation/share.ts";
export {
  type AttemptUsage,
  totalUsage,
  USAGE_FIELDS,
  type UsageField,
  type UsageValues,
} from "./model/allocation/usage.ts";
export type { AuditAction } from "./model/audit/action.ts";
export {
  type AuditKey,
  auditKeyId,
  endorsedText,
  isAuditPublicKey,
  isAuditSignature,
  MAX_AUDIT_KEYS,
  signedText,
} from "./model/audit/key.ts";
export {
  AUDIT_SCOPES,
  type AuditRecord,
  type AuditScope,
  auditHash,
  type BrokenChain,
  brokenChain,
  chainOf,
  isIntact,
} from "./model/audit/record.ts";
export { type CheckSignature, signedChain, verifyKeys } from "./model/audit/verify.ts";
export { type CheckpointResult, MAX_KEPT_CHECKPOINTS } from "./model/checkpoint/checkpoint.ts";
export type { CheckpointRemoval } from "./model/checkpoint/pending-removal.ts";
export {
  CHECKPOINT_MODES,
  type CheckpointMode,
  type CheckpointSpec,
  DEFAULT_CHECKPOINT_TIMEOUT,
  DEFAULT_MAX_DEFERRAL,
} from "./model/checkpoint/spec.ts";
export {
  type ClusterIdentity,
  isClusterId,
  judgeIdentity,
  type KnownIdentity,
} from "./model/cluster/identity.ts";
export {
  compareLogs,
  LOG_START,
  type LogAnswer,
  type LogPosition,
  shortHash,
} from "./model/cluster/log-position.ts";
export {
  type Dag,
  type DagMember,
  type DagNode,
  type DagState,
  DEFAULT_DAG_MEMBERS,
  dagState,
  MAX_DAG_MEMBERS,
  MEMBER_OPEN,
  memberEnd,
} from "./model/dag/dag.ts";
export type { Effect } from "./model/event/effect.ts";
export type { Event } from "./model/event/event.ts";
export { checkShape } from "./model/group/check.ts";
export { heldIndexes, waitingIndexes } from "./model/group/element-states.ts";
export {
  GROUP_WINDOW,
  type GroupCounts,
  type GroupShape,
  hasGroupEnded,
  NO_COUNTS,
  type TaskGroup,
  waitingCount,
} from "./model/group/group.ts";
export { parseIndexes } from "./model/group/index-list.ts";
export {
  countUpTo,
  describeRange,
  type ElementRange,
  type IndexRange,
  indexAt,
  positionOf,
  rangeOfRuns,
  sizeOf,
} from "./model/group/range.ts";
export { type Hold, type HoldKind, holdReason } from "./model/hold.ts";
export { MAX_LEDGER_USERS } from "./model/ledger/bucket.ts";
export { budgetUse, useOf } from "./model/ledger/budget.ts";
export {
  beginOf,
  DAY_MS,
  type Day,
  dayOf,
  firstKeptDay,
  LEDGER_DAYS,
  lastDays,
  type Window,
} from "./model/ledger/day.ts";
export type { Holder, Ledger, RunningNow } from "./model/ledger/ledger.ts";
export {
  DEFAULT_NETWORK,
  type Domain,
  domainKey,
  FIRST_VNI,
  LAST_VNI,
  type NetworkSettings,
  type OwnNetwork,
  poolSize,
} from "./model/network/domain.ts";
export { GATEWAY_FORM, parseGateway } from "./model/network/gateway.ts";
export { chooseGpus } from "./model/node/choose-gpus.ts";
export { type ColocationRequest, colocate, type Spot } from "./model/node/colocate.ts";
export {
  type Capabilities,
  type Claim,
  type Node,
  type NodeState,
  type NodeStateKind,
  nodeMoves,
  type Share,
} from "./model/node/node.ts";
export { FAULTS_TO_QUARANTINE, type QuarantineRule, quarantineReason } from "./model/node/quarantine-rule.ts";
export { describeShortfall, fits, type NodeOffer, type Shortfall, shortfalls } from "./model/node/shortfalls.ts";
export {
  type GpuDevice,
  type GpuLinkKind,
  type GpuTopology,
  hasUnifiedMemory,
  isSuperchip,
  type MemoryDomain,
  type MemoryDomainKind,
  type MemoryInterconnect,
  type MemoryTopology,
  usableMemory,
} from "./model/node/topology.ts";
export type { Delivery, Hook } from "./model/notice/hook.ts";
export { MAX_NOTICES, type Notice, noticeKey, OBSERVED_NOTICES } from "./model/notice/notice.ts";
export type { Origin } from "./model/origin.ts";
export type { Placement } from "./model/plan/placement.ts";
export { OWN_SESSION, parseSessionId, type Session, sessionId } from "./model/session/session.ts";
export { MAX_POOL_SIZE } from "./model/settings/limits.ts";
export type { Setting } from "./model/settings/setting.ts";
export { checkSpec } from "./model/spec/check.ts";
export {
  containerNameProblem,
  firstOverlap,
  imageNameProblem,
  parseUenvs,
  targetProblem,
  type WantedUenv,
} from "./model/spec/check-software.ts";
export { CONSTRAINT_FIELDS, CONSTRAINT_NAMES, type ConstraintName } from "./model/spec/constraint-fields.ts";
export {
  DEPENDENCY_CONDITIONS,
  DEPENDENCY_FAILED,
  type Dependency,
  type DependencyCondition,
  type EndKind,
} from "./model/spec/dependency.ts";
export { MAX_PREEMPTION_CLASS, MAX_STORAGE_MBPS, MAX_WALLTIME_MS, MOUNT_ROOTS } from "./model/spec/limits.ts";
export { parseMetric } from "./model/spec/metric.ts";
export { minimalSpec, NO_CONSTRAINTS } from "./model/spec/minimal.ts";
export {
  type AllocationSpec,
  type Constraints,
  type DataSpec,
  type Environment,
  isService,
  type Lifecycle,
  type LivenessProbe,
  type Mount,
  type OutputFiles,
  type RequeuePolicy,
  type Resources,
  type ScalePolicy,
  type Task,
  TELEMETRY_MODES,
  type TelemetryMode,
  telemetryOf,
} from "./model/spec/spec.ts";
export { MAX_BURST_MILLI, MAX_QUOTA } from "./model/tenant/check.ts";
export { type Ceiling, type Quota, type Tenant, UNLIMITED } from "./model/tenant/tenant.ts";
export {
  DEFAULT_LENDING,
  DEFAULT_MAX_VICTIMS,
  type Lending,
  NEAR_COMPLETION,
  type Preemptible,
} from "./model/vcluster/lending.ts";
export { policyOf } from "./model/vcluster/policy.ts";
export {
  BALANCED_WEIGHTS,
  type Factor,
  type SchedulerKind,
  type VCluster,
  WEIGHT_PROFILES,
  type Weights,
} from "./model/vcluster/vcluster.ts";
export { judgeSubmission } from "./queries/admission.ts";
export { behindRefusal, depthBehind, mayWaitBehind } from "./queries/behind.ts";
export { useRefusal } from "./queries/enrolment.ts";
export { borrowRefusal, lendableNodes } from "./queries/lending.ts";
export { nodesStillInDomains } from "./queries/lingering-domains.ts";
export { freeVni, mayUseFabric } from "./queries/network-domain.ts";
export {
  HIGHEST_CLASS,
  isBorrower,
  NEVER_STOPPED_CLASS,
  type PreemptionReason,
  preemptionProtection,
} from "./queries/preemption.ts";
export { isSensitive, isSensitiveHome } from "./queries/sensitive.ts";
export { poolLeft, sensitiveNodes } from "./queries/sensitive-pool.ts";
export { type ServiceEndpoint, serviceEndpoints } from "./queries/services.ts";
export { waitReasons } from "./queries/wait-reasons.ts";
export type { Changes } from "./state/changes.ts";
export { recordsToHash, stateHash, warmStateHash } from "./state/hash.ts";
export { isFree } from "./state/indexes.ts";
export { beginRestore, type Restore, readSnapshot, SnapshotError, type SnapshotReader } from "./state/restore.ts";
export type { RestoreProof } from "./state/restore-proof.ts";
export { copyLines, snapshotLines } from "./state/snapshot.ts";
export { createState, type State } from "./state/state.ts";
export type { Retention, View } from "./state/view.ts";
export type { Applied } from "./transitions/applied.ts";
export { backoffBefore, countedRequeues, LONG_RUN } from "./transitions/attempt/backoff.ts";
export { MAX_AUDIT_RECORDS } from "./transitions/audit/append.ts";
export { canMoveNode } from "./transitions/claims/move-node.ts";
export { MAX_PIECE_LENGTH } from "./transitions/cluster/staging.ts";
export { MAX_FAULTS, MAX_QUICK_FAILURE } from "./transitions/node/faults.ts";
export { MAX_QUARANTINED_PERCENT } from "./transitions/node/quarantine.ts";
export { MAX_DELIVERIES } from "./transitions/notice/deliver.ts";
export { MAX_REQUEST_ID_LENGTH } from "./transitions/requests.ts";
export { isHalted, outdatedNodes } from "./transitions/scaling/renewal.ts";
export { mostNodes } from "./transitions/scaling/resize.ts";
export { entryVersion, VersionTooNewError, versionNeeded } from "./version.ts";
export { agreeOnProtocol, PROTOCOL, type ProtocolAgreement, protocolRange } from "./version-protocol.ts";
