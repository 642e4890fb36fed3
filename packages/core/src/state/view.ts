// The read-only view of the state for the scheduler, the controllers and the API handlers.

import type {
  AllocationId,
  DagId,
  Duration,
  Instant,
  LogIndex,
  NodeId,
  TenantId,
  UserName,
  VClusterId,
} from "../base/ids.ts";
import type { Enrolment } from "../model/access/enrolment.ts";
import type { Grant } from "../model/access/grant.ts";
import type { EarlierSecret, SecretName } from "../model/access/secret.ts";
import type { Allocation } from "../model/allocation/allocation.ts";
import type { PhaseKind } from "../model/allocation/phase.ts";
import type { AuditKey } from "../model/audit/key.ts";
import type { AuditRecord } from "../model/audit/record.ts";
import type { CheckpointRemoval } from "../model/checkpoint/pending-removal.ts";
import type { ClusterIdentity } from "../model/cluster/identity.ts";
import type { Dag } from "../model/dag/dag.ts";
import type { TaskGroup } from "../model/group/group.ts";
import type { ElementState } from "../model/group/marks.ts";
import type { HoldKind } from "../model/hold.ts";
import type { Ledger } from "../model/ledger/ledger.ts";
import type { Domain, NetworkSettings } from "../model/network/domain.ts";
import type { Node } from "../model/node/node.ts";
import type { Delivery, Hook } from "../model/notice/hook.ts";
import type { Notice } from "../model/notice/notice.ts";
import type { ClusterLimits } from "../model/settings/limits.ts";
import type { Setting } from "../model/settings/setting.ts";
import type { Tenant } from "../model/tenant/tenant.ts";
import type { VCluster } from "../model/vcluster/vcluster.ts";
import type { Changes } from "./changes.ts";
import type { AnsweredRequest } from "./tables.ts";

export interface TenantUsage {
  /** Nodes on which the tenant holds a claim, releasing ones included. */
  readonly nodes: number;
  /** Allocations that are staging, running or checkpointing. */
  readonly running: number;
}

export interface Retention {
  readonly maxFinished: number;
  readonly maxFinishedAge: Duration;
}

export interface View {
  /** Index of the last entry applied; 0 before the first. */
  readonly index: LogIndex;
  /** Time of the last entry applied. */
  readonly at: Instant;
  /** The version of the newest entry applied. */
  readonly version: number;
  readonly retention: Retention;

  allocation(id: AllocationId): Allocation | undefined;
  /** In order of id number: the order of submission. */
  allocations(): Iterable<Allocation>;
  readonly allocationCount: number;
  /** How many allocations are in the phase. */
  phaseCount(kind: PhaseKind): number;
  /** Without elements of groups, newest first: those below `before`, or all. A change invalidates the iterator. */
  newest(before: AllocationId | null): Iterable<Allocation>;
  /** Allocations of one user, including elements of groups, in order of id. */
  ofUser(user: UserName): Iterable<Allocation>;
  ofUserCount(user: UserName): number;
  /** Allocations that wait for nodes and for nothing else, in order of submission. */
  pending(vcluster: VClusterId): Iterable<Allocation>;
  pendingCount(vcluster: VClusterId): number;
  /** The highest pending class of the vCluster; -1 without pending work. */
  highestPendingClass(vcluster: VClusterId): number;
  /** Preemptors that have not started yet, in order of id. */
  awaiting(): Iterable<Allocation>;
  /** Pending with unmet dependencies, in order of id. */
  blocked(): Iterable<Allocation>;
  readonly blockedCount: number;
  /** Services in their restart delay, in order of id. */
  held(): Iterable<Allocation>;
  /** Pending allocations on hold, in order of id. */
  onHold(): Iterable<Allocation>;
  readonly onHoldCount: number;
  /** Staging, running or checkpointing, in order of id. */
  placed(): Iterable<Allocation>;
  readonly placedCount: number;
  /** The lowest class of all placed work; infinite when nothing is placed. */
  readonly lowestPlacedClass: number;

  node(id: NodeId): Node | undefined;
  /** In order of id. */
  nodes(): Iterable<Node>;
  readonly nodeCount: number;
  /** Ready nodes without claims, from an index. */
  readonly freeNodeCount: number;
  /** Home nodes of the vCluster, and those of them that are lent. */
  homeNodes(vcluster: VClusterId): { readonly home: number; readonly lent: number };

  tenant(id: TenantId): Tenant | undefined;
  tenants(): Iterable<Tenant>;
  usage(tenant: TenantId): TenantUsage;
  /** Nodes that its work holds, including nodes that are still being released. */
  claimedNodes(vcluster: VClusterId): number;
  /** Machine time used over the last 90 days, by tenant and user. */
  readonly ledger: Ledger;

  vcluster(id: VClusterId): VCluster | undefined;
  vclusters(): Iterable<VCluster>;

  group(id: AllocationId): TaskGroup | undefined;
  /** In order of id. */
  groups(): Iterable<TaskGroup>;
  /** Elements that are pending. */
  pendingElements(group: AllocationId): number;
  /** Elements of a group that are suspended until a user resumes them. */
  restingElements(group: AllocationId): number;
  /** Returns the state of an element; null when the group has no such index. */
  element(group: TaskGroup, index: number): ElementState | null;
  /** Returns the kind of hold on an element without a record; `null` when it is not held. */
  elementHold(group: TaskGroup, index: number): HoldKind | null;
  /** Positions of held elements without a record, in order. */
  heldElements(group: TaskGroup, as: HoldKind): Iterable<number>;

  /** Returns `null` when the name is free. */
  mutexHolder(tenant: TenantId, name: string): AllocationId | null;

  dag(id: DagId): Dag | undefined;
  /** In order of id. */
  dags(): Iterable<Dag>;
  /** Settings changed at run time; all others come from each server's configuration file. */
  settings(): Iterable<Setting>;
  notice(key: string): Notice | undefined;
  /** In order of time. */
  notices(): Iterable<Notice>;
  readonly network: NetworkSettings;
  readonly limits: ClusterLimits;
  /** `null` until the first leader of the log has committed it. */
  readonly identity: ClusterIdentity | null;
  domain(key: string): Domain | undefined;
  /** In order of creation. */
  domains(): Iterable<Domain>;
  hooks(): Iterable<Hook>;
  /** Pending webhook deliveries, in order of time. */
  deliveries(): Iterable<Delivery>;
  /** Checkpoints whose removal no node has accepted yet, in order of time. */
  clearings(): Iterable<CheckpointRemoval>;

  /** Roles of users in tenants, besides those in tokens. */
  grants(): Iterable<Grant>;
  grantsOf(user: UserName): readonly Grant[];
  enrolments(): Iterable<Enrolment>;
  enrolment(id: string): Enrolment | undefined;
  /** Returns a secret of the cluster, for its servers only; `null` before it is made. */
  secret(name: SecretName): string | null;
  /** The values it replaced, newest first; some may have expired. */
  earlierSecrets(name: SecretName): readonly EarlierSecret[];
  /** The newest audit records, in order. */
  audit(): Iterable<AuditRecord>;
  lastAudit(): AuditRecord | undefined;
  /** One of the newest records. */
  auditRecord(n: number): AuditRecord | undefined;
  /** The number of the newest signed record; 0 for none. */
  signedAudit(): number;
  /** All public keys of the audit log, in order. */
  auditKeys(): Iterable<AuditKey>;
  /** The key that signs new records; `null` before the first one, and after a restore until the next one begins. */
  auditKey(): AuditKey | null;
  /** Returns the answer to a request of this id within the last day; `undefined` when there was none. */
  request(user: UserName, requestId: string): AnsweredRequest | undefined;
  /** Returns how many answers to a user are remembered, and the oldest. */
  requestsOf(user: UserName): { readonly count: number; readonly oldest: AnsweredRequest | undefined };
  /** For readers that keep data derived from nodes, allocations and tenants. */
  readonly changes: Changes;
}
