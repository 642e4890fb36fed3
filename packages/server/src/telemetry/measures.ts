// What agents have last said of the attempts they run: in the leader's memory, like heartbeats, and forgotten when it is
// too old to be true.

import type { AllocationId, Attempt, Duration, NodeId } from "@lattice/core";
import type { pb } from "@lattice/wire";
import { type Clock, steadyNow } from "../clock.ts";

/** What an agent has told of one attempt in a heartbeat; null: nothing, or too long ago. */
export type Measured = (node: NodeId, allocation: AllocationId, attempt: Attempt, metric: string) => number | null;

export interface Measures {
  told(node: NodeId, measures: readonly pb.AttemptMeasures[]): void;
  readonly value: Measured;
  /** The agent has said that the attempt answers its probe. */
  probed(node: NodeId, allocation: AllocationId, attempt: Attempt): boolean;
}

/** Of an attempt that has answered its liveness probe: 1. By its agent, whatever its programs say. */
const PROBE_OK = "probe_ok";

interface Told {
  readonly at: number;
  readonly byAttempt: ReadonlyMap<string, Readonly<Record<string, number>>>;
}

export function createMeasures(clock: Clock, validFor: Duration): Measures {
  const nodes = new Map<NodeId, Told>();
  const value: Measured = (node, allocation, attempt, metric) => {
    const told = nodes.get(node);
    if (told === undefined || steadyNow(clock) - told.at > validFor) return null;
    const found = told.byAttempt.get(`${allocation}.${attempt}`)?.[metric];
    return found !== undefined && Number.isFinite(found) ? found : null;
  };
  return {
    told(node, measures) {
      const byAttempt = new Map(measures.map((m) => [`${m.allocationId}.${m.attempt}`, m.values] as const));
      if (byAttempt.size === 0) nodes.delete(node);
      else nodes.set(node, { at: steadyNow(clock), byAttempt });
    },
    value,
    probed: (node, allocation, attempt) => value(node, allocation, attempt, PROBE_OK) === 1,
  };
}
