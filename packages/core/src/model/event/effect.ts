// Effects: actions outside the state that follow from a committed entry.

import type { AllocationId, Attempt, Duration, NodeId } from "../../base/ids.ts";

/**
 * An action outside the state that a committed entry requires. Performed only after the entry is
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
      /** Between SIGTERM and SIGKILL. Default: the usual grace. */
      readonly grace?: Duration;
    }
  /** The record has the checkpoint and its next step. */
  | { readonly kind: "checkpoint"; readonly node: NodeId; readonly allocation: AllocationId; readonly attempt: Attempt }
  | { readonly kind: "forget"; readonly node: NodeId; readonly allocation: AllocationId; readonly attempt: Attempt }
  | { readonly kind: "archive"; readonly record: import("../allocation/allocation.ts").Allocation }
  | { readonly kind: "archive_audit"; readonly record: import("../audit/record.ts").AuditRecord }
  /** From a backup: older than all records in the state. */
  | {
      readonly kind: "restore_audit";
      readonly floor: number;
      readonly records: readonly import("../audit/record.ts").AuditRecord[];
    };
