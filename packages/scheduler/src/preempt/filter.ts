// Whom an allocation may have stopped: only lower classes; nobody who is as good as at its end; from
// class 7 on nobody who takes no checkpoints, since all of its work would be lost; and for a higher class nobody who was stopped
// five times already, since it would never end. Rules that do not
// depend on who asks have been applied by whoever made the input.

import { type AllocationId, compareAllocationIds, NEAR_COMPLETION, NEVER_STOPPED_CLASS } from "@lattice/core";
import type { CycleInput } from "../cycle-types.ts";
import { MOST_STOPS } from "../limits.ts";
import type { Machine } from "../machine/machine.ts";
import { preemptionCost } from "./cost.ts";
import type { VictimInput } from "./preempt-types.ts";

export interface Candidate {
  readonly victim: VictimInput;
  /** Its nodes by number; those that the cycle does not see are left out. */
  readonly nodes: readonly number[];
  readonly cost: number;
  /** Its tenant uses more than its share while others wait. */
  readonly overShare: boolean;
}

/** For anybody: in the order in which they would go, whoever asks. */
export function stoppable(input: CycleInput, { indexOf }: Pick<Machine, "indexOf">): readonly Candidate[] {
  const over = tenantsOverShare(input);
  return (input.victims ?? [])
    .filter((victim) => isWorthwhile(victim, input))
    .map((victim) => ({
      victim,
      nodes: victim.nodes.flatMap((id) => indexOf.get(id) ?? []),
      cost: preemptionCost(victim, input),
      overShare: over.has(victim.tenant),
    }))
    .sort(inOrder);
}

const isWorthwhile = (victim: VictimInput, input: CycleInput): boolean => {
  const { allocation, preemptionClass, startedAt, walltime, checkpoints, nearCompletion = NEAR_COMPLETION } = victim;
  const { now, signals } = input;
  // Who saves its work loses none of it, however often.
  const isTired = checkpoints !== true && (victim.preempted ?? 0) >= MOST_STOPS;
  if (isTired && !victim.borrows && input.sensitive !== true) return false;
  const left = startedAt === null || walltime === null ? Number.POSITIVE_INFINITY : startedAt + walltime - now;
  if (left <= nearCompletion) return false;
  // What it would write is lost while the storage is away; only a sensitive claim does not wait for that.
  const writes = checkpoints === true && !cannotWrite(input, allocation);
  if (checkpoints === true && !writes) return input.sensitive === true;
  return preemptionClass < NEVER_STOPPED_CLASS || writes || signals?.checkpointMinutes?.has(allocation) === true;
};

export const cannotWrite = ({ signals }: CycleInput, allocation: AllocationId): boolean =>
  signals?.cannotWrite?.has(allocation) === true;

/** Burst use is the first to go: those that are above their share and were allowed to be. */
function tenantsOverShare({ tenants, nodes }: CycleInput): ReadonlySet<string> {
  const over = new Set<string>();
  for (const { id, nodesInUse, fairShareMilli, burstAllowanceMilli } of tenants) {
    if (burstAllowanceMilli !== undefined && nodesInUse * 1000 > fairShareMilli * nodes.length) over.add(id);
  }
  return over;
}

/** Lower classes first, then burst use, then the cheaper, then the larger, then the younger; the order is total. */
const inOrder = (a: Candidate, b: Candidate): number =>
  a.victim.preemptionClass - b.victim.preemptionClass ||
  Number(b.overShare) - Number(a.overShare) ||
  a.cost - b.cost ||
  b.victim.nodes.length - a.victim.nodes.length ||
  compareAllocationIds(b.victim.allocation, a.victim.allocation);
