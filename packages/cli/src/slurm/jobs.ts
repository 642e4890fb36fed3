// Allocations as Slurm's jobs. A task group is an array: its elements that run are jobs of their own, and
// those that wait are one line, `46_[2-9%4]`, unless each is asked for. Elements that are not yet in
// the queue have no record; the group says which they are.

import type { Allocation, AllocationFilter, AllocationState, LatticeClient } from "@lattice/sdk";
import { groupIndexes } from "@lattice/wire";
import { rangesOf } from "./hostlist.ts";

export interface Job {
  /** 44, 46_3, or 46_[2-9%4]. */
  readonly id: string;
  /** The id without an index. */
  readonly base: string;
  /** `3`, `[2-9%4]`; null: not of an array. */
  readonly index: string | null;
  readonly allocation: Allocation;
  /** It waits only because of the array's own limit. */
  readonly heldByLimit: boolean;
}

export const LIVE: readonly AllocationState[] = ["pending", "staging", "running", "checkpointing", "suspended"];
export const ALL: readonly AllocationState[] = [...LIVE, "completed", "failed", "cancelled"];

/** Slurm cuts lists of indexes at as many characters. */
const MAX_INDEX_TEXT = 64;
/** Of one answer; more come as further pages. */
const PAGE = 500;
/** Indexes that are spelled out one by one. */
const MAX_SPELLED = 100_000;

export interface Choice {
  readonly filter: AllocationFilter;
  /** One line for each element. */
  readonly unfold: boolean;
}

export async function listJobs(client: LatticeClient, { filter, unfold }: Choice): Promise<Job[]> {
  const all = await gather(client, filter);
  const groups = all.filter(({ group }) => group !== undefined);
  const single = all.filter(({ group }) => group === undefined).map(plainJob);
  if (groups.length === 0) return single;
  const elements = (await gather(client, { ...filter, expand: true })).filter(({ id }) => id.includes("_"));
  const byGroup = new Map(groups.map(({ id }) => [id, [] as Allocation[]]));
  for (const element of elements) byGroup.get(element.id.slice(0, element.id.indexOf("_")))?.push(element);
  return [...single, ...groups.flatMap((group) => arrayJobs(group, byGroup.get(group.id) ?? [], unfold))];
}

async function gather(client: LatticeClient, filter: AllocationFilter): Promise<Allocation[]> {
  const found: Allocation[] = [];
  for await (const allocation of client.listAll(filter, { pageSize: PAGE })) found.push(allocation);
  return found;
}

export function plainJob(allocation: Allocation): Job {
  const [base = allocation.id, index = null] = allocation.id.split("_");
  return { id: allocation.id, base, index, allocation, heldByLimit: false };
}

/** The lines of one array: what waits together first, then what is held by itself, what runs and what has ended. */
export function arrayJobs(group: Allocation, elements: readonly Allocation[], unfold: boolean): Job[] {
  const { unmade, held } = isEnded(group) ? { unmade: [], held: [] } : notInQueue(group);
  const alone = ({ state, hold }: Allocation): boolean => state !== "pending" || (hold !== undefined && !group.hold);
  const others = [...held, ...elements.filter(alone).map(plainJob)];
  const queued = elements.filter((element) => !alone(element));
  if (unfold) return [...others, ...queued.map(plainJob), ...unmade.map((n) => waitingJob(group, `${n}`))];
  const indexes = [...queued.map(({ id }) => Number(id.split("_")[1])), ...unmade];
  if (indexes.length === 0) return others;
  const most = group.group?.range?.concurrency;
  const text = `[${indexText(indexes)}${most === undefined ? "" : `%${most}`}]`;
  return [waitingJob(group, text, queued[0] ?? group), ...others];
}

/** Elements without a record of their own: those that wait with the others, and those that are held one by one. */
function notInQueue(group: Allocation): { readonly unmade: readonly number[]; readonly held: readonly Job[] } {
  const { waiting_indexes, held_indexes, admin_held_indexes } = group.group ?? {};
  const kinds = new Map<number, "user" | "admin">();
  for (const n of indexesOf(held_indexes)) kinds.set(n, "user");
  for (const n of indexesOf(admin_held_indexes)) kinds.set(n, "admin");
  const unmade = indexesOf(waiting_indexes).filter((n) => !kinds.has(n));
  return { unmade, held: [...kinds].map(([n, kind]) => waitingJob({ ...group, hold: { kind } }, `${n}`)) };
}

const isEnded = ({ state }: Allocation): boolean => !LIVE.includes(state);

function waitingJob(group: Allocation, index: string, shown = group): Job {
  const { nodes: _nodes, started_at: _started, ...rest } = shown;
  const allocation: Allocation = { ...rest, state: "pending" };
  const limited = group.group?.range?.concurrency !== undefined;
  const isFree = group.hold === undefined && (group.unmet ?? []).length === 0;
  const heldByLimit = limited && shown === group && isFree;
  return { id: `${group.id}_${index}`, base: group.id, index, allocation, heldByLimit };
}

/** "5-7,9"; of very many, and very scattered ones, the first. */
function indexesOf(list = ""): number[] {
  const text = list.replace(/,?\.\.\.$/, "");
  if (text === "") return [];
  const { size, at } = groupIndexes({ indexes: text });
  return Array.from({ length: Math.min(size, MAX_SPELLED) }, (_, position) => at(position));
}

/** Slurm tells a step where there are more than so many indexes between the first and the last. */
const LEAST_STEPPED = 10;

/** `1-99:2`; null: they are not evenly apart. */
function steppedText(indexes: readonly number[]): string | null {
  const sorted = indexes.toSorted((a, b) => a - b);
  const [first = 0, second = 0] = sorted;
  const last = sorted.at(-1) ?? 0;
  const step = second - first;
  if (last - first <= LEAST_STEPPED || step < 2) return null;
  return sorted.every((index, n) => index === first + n * step) ? `${first}-${last}:${step}` : null;
}

export function indexText(indexes: readonly number[]): string {
  const stepped = steppedText(indexes);
  if (stepped !== null) return stepped;
  const text = rangesOf(indexes)
    .map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`))
    .join(",");
  if (text.length <= MAX_INDEX_TEXT) return text;
  const cut = text.slice(0, MAX_INDEX_TEXT);
  return `${cut.slice(0, cut.lastIndexOf(",") + 1)}...`;
}
