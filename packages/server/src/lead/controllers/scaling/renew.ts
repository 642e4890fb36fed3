// The next step of a rolling update: a node with the new program is added before one with the old is given up, where one is free;
// nothing more is done before the new program is known to be well there, or after it has failed. Pure.

import {
  type Allocation,
  attemptAt,
  between,
  type Duration,
  duration,
  type Instant,
  isHalted,
  type NodeId,
  outdatedNodes,
  type RequeueCommand,
  type RunningPhase,
  type ScaleCommand,
} from "@lattice/core";
import { type Ground, nodeToRemove } from "./choose-node.ts";
import { scaleOf } from "./scale-of.ts";

export interface RenewalGround extends Ground {
  /** By the time of day, to be compared with what the log says. */
  readonly today: Instant;
  /** The agent has said that the attempt answers its probe. */
  readonly probed: (node: NodeId, record: Allocation, attempt: number) => boolean;
  /** Where one more node would be; null: nowhere, or there is no room in the quota. */
  readonly another: () => NodeId | null;
}

/** Without a probe, a program that has run for this long counts as started. */
export const SETTLED: Duration = duration(3_000);

/** Returns `null` when every node runs the current version. */
export function renew(
  record: Allocation,
  phase: RunningPhase,
  ground: RenewalGround,
): readonly (ScaleCommand | RequeueCommand)[] | null {
  const { renewal } = record;
  const old = outdatedNodes(record, phase);
  if (renewal === undefined || old === 0) return null;
  if (isHalted(record, phase) || !isWell(record, phase, renewal.through, ground)) return [];
  const detail = `${old} of ${phase.nodes.length} nodes run what was there before an update`;
  const give = (): ScaleCommand[] => {
    const node = nodeToRemove(ground.view, record, phase, renewal.through);
    return node === null ? [] : [scaleOf(record, phase, { change: "remove", node, reason: "renewal", detail })];
  };
  if (phase.nodes.length > renewal.size) return give();
  const node = ground.another();
  if (node !== null) return [scaleOf(record, phase, { change: "add", node, reason: "renewal", detail })];
  if (phase.nodes.length > 1 && phase.nodes.length >= renewal.size) return give();
  // The last node, or one that is still to be replaced while another is on its way.
  if (phase.nodes.length > 1) return [];
  return [{ kind: "allocation.requeue", allocation: record.id, expectedRequeues: record.requeues, cause: "updated" }];
}

/** Every node with the new program. */
function isWell(record: Allocation, phase: RunningPhase, through: number, ground: RenewalGround): boolean {
  const since = between(phase.countedFrom ?? phase.startedAt, ground.today);
  return phase.nodes.every((node, i) => {
    const attempt = attemptAt(record, phase, i);
    if (attempt <= through) return true;
    if (phase.progress[i]?.state !== "running") return false;
    const { probe } = record.spec;
    if (probe === undefined) return since >= SETTLED;
    // An attempt that has run for this long has passed its probe, or it would have been stopped.
    const { initialDelay, failureThreshold, period, timeout } = probe;
    const judged = initialDelay + (failureThreshold + 1) * (period + timeout);
    return ground.probed(node, record, attempt) || since >= judged;
  });
}
