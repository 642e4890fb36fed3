// Measurements of the leader that the planner must know: signals of operators, the needs of checkpoints, and nodes whose
// fingerprint is too old. In the memory of the leader, not in the log.

import type { AllocationId, Duration, Instant, NodeId, View } from "@lattice/core";
import type { Signals } from "@lattice/scheduler";
import type { CheckpointSignals } from "../controllers/checkpoint/answer.ts";
import type { MeasuredFacts } from "../planner/messages.ts";
import type { SignalsRecord, SignalValues } from "./question.ts";
import { createSignalStore, withStorage } from "./signals.ts";

interface MeasuredParts extends StaleParts {
  /** The configured limit of storage; `null` when only signals limit it. */
  readonly storageMBps: number | null;
  readonly checkpoints: { signals(): CheckpointSignals };
}

export interface MeasuredInputs {
  facts(now: Instant): MeasuredFacts;
  signals(now: Instant): SignalsRecord | null;
  setSignals(values: SignalValues, validUntil: Instant): SignalsRecord;
}

export function createMeasuredInputs(parts: MeasuredParts): MeasuredInputs {
  const store = createSignalStore();
  const staleAt = createStaleness(parts);
  const merged = createMerge();
  return {
    facts(now) {
      const sent = withStorage(store.forCycle(now), parts.storageMBps);
      return { signals: merged(sent, parts.checkpoints.signals()), stale: staleAt(now) };
    },
    signals: store.get,
    setSignals: store.set,
  };
}

type Minutes = ReadonlyMap<AllocationId, number>;

/** Signals take precedence over estimates of the broker. Equal inputs give the same map. */
function createMerge(): (sent: Signals | undefined, broker: CheckpointSignals) => Signals {
  let last: {
    readonly sent: Minutes | undefined;
    readonly broker: Minutes | undefined;
    readonly both: Minutes;
  } | null = null;
  const minutesOf = (sent: Minutes | undefined, broker: Minutes | undefined): Minutes | undefined => {
    if (sent === undefined || broker === undefined) return sent ?? broker;
    if (last?.sent !== sent || last.broker !== broker) last = { sent, broker, both: new Map([...broker, ...sent]) };
    return last.both;
  };
  return (sent, broker) => {
    const checkpointMinutes = minutesOf(sent?.checkpointMinutes, broker.checkpointMinutes);
    return { ...sent, ...broker, ...(checkpointMinutes === undefined ? {} : { checkpointMinutes }) };
  };
}

interface StaleParts {
  readonly view: () => Pick<View, "nodes">;
  /** When a node last reported its fingerprint; `null` when unknown. */
  readonly fingerprintAt: (node: NodeId) => Instant | null;
  /** The greatest age of a fingerprint; `null` without a limit. */
  readonly fingerprintWindow: Duration | null;
}

/** All nodes are checked at most this often: a node may have an old fingerprint when its drain ends. */
const CHECK_INTERVAL_MS = 60_000;

/**
 * Returns the nodes whose fingerprint is too old; `null` when there are none, which is nearly always: with such nodes,
 * every cycle builds its snapshot from scratch. Nodes that take no work are ignored.
 */
function createStaleness(parts: StaleParts): (at: Instant) => ReadonlySet<NodeId> | null {
  const { fingerprintWindow, fingerprintAt } = parts;
  if (fingerprintWindow === null) return () => null;
  let quietUntil = Number.NEGATIVE_INFINITY;
  return (at) => {
    if (at < quietUntil) return null;
    const isStale = (node: NodeId): boolean => {
      const reportedAt = fingerprintAt(node);
      return reportedAt !== null && at - reportedAt > fingerprintWindow;
    };
    let oldest: number = at;
    for (const { id, state } of parts.view().nodes()) {
      if (state.kind === "ready") oldest = Math.min(oldest, fingerprintAt(id) ?? at);
    }
    if (at - oldest > fingerprintWindow) return new Set([...idsOf(parts.view())].filter(isStale));
    quietUntil = Math.min(at + CHECK_INTERVAL_MS, oldest + fingerprintWindow + 1);
    return null;
  };
}

function* idsOf(view: Pick<View, "nodes">): Iterable<NodeId> {
  for (const { id } of view.nodes()) yield id;
}
