// A pending allocation with the facts that a cycle derives from it once: its matching nodes, the fewest nodes it can
// start on, how long it occupies them, how many groups it may span.

import type { Constraints } from "@lattice/core";
import { LOW_EFFICIENCY, WALLTIME_GRACE } from "../base/bounds.ts";
import type { CycleInput, PendingInput } from "../input/cycle-input.ts";
import { distinctNumbers, fewestGroups, groupsFor } from "../machine/groups.ts";
import type { Machine } from "../machine/machine.ts";
import type { Match } from "../machine/match.ts";
import { matchFor } from "./candidates.ts";
import { isSameRequest } from "./constraints.ts";

export interface Job {
  readonly input: PendingInput;
  readonly match: Match;
  /** The fewest nodes it can start on: its minimum, or its required nodes where they are more. */
  readonly nodesNeeded: number;
  /** How long it occupies its nodes, in milliseconds, grace included; Infinity when unbounded. */
  readonly occupancy: number;
  /** The most groups it may span; Infinity without a limit. */
  readonly maxGroups: number;
  /** Used little of its nodes in earlier attempts, so it has no claim to quiet, adjacent groups. */
  readonly isInefficient: boolean;
}

/** The part of a job that decides which nodes it can have. */
export type JobShape = Pick<Job, "match" | "nodesNeeded" | "maxGroups" | "isInefficient"> & {
  readonly input: Pick<PendingInput, "constraints" | "maxNodes">;
};

/** Returns the job of a request; remembered across cycles while the hardware stays the same. */
export function toJob(machine: Machine, input: PendingInput, signals: CycleInput["signals"] = undefined): Job {
  if (!machine.inputsOutliveCycle || signals?.efficiency !== undefined) return createJob(machine, input, signals);
  const known = jobsByInput.get(input);
  if (known?.builtFor === machine.matches) return known.job;
  const job = createJob(machine, input, signals);
  jobsByInput.set(input, { builtFor: machine.matches, job });
  return job;
}

/** Whether a slot that serves one job serves the other as well. */
export function areInterchangeable(a: Job, b: Job): boolean {
  if (a.match !== b.match || a.occupancy !== b.occupancy || a.nodesNeeded !== b.nodesNeeded) return false;
  if (a.maxGroups !== b.maxGroups || a.isInefficient !== b.isInefficient) return false;
  return isSameRequest(a.input, b.input);
}

interface KnownJob {
  /** The matches of the hardware index that the job was built for. */
  readonly builtFor: Machine["matches"];
  readonly job: Job;
}

const jobsByInput = new WeakMap<PendingInput, KnownJob>();

function createJob(machine: Machine, input: PendingInput, signals: CycleInput["signals"]): Job {
  const match = matchFor(machine, input.constraints, input.borrowsFrom);
  const nodesNeeded = Math.max(input.minNodes, match.required?.length ?? 0);
  const efficiency = signals?.efficiency?.get(input.id) ?? 1;
  return {
    input,
    match,
    nodesNeeded,
    occupancy: input.walltime === null ? Number.POSITIVE_INFINITY : input.walltime + WALLTIME_GRACE,
    maxGroups: groupLimit(machine, input.constraints, match, nodesNeeded),
    isInefficient: efficiency < LOW_EFFICIENCY,
  };
}

/** Returns the most groups a request may span: a tight one spans no more groups than it needs on an idle machine. */
export function groupLimit(machine: Machine, constraints: Constraints, match: Match, nodesNeeded: number): number {
  const limit = constraints.maxGroups ?? Number.POSITIVE_INFINITY;
  if (constraints.topology !== "tight") return limit;
  const { required, levels, perGroup } = match;
  const fewest =
    required === null || required.length === 0
      ? groupsFor(levels, nodesNeeded)
      : fewestGroups(perGroup, distinctNumbers(machine.groupOf, required), nodesNeeded)?.length;
  return Math.min(limit, fewest ?? limit);
}
