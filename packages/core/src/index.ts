// The public surface of the pure core.
export * from "./access/grant.ts";
export {
  type EarlierSecret,
  LEAST_SECRET_LENGTH,
  MAX_EARLIER_SECRETS,
  MAX_SECRET_LENGTH,
  type Secret,
  type SecretName,
} from "./access/secret.ts";
export * from "./allocation/allocation.ts";
export { attemptAt, attemptOn } from "./allocation/attempt-on.ts";
export { checkSpec } from "./allocation/check.ts";
export { firstOverlap, parseUenvs, targetProblem, type WantedUenv } from "./allocation/check-software.ts";
export {
  DEPENDENCY_CONDITIONS,
  DEPENDENCY_FAILED,
  type Dependency,
  type DependencyCondition,
  type EndKind,
  MAX_DEPENDENCIES,
} from "./allocation/dependency.ts";
export { describeUnmet, waitReasons } from "./allocation/describe-unmet.ts";
export { type FailureVerdict, judgeFailure } from "./allocation/failure.ts";
export { type HeldAs, type HeldReason, type Hold, heldReason } from "./allocation/hold.ts";
export * from "./allocation/limits.ts";
export { compareAllocationIds } from "./allocation/order.ts";
export {
  type Entries,
  MAX_PAST_ATTEMPTS,
  MAX_PAST_CHECKPOINT_NOTES,
  MAX_PAST_NODES,
  MAX_PAST_NOTES,
  MAX_PAST_REFUSALS,
  type NoteType,
  type Past,
  type PastAttempt,
  type PastFailure,
  type PastNote,
  type PastRefusal,
} from "./allocation/past.ts";
export * from "./allocation/phase.ts";
export { placementConstraints } from "./allocation/placement-constraints.ts";
export { ANYTHING, plainSpec, type SpecDifference } from "./allocation/plain.ts";
export { MAX_PROLOGUE_RETRIES } from "./allocation/prologue.ts";
export { isQueued } from "./allocation/queued.ts";
export { countedRequeues, RAN_WELL, restartPause } from "./allocation/restart.ts";
export * from "./allocation/spec.ts";
export { judgeSubmission } from "./allocation/submit.ts";
export { applyEntry } from "./apply.ts";
export { MAX_AUDIT_DETAIL, MAX_AUDIT_RECORDS } from "./audit/append.ts";
export type { Deed } from "./audit/deed.ts";
export * from "./audit/record.ts";
export { byCodeUnits, canonical } from "./canonical.ts";
export * from "./checkpoint/checkpoint.ts";
export { MAX_CLEARINGS } from "./checkpoint/clear.ts";
export type * from "./checkpoint/clearing.ts";
export type * from "./checkpoint/commands.ts";
export * from "./checkpoint/spec.ts";
export { beginAnew, RESTORED_ID_GAP } from "./cluster/commit-restore.ts";
export { MAX_PIECE_LENGTH, MAX_STAGED_LENGTH } from "./cluster/staging.ts";
export { decodeEntry, EntryFormatError, encodeEntry } from "./codec.ts";
export * from "./command.ts";
export { checkDag } from "./dag/check.ts";
export * from "./dag/dag.ts";
export { checkShape } from "./group/check.ts";
export { groupEnd } from "./group/fold.ts";
export * from "./group/group.ts";
export { type ParsedIndexes, parseIndexes } from "./group/index-list.ts";
export { specToRun } from "./group/index-text.ts";
export type { ElementState } from "./group/marks.ts";
export * from "./group/range.ts";
export { heldIndexes, waitingIndexes } from "./group/waiting.ts";
export * from "./ids.ts";
export { InvariantError, invariant, present } from "./invariant.ts";
export * from "./ledger/index.ts";
export * from "./network/domain.ts";
export { mayUseFabric, sameNodes } from "./network/fabric.ts";
export { GATEWAY_FORM, type Gateway, parseGateway } from "./network/gateway.ts";
export { lingeringIn } from "./network/lingering.ts";
export { freeVni, wantedDomain, whyNoDomain } from "./network/wanted.ts";
export {
  type BlackHole,
  FAULTS_TO_SET_ASIDE,
  QUICK_FAILURE,
  type SetAsideRule,
  whyBlackHole,
} from "./node/black-hole.ts";
export { chooseGpus, type GpuChoice } from "./node/choose-gpus.ts";
export { colocate, type Spot, type Wish } from "./node/colocate.ts";
export { MAX_FAULTS, MOST_QUICK_FAILURE } from "./node/faults.ts";
export { canMoveNode } from "./node/move.ts";
export * from "./node/node.ts";
export { MOST_SET_ASIDE } from "./node/set-aside.ts";
export { fitsRoom, isSharedBy, mayShare, roomOf, shareOf } from "./node/share.ts";
export { describeShortfall, fits, type Offer, type Shortfall, shortfalls } from "./node/shortfalls.ts";
export * from "./node/topology.ts";
export { MAX_DELIVERIES } from "./notice/deliver.ts";
export type { Delivery, EndOfWork, EndState, Hook } from "./notice/hook.ts";
export * from "./notice/notice.ts";
export * from "./outcome.ts";
export * from "./preemption/shield.ts";
export { type LabelMatcher, type Metric, parseMetric } from "./scaling/metric.ts";
export { isHalted, outdatedNodes } from "./scaling/renewal.ts";
export { MOST_TURNS, mostNodes } from "./scaling/scale.ts";
export { type ServiceEndpoint, serviceEndpoints } from "./service/services.ts";
export { MAX_SESSIONS, OWN_SESSION, parseSessionId, type Session, sessionId, sessionsOf } from "./session/session.ts";
export { type ClusterLimits, MAX_POOL_SIZE, NO_LIMITS } from "./settings/limits.ts";
export { poolLeft, sensitiveNodes } from "./settings/pool.ts";
export * from "./settings/setting.ts";
export * from "./sharing/borrow.ts";
export type { Changed, Changes } from "./state/changes.ts";
export { recordsToHash, stateHash, warmStateHash } from "./state/hash.ts";
export { isFree } from "./state/indexes.ts";
export { brokenInvariants } from "./state/invariants.ts";
export { watchInvariants } from "./state/invariants-watch.ts";
export { MAX_REQUEST_ID_LENGTH, MAX_REQUESTS, REQUEST_MEMORY_MS } from "./state/requests.ts";
export { beginRestore, type Restore, SnapshotError } from "./state/restore.ts";
export type { RestoreProof } from "./state/restore-proof.ts";
export { SNAPSHOT_VERSION, snapshotLines } from "./state/snapshot.ts";
export { createState, DEFAULT_RETENTION, type State } from "./state/state.ts";
export type { HashText } from "./state/table.ts";
export * from "./state/view.ts";
export { MAX_BURST_MILLI, MAX_QUOTA } from "./tenant/check.ts";
export * from "./tenant/tenant.ts";
export * from "./vcluster/lending.ts";
export * from "./vcluster/policy.ts";
export { isSensitive, isSensitiveHome } from "./vcluster/sensitive.ts";
export * from "./vcluster/vcluster.ts";
export { COMMAND_VERSIONS, ENTRY_VERSION, entryVersion, VersionTooNewError, versionNeeded } from "./version.ts";
export {
  agreeOnProtocol,
  PROTOCOL,
  type ProtocolAgreement,
  type ProtocolRange,
  protocolRange,
} from "./version-protocol.ts";
