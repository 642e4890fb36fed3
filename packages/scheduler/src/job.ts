// A pending allocation with what the cycle works out about it once: its candidates, the fewest nodes it
// can start on, how long it occupies them, how many groups it may span.

import { candidates } from "./candidates.ts";
import type { CycleInput, PendingInput } from "./cycle-types.ts";
import { kindMerit } from "./intra/merit.ts";
import { LOW_EFFICIENCY, WALLTIME_GRACE } from "./limits.ts";
import type { Machine } from "./machine/machine.ts";
import type { Match } from "./machine/match.ts";
import { type Ask, choose } from "./place/choose.ts";
import { fewestGroups, groupsFor } from "./place/groups.ts";
import type { Tiers } from "./place/tiers.ts";

export interface Job {
  readonly input: PendingInput;
  readonly match: Match;
  /** The fewest nodes it can start on: its minimum, or its required nodes where they are more. */
  readonly least: number;
  /** How long its nodes are gone once it starts, grace included; Infinity when unbounded. */
  readonly occupies: number;
  readonly maxGroups: number;
  /** Makes no claim to the best places. */
  readonly modest: boolean;
}

export function jobOf(machine: Machine, input: PendingInput, signals: CycleInput["signals"] = undefined): Job {
  if (!machine.isKept || signals?.efficiency !== undefined) return makeJob(machine, input, signals);
  const known = kept.get(input);
  if (known?.of === machine.matches) return known.job;
  const job = makeJob(machine, input, signals);
  kept.set(input, { of: machine.matches, job });
  return job;
}

/** By input, for as long as the floor is the same: its matches tell. */
const kept = new WeakMap<PendingInput, { readonly of: Machine["matches"]; readonly job: Job }>();

function makeJob(machine: Machine, input: PendingInput, signals: CycleInput["signals"]): Job {
  const occupies = input.walltime === null ? Number.POSITIVE_INFINITY : input.walltime + WALLTIME_GRACE;
  const match = candidates(machine, input.constraints, input.borrowsFrom);
  const least = Math.max(input.minNodes, match.required?.length ?? 0);
  const efficiency = signals?.efficiency?.get(input.id) ?? 1;
  return {
    input,
    match,
    least,
    occupies,
    maxGroups: span(machine, input, match, least),
    modest: efficiency < LOW_EFFICIENCY,
  };
}

/** A tight allocation spans no more groups than it would were all its candidates free. */
function span(machine: Machine, input: PendingInput, match: Match, least: number): number {
  const most = input.maxGroups ?? Number.POSITIVE_INFINITY;
  if (input.constraints.topology !== "tight") return most;
  if (match.required === null || match.required.length === 0)
    return Math.min(most, groupsFor(match.levels, least) ?? most);
  return Math.min(most, fewestGroups(match.perGroup, groupsOf(machine, match.required), least)?.length ?? most);
}

/** What to ask of `choose`, beside the required nodes; `atMost` is cut to the quota's headroom by the caller. */
export function askOf(machine: Machine, job: Job, atMost: number, tiers: Tiers | null = null): Ask {
  const { constraints } = job.input;
  const required = job.match.required ?? [];
  return {
    atLeast: job.least - required.length,
    atMost: atMost - required.length,
    tight: constraints.topology === "tight",
    maxGroups: job.maxGroups,
    alike: constraints.requireConformance === true,
    required: required.length,
    forced: required.length === 0 ? NONE : groupsOf(machine, required),
    forcedConformance: required.length === 0 ? NONE : conformancesOf(machine, required),
    modest: job.modest,
    tiers: tiers === null ? [] : tiers.of(job.match.hardware),
    kindMerit: kindMerit(machine, constraints) ?? tiers?.merit ?? null,
    packing: machine.packing,
  };
}

/** Could it ever start on these nodes, were all of them free? */
export function isPossible(machine: Machine, job: Job): boolean {
  const { required, size } = job.match;
  if (required === null || size < job.least || job.least > job.input.maxNodes) return false;
  const alike = job.input.constraints.requireConformance === true && job.least > 1;
  if (required.length === 0 && !alike) return (groupsFor(job.match.levels, job.least) ?? Infinity) <= job.maxGroups;
  if (!alike && job.maxGroups === Number.POSITIVE_INFINITY) return true;
  const known = possible.get(job);
  if (known !== undefined) return known;
  const fits = choose(machine, everything(machine, job), askOf(machine, job, job.least)) !== null;
  possible.set(job, fits);
  return fits;
}

/** A job is asked about when it is tried and when it is explained. */
const possible = new WeakMap<Job, boolean>();

function everything({ cells }: Machine, { match }: Job) {
  const counts = new Int32Array(cells.count);
  for (const cell of match.cells) counts[cell] = (cells.start[cell + 1] as number) - (cells.start[cell] as number);
  const named = [...match.excluded, ...(match.required ?? [])];
  for (const node of named) counts[cells.ofNode[node] as number] = (counts[cells.ofNode[node] as number] as number) - 1;
  return { cells: match.cells, counts, total: match.size - (match.required?.length ?? 0) };
}

const NONE: readonly number[] = [];

const groupsOf = (machine: Machine, nodes: readonly number[]): number[] =>
  [...new Set(nodes.map((node) => machine.groupOf[node] as number))].sort((a, b) => a - b);

const conformancesOf = (machine: Machine, nodes: readonly number[]): number[] =>
  [...new Set(nodes.map((node) => machine.conformanceOf[node] as number))].sort((a, b) => a - b);
