// A query for output; by default everything of the first attempt on its node.

import { type AllocationId, attempt, type NodeId } from "@lattice/core";
import type { LogsQuery } from "../../../src/nodes/output/query.ts";

export const query = (change: Partial<LogsQuery> = {}): LogsQuery => ({
  allocation: "1" as AllocationId,
  attempt: attempt(1),
  node: "n1" as NodeId,
  stream: "stdout",
  tail: 0,
  follow: true,
  offset: 0,
  sinceMs: 0,
  untilMs: 0,
  ...change,
});
