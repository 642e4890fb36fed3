// What `apply` answers. A refusal is data, the same on every replica; a bug is an exception.

import type {
  AllocationId,
  Attempt,
  DagId,
  Duration,
  Instant,
  LogIndex,
  NodeId,
  TenantId,
  UserName,
  VClusterId,
} from "./ids.ts";

export interface FieldProblem {
  readonly field: string;
  readonly detail: string;
  readonly hint?: string;
}

export type RefusalCode =
  | "invalid_argument"
  | "unknown_allocation"
  | "unknown_node"
  | "unknown_tenant"
  | "unknown_vcluster"
  | "unknown_dag"
  | "unknown_domain"
  | "unknown_grant"
  | "already_exists"
  | "illegal_transition"
  | "not_owner"
  | "forbidden"
  | "quota_exceeded"
  | "tenant_mismatch"
  | "stale_plan"
  | "node_unavailable"
  | "constraint_unmet"
  | "not_assigned"
  | "stale_report"
  | "request_conflict"
  | "cluster_not_empty";

export interface Refusal {
  readonly code: RefusalCode;
  /** One sentence with the figures. */
  readonly detail: string;
  /** What to do instead; absent: what is usual for the code. */
  readonly hint?: string;
  readonly fields?: readonly FieldProblem[];
  /** Figures for programs: current, requested, limit. */
  readonly figures?: Readonly<Record<string, number>>;
}

export interface PlacementResult {
  readonly allocation: AllocationId;
  readonly refusal: Refusal | null;
}

export type Outcome =
  | {
      readonly kind: "accepted";
      /** The record the command made or touched, when there is one. */
      readonly id: string | null;
      /** For plan.commit: one result per placement, in order. */
      readonly placements?: readonly PlacementResult[];
      /** The command changed nothing because it had already been carried out. */
      readonly repeated?: boolean;
    }
  | { readonly kind: "rejected"; readonly refusal: Refusal };

export type EventKind =
  | "allocation_changed"
  | "node_changed"
  | "claim_released"
  | "tenant_changed"
  | "vcluster_changed"
  | "config_changed"
  | "placement_refused"
  | "cluster_restored"
  | "dag_changed"
  | "notice_changed"
  | "delivery_dropped"
  /** A checkpoint was taken, or could not be had: see its reason. */
  | "checkpoint";

/** Something a watcher may want to know. The cursor (index, n) is added by whoever numbers them. */
export interface Event {
  readonly kind: EventKind;
  readonly allocation?: AllocationId;
  readonly attempt?: Attempt;
  readonly node?: NodeId;
  readonly dag?: DagId;
  readonly tenant?: TenantId;
  readonly vcluster?: VClusterId;
  readonly user?: UserName;
  readonly from?: string;
  readonly to?: string;
  readonly reason?: string;
  readonly message?: string;
}

/**
 * What must happen in the world because of a committed entry. Performed only after the entry is
 * durable, only by the leader (run, stop, checkpoint, forget) or by every replica (archive, archive_audit,
 * restore_audit), and safe to repeat.
 */
export type Effect =
  | { readonly kind: "run"; readonly node: NodeId; readonly allocation: AllocationId; readonly attempt: Attempt }
  | {
      readonly kind: "stop";
      readonly node: NodeId;
      readonly allocation: AllocationId;
      readonly attempt: Attempt;
      readonly reason: string;
      /** Between SIGTERM and SIGKILL; absent: the usual. */
      readonly grace?: Duration;
    }
  /** The record says which, and what follows. */
  | { readonly kind: "checkpoint"; readonly node: NodeId; readonly allocation: AllocationId; readonly attempt: Attempt }
  | { readonly kind: "forget"; readonly node: NodeId; readonly allocation: AllocationId; readonly attempt: Attempt }
  | { readonly kind: "archive"; readonly record: import("./allocation/allocation.ts").Allocation }
  | { readonly kind: "archive_audit"; readonly record: import("./audit/record.ts").AuditRecord }
  /** Of a backup: older than all that the state has. */
  | {
      readonly kind: "restore_audit";
      readonly floor: number;
      readonly records: readonly import("./audit/record.ts").AuditRecord[];
    };

/** The result of applying one entry: one outcome per command, and everything that follows. */
export interface Applied {
  readonly index: LogIndex;
  readonly at: Instant;
  readonly outcomes: readonly Outcome[];
  readonly events: readonly Event[];
  readonly effects: readonly Effect[];
}
