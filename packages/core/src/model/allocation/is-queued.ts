// Whether an allocation is in the queue: pending, and waiting for nodes only.

import type { Allocation } from "./allocation.ts";

export const isQueued = ({ phase, unmet, hold }: Allocation): boolean =>
  phase.kind === "pending" && unmet.length === 0 && hold === undefined && phase.backoffUntil === undefined;
