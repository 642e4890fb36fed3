// The victims that a preemption may choose from: only lower classes, none that is about to end, none from class 7 up
// without checkpoints, since all its work would be lost, and none that was preempted five times, since it would never
// end. The snapshot has already applied the rules that do not depend on the preemptor.

import { type AllocationId, compareAllocationIds, NEAR_COMPLETION, NEVER_STOPPED_CLASS } from "@lattice/core";
import { PREEMPTION_COUNT_LIMIT } from "../base/bounds.ts";
import type { CycleInput } from "../input/cycle-input.ts";
import type { VictimInput } from "../input/preemption.ts";
import type { Machine } from "../machine/machine.ts";
import { nodeNumbersOf } from "../machine/node-ids.ts";
import { preemptionCost } from "./cost.ts";

export interface VictimCandidate {
  readonly victim: VictimInput;
  /** Its nodes by number, without nodes outside the snapshot. */
  readonly nodes: readonly number[];
  readonly cost: number;
  /** Its tenant uses more than its share while others wait. */
  readonly overShare: boolean;
}

/** Returns the candidates in the order in which they would be stopped. */
export function victimCandidates(input: CycleInput, machine: Pick<Machine, "indexOf">): readonly VictimCandidate[] {
  const over = tenantsOverShare(input);
  return (input.victims ?? [])
    .filter((victim) => isWorthwhile(victim, input))
    .map((victim) => ({
      victim,
      nodes: nodeNumbersOf(machine, victim.nodes),
      cost: preemptionCost(victim, input),
      overShare: over.has(victim.tenant),
    }))
    .sort(compareCandidates);
}

const isWorthwhile = (victim: VictimInput, input: CycleInput): boolean => {
  const { allocation, preemptionClass, startedAt, walltime, checkpoints, nearCompletion = NEAR_COMPLETION } = victim;
  const { now, signals } = input;
  // An allocation with checkpoints loses no work, however often it is stopped.
  const isTired = checkpoints !== true && victim.preempted >= PREEMPTION_COUNT_LIMIT;
  if (isTired && !victim.borrows && input.isSensitive !== true) return false;
  const left = startedAt === null || walltime === null ? Number.POSITIVE_INFINITY : startedAt + walltime - now;
  if (left <= nearCompletion) return false;
  // A checkpoint is lost while its storage is unavailable; only a sensitive claim does not wait for that.
  const writes = checkpoints === true && !cannotWriteCheckpoint(input, allocation);
  if (checkpoints === true && !writes) return input.isSensitive === true;
  return preemptionClass < NEVER_STOPPED_CLASS || writes || signals?.checkpointMinutes?.has(allocation) === true;
};

export const cannotWriteCheckpoint = ({ signals }: CycleInput, allocation: AllocationId): boolean =>
  signals?.cannotWrite?.has(allocation) === true;

/** Burst use goes first: tenants above their share that were allowed to be. */
function tenantsOverShare({ tenants, nodes }: CycleInput): ReadonlySet<string> {
  const over = new Set<string>();
  for (const { id, nodesInUse, fairShareMilli, burstAllowanceMilli } of tenants) {
    if (burstAllowanceMilli !== undefined && nodesInUse * 1000 > fairShareMilli * nodes.length) over.add(id);
  }
  return over;
}

/** Lower classes first, then burst use, then the cheaper, then the larger, then the younger; the order is total. */
const compareCandidates = (a: VictimCandidate, b: VictimCandidate): number =>
  a.victim.preemptionClass - b.victim.preemptionClass ||
  Number(b.overShare) - Number(a.overShare) ||
  a.cost - b.cost ||
  b.victim.nodes.length - a.victim.nodes.length ||
  compareAllocationIds(b.victim.allocation, a.victim.allocation);
