// Notices: conditions that a user or an administrator must learn of without asking. A notice is for the user it names,
// for the administrators of the tenant it names, or for those of the whole cluster. Its key makes a lasting condition one
// notice: it is raised once, and cleared when the condition is over. The newest are kept, up to a bound.

import type { AllocationId, Instant, NodeId, TenantId, UserName } from "../../base/ids.ts";

export const NOTICE_KINDS = [
  "budget_exhausted",
  "prologue_failed",
  "scaling_oscillates",
  "scaling_metric_missing",
  "scaling_below_minimum",
  "renewal_halted",
  "vni_pool_exhausted",
  "fabric_unavailable",
  "checkpoint_storage_unavailable",
  "node_drifted",
  "node_quarantined",
  "node_broken",
  "node_silent",
  "foreign_cluster",
  "state_diverged",
  "disk_low",
] as const;
type NoticeKind = (typeof NOTICE_KINDS)[number];

/** Nothing shows that the cause of these is gone, except that it is not observed any more. */
export const OBSERVED_NOTICES: ReadonlySet<NoticeKind> = new Set<NoticeKind>(["foreign_cluster"]);

/** Enough for months of a troubled cluster. */
export const MAX_NOTICES = 1_000;
export const MAX_NOTICE_LENGTH = 1_024;

export interface Notice {
  /** "budget_exhausted/physics": the kind and the subject. */
  readonly key: string;
  readonly kind: NoticeKind;
  readonly at: Instant;
  readonly text: string;
  /** `null` without a user: the notice is for the administrators of the cluster. */
  readonly tenant: TenantId | null;
  /** `null`: the notice is for the administrators of the tenant. */
  readonly user: UserName | null;
  readonly allocation?: AllocationId;
  readonly node?: NodeId;
  /** When the cause was last observed, where only its occurrences can be observed. Default: `at`. */
  readonly seenAt?: Instant;
  /** Set once the cause is gone. */
  readonly clearedAt?: Instant;
}

export const noticeKey = (kind: NoticeKind, subject: string): string => `${kind}/${subject}`;
