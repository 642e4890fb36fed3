// The tables of the replicated state: one for each kind of record.

import type { AllocationId, DagId, Instant, NodeId, TenantId, UserName, VClusterId } from "../base/ids.ts";
import type { Outcome } from "../base/outcome.ts";
import type { Enrolment } from "../model/access/enrolment.ts";
import type { Grant, GrantKey } from "../model/access/grant.ts";
import type { Secret, SecretName } from "../model/access/secret.ts";
import type { Allocation } from "../model/allocation/allocation.ts";
import type { AuditKey } from "../model/audit/key.ts";
import type { AuditRecord } from "../model/audit/record.ts";
import type { CheckpointRemoval } from "../model/checkpoint/pending-removal.ts";
import type { ClusterIdentity } from "../model/cluster/identity.ts";
import type { Staged } from "../model/cluster/staged.ts";
import type { Dag } from "../model/dag/dag.ts";
import type { TaskGroup } from "../model/group/group.ts";
import type { MarkChunk, MarkKey } from "../model/group/marks.ts";
import type { Bucket, BucketKey } from "../model/ledger/bucket.ts";
import type { Domain, NetworkSettings } from "../model/network/domain.ts";
import type { Node } from "../model/node/node.ts";
import type { Delivery, Hook } from "../model/notice/hook.ts";
import type { Notice } from "../model/notice/notice.ts";
import type { ClusterLimits } from "../model/settings/limits.ts";
import type { Setting } from "../model/settings/setting.ts";
import type { Tenant } from "../model/tenant/tenant.ts";
import type { VCluster } from "../model/vcluster/vcluster.ts";
import type { ChangeLog } from "./changes.ts";
import { createTable, type Table } from "./table.ts";

/** An answered request; a repetition gets the same answer. */
export interface AnsweredRequest {
  /** The number of the answer; the oldest is removed first. */
  readonly n: number;
  readonly user: UserName;
  readonly requestId: string;
  /** The kind of the command. */
  readonly command: string;
  readonly bodyHash: string;
  readonly outcome: Outcome;
  readonly at: Instant;
}

/** A final allocation without claims, or a group; the first to finish leaves first. */
export interface Finished {
  readonly n: number;
  readonly allocation: AllocationId;
}

export interface Tables {
  readonly vclusters: Table<VClusterId, VCluster>;
  readonly tenants: Table<TenantId, Tenant>;
  readonly nodes: Table<NodeId, Node>;
  /** In order of id, except elements of groups. */
  readonly allocations: Table<AllocationId, Allocation>;
  /** By decimal `n`, without gaps: added at the end, removed at the front. */
  readonly requests: Table<string, AnsweredRequest>;
  /** By decimal `n`, without gaps: added at the end, removed at the front. */
  readonly finished: Table<string, Finished>;
  /** The pieces of a restore in progress, by decimal `n`; empty otherwise. */
  readonly staging: Table<string, Staged>;
  /** The use of ended attempts, by day, tenant and user. */
  readonly ledger: Table<BucketKey, Bucket>;
  /** In order of id. */
  readonly groups: Table<AllocationId, TaskGroup>;
  /** The states of the groups' elements. */
  readonly marks: Table<MarkKey, MarkChunk>;
  /** In order of id. */
  readonly dags: Table<DagId, Dag>;
  /** Settings changed at run time. */
  readonly settings: Table<string, Setting>;
  /** In order of time. */
  readonly notices: Table<string, Notice>;
  readonly domains: Table<string, Domain>;
  /** One record, "settings"; empty for the defaults. */
  readonly network: Table<string, NetworkSettings>;
  /** One record, "limits"; empty without limits. */
  readonly limits: Table<string, ClusterLimits>;
  /** One record, "cluster"; empty until the first leader has proposed it. */
  readonly identity: Table<string, ClusterIdentity>;
  readonly hooks: Table<string, Hook>;
  /** In order of time. */
  readonly deliveries: Table<string, Delivery>;
  /** In order of time. */
  readonly clearings: Table<AllocationId, CheckpointRemoval>;
  readonly grants: Table<GrantKey, Grant>;
  /** By id. */
  readonly enrolments: Table<string, Enrolment>;
  readonly secrets: Table<SecretName, Secret>;
  /** By decimal `n`, without gaps: added at the end, removed at the front. */
  readonly audit: Table<string, AuditRecord>;
  /** By id, in order of time. */
  readonly auditKeys: Table<string, AuditKey>;
}

export const createTables = (changes: ChangeLog): Tables => ({
  vclusters: createTable("vcluster"),
  tenants: createTable("tenant", changes.tenant),
  nodes: createTable("node", changes.node, changes.nodes),
  allocations: createTable("allocation", changes.allocation),
  requests: createTable("request"),
  finished: createTable("finished"),
  staging: createTable("staging"),
  ledger: createTable("ledger"),
  groups: createTable("group"),
  marks: createTable("marks"),
  dags: createTable("dag"),
  settings: createTable("setting"),
  notices: createTable("notice"),
  domains: createTable("domain"),
  network: createTable("network"),
  limits: createTable("limits"),
  identity: createTable("identity"),
  hooks: createTable("hook"),
  deliveries: createTable("delivery"),
  clearings: createTable("clearing"),
  grants: createTable("grant"),
  enrolments: createTable("enrolment"),
  secrets: createTable("secret"),
  auditKeys: createTable("audit_key"),
  audit: createTable("audit"),
});
