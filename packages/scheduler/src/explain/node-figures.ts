// The nodes from the view of one allocation: how many fail each constraint, how many match, which allocations occupy
// the busy ones, and for which the free ones are reserved. Counted after the plan, so that its starts count as busy.

import {
  type AllocationId,
  after,
  type Instant,
  type NodeId,
  shortfalls,
  type TenantId,
  type VClusterId,
} from "@lattice/core";
import type { Job } from "../fit/job.ts";
import type { NodeInput } from "../input/cycle-input.ts";
import type { Machine } from "../machine/machine.ts";
import { isFree } from "../plan/draft.ts";
import { EXCLUDED, shortfallField } from "./constraint-texts.ts";
import type { CycleRecord } from "./cycle-record.ts";

export interface NodeFigures {
  readonly total: number;
  readonly needed: number;
  readonly matching: number;
  readonly free: number;
  readonly failing: readonly { readonly what: string; readonly nodes: number }[];
  /** Most nodes first. */
  readonly busy: readonly BusyWith[];
  /** Matching nodes of allocations that are not listed. */
  readonly busyWithOthers: number;
  readonly reserved: readonly ReservedFor[];
}

interface BusyWith {
  readonly allocation: AllocationId;
  readonly tenant: TenantId | null;
  readonly nodes: number;
  /** `null` when unknown. */
  readonly until: Instant | null;
}

interface ReservedFor {
  readonly allocation: AllocationId | null;
  /** `null` for this vCluster. */
  readonly vcluster: VClusterId | null;
  readonly nodes: number;
  readonly startsAt: Instant;
}

/** Entries listed one by one; the rest is counted. */
const BUSY_LIMIT = 10;
const HELD_LIMIT = 10;

export function nodeFigures(record: CycleRecord, job: Job): NodeFigures {
  const { draft } = record.decision;
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
  const busy = busyWith(record, matches);
  const listed = busy.slice(0, BUSY_LIMIT);
  const named = listed.reduce((sum, { nodes }) => sum + nodes, 0);
  return {
    total: machine.nodes.length,
    needed: job.nodesNeeded,
    matching,
    free,
    failing: failing(machine, job),
    busy: listed,
    busyWithOthers: Math.max(0, matching - free - named),
    reserved: reservedFor(record, job, (node) => matches[node] === 1 && isFree(draft, node)),
  };
}

function busyWith(record: CycleRecord, matches: Uint8Array): BusyWith[] {
  const busy: BusyWith[] = [];
  for (const { numbers, allocation, tenant, until } of takenNodes(record)) {
    let nodes = 0;
    for (let at = 0; at < numbers.length; at += 1) nodes += matches[numbers[at] as number] as number;
    if (nodes > 0) busy.push({ allocation, tenant, nodes, until });
  }
  return busy.sort((a, b) => b.nodes - a.nodes || (a.allocation < b.allocation ? -1 : 1));
}

type TakenNodes = Omit<BusyWith, "nodes"> & { readonly numbers: number[] };

/** The nodes of each allocation, by number; computed once per cycle. */
function takenNodes(record: CycleRecord): readonly TakenNodes[] {
  const known = taken.get(record);
  if (known !== undefined) return known;
  const { input, result, decision } = record;
  const { indexOf } = decision.draft.machine;
  const made = new Map<AllocationId, TakenNodes>();
  const add = ({ numbers, ...who }: TakenNodes, ids: readonly NodeId[]): void => {
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
    const until = walltime === null ? null : after(input.now, walltime);
    add({ allocation, tenant, until, numbers: [] }, nodes);
  }
  const all = [...made.values()];
  taken.set(record, all);
  return all;
}

const taken = new WeakMap<CycleRecord, readonly TakenNodes[]>();

function reservedFor({ input, decision }: CycleRecord, job: Job, isUsable: (node: number) => boolean): ReservedFor[] {
  const { draft } = decision;
  const endsAt = draft.now + job.occupancy;
  const reservation: ReservedFor[] = [];
  for (const one of draft.reservations) {
    if (one.job.input.id === job.input.id || one.startsAt >= endsAt) continue;
    const nodes = one.nodes.filter(isUsable).length;
    if (nodes > 0) reservation.push({ allocation: one.job.input.id, vcluster: null, nodes, startsAt: one.startsAt });
  }
  for (const { allocation = null, vcluster = null, startsAt, nodes: ids } of input.foreignReservations ?? []) {
    if (startsAt >= endsAt) continue;
    const nodes = ids.flatMap((id) => draft.machine.indexOf.get(id) ?? []).filter(isUsable).length;
    if (nodes > 0) reservation.push({ allocation, vcluster, nodes, startsAt });
  }
  return reservation.sort((a, b) => a.startsAt - b.startsAt || b.nodes - a.nodes).slice(0, HELD_LIMIT);
}

/** By hardware, by node state, and by name. */
function failing(machine: Machine, { input: { constraints, borrowsFrom = [] } }: Job): NodeFigures["failing"] {
  const { ofKind, unusable } = tallyOf(machine);
  const counts = new Map(unusable);
  const count = (what: string, by: number): void => void counts.set(what, (counts.get(what) ?? 0) + by);
  const byHardware = { ...constraints, excludedNodes: [] };
  for (const [kind, node] of machine.kinds.entries()) {
    if (node.lender !== undefined && !borrowsFrom.includes(node.lender)) count("not_lent", ofKind[kind] as number);
    for (const what of new Set(shortfalls(byHardware, node.id, node).map(shortfallField)))
      count(what, ofKind[kind] as number);
  }
  const excluded = constraints.excludedNodes.filter((id) => machine.indexOf.has(id)).length;
  if (excluded > 0) count(EXCLUDED.field, excluded);
  const unknown = constraints.requiredNodes.filter((id) => !machine.indexOf.has(id)).length;
  if (unknown > 0) count("required_nodes", unknown);
  return [...counts]
    .map(([what, nodes]) => ({ what, nodes }))
    .sort((a, b) => b.nodes - a.nodes || (a.what < b.what ? -1 : 1));
}

interface Tally {
  readonly ofKind: Int32Array;
  /** By node state. */
  readonly unusable: ReadonlyMap<string, number>;
}

/** Computed once per machine. */
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
