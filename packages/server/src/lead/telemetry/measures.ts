// The last measurements of agents by attempt: in the leader's memory, like heartbeats, and dropped when they are too
// old.

import type { AllocationId, Attempt, Duration, NodeId } from "@lattice/core";
import type { pb } from "@lattice/wire";
import { type Clock, monotonicNow } from "../../base/clock.ts";

/** Returns the last measurement of an attempt; `null` when there is none, or it is too old. */
export type Measured = (node: NodeId, allocation: AllocationId, attempt: Attempt, metric: string) => number | null;

interface Measures {
  record(node: NodeId, measures: readonly pb.AttemptMeasures[]): void;
  readonly value: Measured;
  /** Returns whether the agent reported that the attempt passes its probe. */
  probed(node: NodeId, allocation: AllocationId, attempt: Attempt): boolean;
}

/** 1 for an attempt that has passed its liveness probe; set by its agent, not by its programs. */
const PROBE_OK = "probe_ok";

interface NodeMeasures {
  readonly at: number;
  readonly byAttempt: ReadonlyMap<string, Readonly<Record<string, number>>>;
}

export function createMeasures(clock: Clock, validFor: Duration): Measures {
  const nodes = new Map<NodeId, NodeMeasures>();
  const value: Measured = (node, allocation, attempt, metric) => {
    const last = nodes.get(node);
    if (last === undefined || monotonicNow(clock) - last.at > validFor) return null;
    const found = last.byAttempt.get(`${allocation}.${attempt}`)?.[metric];
    return found !== undefined && Number.isFinite(found) ? found : null;
  };
  return {
    record(node, measures) {
      const byAttempt = new Map(measures.map((m) => [`${m.allocationId}.${m.attempt}`, m.values] as const));
      if (byAttempt.size === 0) nodes.delete(node);
      else nodes.set(node, { at: monotonicNow(clock), byAttempt });
    },
    value,
    probed: (node, allocation, attempt) => value(node, allocation, attempt, PROBE_OK) === 1,
  };
}
