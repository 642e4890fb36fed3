// Notices: what somebody must be told without asking. One is for the user it names, for the
// administrators of the tenant it names, or for those of the whole cluster. A notice has a key, so that
// what lasts is told once: it is raised, and cleared when it is over. The newest are kept, up to a bound.

import type { AllocationId, Instant, NodeId, TenantId, UserName } from "../ids.ts";

export const NOTICE_KINDS = [
  "budget_exhausted",
  "prologue_failed",
  "scaling_oscillates",
  "scaling_metric_missing",
  "scaling_below_minimum",
  "renewal_halted",
  "vni_pool_exhausted",
  "fabric_unavailable",
  "checkpoint_storage_away",
  "node_drifted",
  "node_set_aside",
  "node_broken",
  "node_silent",
] as const;
export type NoticeKind = (typeof NOTICE_KINDS)[number];

/** Months of a troubled cluster. */
export const MAX_NOTICES = 1_000;
export const MAX_NOTICE_LENGTH = 1_024;

export interface Notice {
  /** "budget_exhausted/physics": the kind, and whom or what it is about. */
  readonly key: string;
  readonly kind: NoticeKind;
  readonly at: Instant;
  readonly text: string;
  /** Null, and no user: for the administrators of the cluster. */
  readonly tenant: TenantId | null;
  /** Null: for the administrators of the tenant. */
  readonly user: UserName | null;
  readonly allocation?: AllocationId;
  readonly node?: NodeId;
  /** Absent: it lasts, or needs no end. */
  readonly clearedAt?: Instant;
}

export const noticeKey = (kind: NoticeKind, subject: string): string => `${kind}/${subject}`;
