// How the nodes stand from the view of one allocation: how many fail each constraint, how many could take it,
// who has those that are taken, and for whom free ones are held. Counted after the plan, so that whatever the
// plan starts counts as taken.

import {
  type AllocationId,
  type Instant,
  type NodeId,
  type Shortfall,
  shortfalls,
  type TenantId,
  type VClusterId,
} from "@lattice/core";
import type { NodeInput } from "../cycle-types.ts";
import { isFree } from "../draft.ts";
import type { Job } from "../job.ts";
import type { Machine } from "../machine/machine.ts";
import type { Study } from "./study.ts";

export interface NodeFigures {
  readonly total: number;
  readonly needed: number;
  readonly matching: number;
  readonly free: number;
  readonly failing: readonly { readonly what: string; readonly nodes: number }[];
  /** Most nodes first. */
  readonly busy: readonly BusyWith[];
  /** Matching nodes with those that are not listed. */
  readonly busyWithOthers: number;
  readonly held: readonly HeldFor[];
}

export interface BusyWith {
  readonly allocation: AllocationId;
  readonly tenant: TenantId | null;
  readonly nodes: number;
  /** Null: nobody knows. */
  readonly until: Instant | null;
}

export interface HeldFor {
  readonly allocation: AllocationId | null;
  /** Null: this one. */
  readonly vcluster: VClusterId | null;
  readonly nodes: number;
  readonly startsAt: Instant;
}

/** Listed one by one; the others are counted. */
export const BUSY_LIMIT = 10;
export const HELD_LIMIT = 10;

export function nodeFigures(study: Study, job: Job): NodeFigures {
  const { draft } = study.decided;
  const { machine } = draft;
  const { cells } = machine;
  const matches = new Uint8Array(machine.nodes.length);
  let matching = 0;
  let free = 0;
  for (let node = 0; node < matches.length; node += 1) {
    const cell = cells.ofNode[node] as number;
    if (cell < 0 || job.match.kinds[cells.kindOf[cell] as number] !== 1 || job.match.excluded.has(node)) continue;
    matches[node] = 1;
    matching += 1;
    if (isFree(draft, node)) free += 1;
  }
  const busy = busyWith(study, matches);
  const listed = busy.slice(0, BUSY_LIMIT);
  const named = listed.reduce((sum, { nodes }) => sum + nodes, 0);
  return {
    total: machine.nodes.length,
    needed: job.least,
    matching,
    free,
    failing: failing(machine, job),
    busy: listed,
    busyWithOthers: Math.max(0, matching - free - named),
    held: heldFor(study, job, (node) => matches[node] === 1 && isFree(draft, node)),
  };
}

function busyWith(study: Study, matches: Uint8Array): BusyWith[] {
  const busy: BusyWith[] = [];
  for (const { numbers, allocation, tenant, until } of takenIn(study)) {
    let nodes = 0;
    for (let at = 0; at < numbers.length; at += 1) nodes += matches[numbers[at] as number] as number;
    if (nodes > 0) busy.push({ allocation, tenant, nodes, until });
  }
  return busy.sort((a, b) => b.nodes - a.nodes || (a.allocation < b.allocation ? -1 : 1));
}

type Taken = Omit<BusyWith, "nodes"> & { readonly numbers: number[] };

/** Who has which nodes, by number: worked out once for all who ask about one cycle. */
function takenIn(study: Study): readonly Taken[] {
  const known = taken.get(study);
  if (known !== undefined) return known;
  const { input, result, decided } = study;
  const { indexOf } = decided.draft.machine;
  const made = new Map<AllocationId, Taken>();
  const add = ({ numbers, ...who }: Taken, ids: readonly NodeId[]): void => {
    const one = made.get(who.allocation) ?? { ...who, numbers };
    made.set(who.allocation, one);
    for (const id of ids) {
      const number = indexOf.get(id);
      if (number !== undefined) one.numbers.push(number);
    }
  };
  for (const { allocation, nodes, endsAt, tenant = null } of input.releases) {
    add({ allocation, tenant, until: endsAt, numbers: [] }, nodes);
  }
  const asked = new Map(result.placements.length === 0 ? [] : input.pending.map((pending) => [pending.id, pending]));
  for (const { allocation, nodes } of result.placements) {
    const { walltime = null, tenant = null } = asked.get(allocation) ?? {};
    const until = walltime === null ? null : ((input.now + walltime) as Instant);
    add({ allocation, tenant, until, numbers: [] }, nodes);
  }
  const all = [...made.values()];
  taken.set(study, all);
  return all;
}

const taken = new WeakMap<Study, readonly Taken[]>();

function heldFor({ input, decided }: Study, job: Job, isWanted: (node: number) => boolean): HeldFor[] {
  const { draft } = decided;
  const endsAt = draft.now + job.occupies;
  const held: HeldFor[] = [];
  for (const one of draft.held) {
    if (one.job.input.id === job.input.id || one.startsAt >= endsAt) continue;
    const nodes = one.nodes.filter(isWanted).length;
    if (nodes > 0) held.push({ allocation: one.job.input.id, vcluster: null, nodes, startsAt: one.startsAt });
  }
  for (const { allocation = null, vcluster = null, startsAt, nodes: ids } of input.foreign ?? []) {
    if (startsAt >= endsAt) continue;
    const nodes = ids.flatMap((id) => draft.machine.indexOf.get(id) ?? []).filter(isWanted).length;
    if (nodes > 0) held.push({ allocation, vcluster, nodes, startsAt });
  }
  return held.sort((a, b) => a.startsAt - b.startsAt || b.nodes - a.nodes).slice(0, HELD_LIMIT);
}

/** By kind of hardware, by state of nodes, and by name. */
function failing(machine: Machine, { input: { constraints, borrowsFrom = [] } }: Job): NodeFigures["failing"] {
  const { ofKind, unusable } = tallyOf(machine);
  const counts = new Map(unusable);
  const count = (what: string, by: number): void => void counts.set(what, (counts.get(what) ?? 0) + by);
  const byHardware = { ...constraints, excludedNodes: [] };
  for (const [kind, node] of machine.kinds.entries()) {
    if (node.lender !== undefined && !borrowsFrom.includes(node.lender)) count("not_lent", ofKind[kind] as number);
    for (const what of new Set(shortfalls(byHardware, node.id, node).map(nameOf))) count(what, ofKind[kind] as number);
  }
  const excluded = constraints.excludedNodes.filter((id) => machine.indexOf.has(id)).length;
  if (excluded > 0) count(NAMES.excluded, excluded);
  const unknown = constraints.requiredNodes.filter((id) => !machine.indexOf.has(id)).length;
  if (unknown > 0) count("required_nodes", unknown);
  return [...counts]
    .map(([what, nodes]) => ({ what, nodes }))
    .sort((a, b) => b.nodes - a.nodes || (a.what < b.what ? -1 : 1));
}

interface Tally {
  readonly ofKind: Int32Array;
  /** By state. */
  readonly unusable: ReadonlyMap<string, number>;
}

/** The same for all who ask about one machine. */
function tallyOf(machine: Machine): Tally {
  const known = tallies.get(machine);
  if (known !== undefined) return known;
  const ofKind = new Int32Array(machine.kinds.length);
  const unusable = new Map<string, number>();
  for (let node = 0; node < machine.nodes.length; node += 1) {
    const kind = machine.kindOf[node] as number;
    ofKind[kind] = (ofKind[kind] as number) + 1;
    const { usable, notFreeBecause } = machine.nodes[node] as NodeInput;
    if (!usable) unusable.set(notFreeBecause, (unusable.get(notFreeBecause) ?? 0) + 1);
  }
  tallies.set(machine, { ofKind, unusable });
  return { ofKind, unusable };
}

const tallies = new WeakMap<Machine, Tally>();

/** Which feature is said: one may be mistyped among several that are there. */
const nameOf = (lacking: Shortfall): string =>
  lacking.kind === "feature" ? `${NAMES.feature} ${lacking.wanted}` : NAMES[lacking.kind];

/** As the fields of a submission are called. */
const NAMES = {
  excluded: "excluded_nodes",
  gpu_type: "gpu_type",
  gpu_count: "gpu_count",
  memory: "memory_gb",
  unified_memory: "require_unified_memory",
  cpu_cores: "cpu_cores",
  feature: "features",
} as const satisfies Record<Shortfall["kind"], string>;
