// Whether an allocation is in the queue: it waits for nodes, and for nothing else.

import type { Allocation } from "./allocation.ts";

export const isQueued = ({ phase, unmet, hold }: Allocation): boolean =>
  phase.kind === "pending" && unmet === undefined && hold === undefined && phase.backoffUntil === undefined;
