// Allocations as Slurm jobs. A task group is an array: each running element is a job, and all pending elements share
// one line, `46_[2-9%4]`, unless `unfold` is set. Elements outside the queue have no record; the group lists them.

import type { Allocation, AllocationState, LatticeClient, ListAllocationsRequest } from "@lattice/sdk";
import { groupIndexes } from "@lattice/wire";
import { indexText } from "../output/index-ranges.ts";

export interface SlurmJob {
  /** 44, 46_3, or 46_[2-9%4]. */
  readonly id: string;
  /** The id without the index. */
  readonly base: string;
  /** `3` or `[2-9%4]`; `null` outside an array. */
  readonly index: string | null;
  readonly allocation: Allocation;
  /** Pending only because of the array's own limit (`%4`). */
  readonly heldByLimit: boolean;
}

export const LIVE: readonly AllocationState[] = ["pending", "staging", "running", "checkpointing", "suspended"];
export const ALL: readonly AllocationState[] = [...LIVE, "completed", "failed", "cancelled"];

/** Allocations per request. */
const PAGE = 500;
/** Limit of indexes that are expanded one by one. */
const MAX_SPELLED = 100_000;

interface JobSelection {
  readonly filter: ListAllocationsRequest;
  /** One job for each element. */
  readonly unfold: boolean;
}

export async function listJobs(client: LatticeClient, { filter, unfold }: JobSelection): Promise<SlurmJob[]> {
  const all = await gather(client, filter);
  const groups = all.filter(({ group }) => group !== undefined);
  const single = all.filter(({ group }) => group === undefined).map(plainJob);
  if (groups.length === 0) return single;
  const elements = (await gather(client, { ...filter, expand: true })).filter(({ id }) => id.includes("_"));
  const byGroup = new Map(groups.map(({ id }) => [id, [] as Allocation[]]));
  for (const element of elements) byGroup.get(element.id.slice(0, element.id.indexOf("_")))?.push(element);
  return [...single, ...groups.flatMap((group) => arrayJobs(group, byGroup.get(group.id) ?? [], unfold))];
}

async function gather(client: LatticeClient, filter: ListAllocationsRequest): Promise<Allocation[]> {
  const found: Allocation[] = [];
  for await (const allocation of client.listAll(filter, { pageSize: PAGE })) found.push(allocation);
  return found;
}

export function plainJob(allocation: Allocation): SlurmJob {
  const [base = allocation.id, index = null] = allocation.id.split("_");
  return { id: allocation.id, base, index, allocation, heldByLimit: false };
}

/** Returns the jobs of one array: pending elements first, then those held one by one, running and ended ones. */
export function arrayJobs(group: Allocation, elements: readonly Allocation[], unfold: boolean): SlurmJob[] {
  const { waiting, held } = isEnded(group) ? { waiting: [], held: [] } : notInQueue(group);
  const alone = ({ state, hold }: Allocation): boolean => state !== "pending" || (hold !== undefined && !group.hold);
  const others = [...held, ...elements.filter(alone).map(plainJob)];
  const queued = elements.filter((element) => !alone(element));
  if (unfold) return [...others, ...queued.map(plainJob), ...waiting.map((n) => waitingJob(group, `${n}`))];
  const indexes = [...queued.map(({ id }) => Number(id.split("_")[1])), ...waiting];
  if (indexes.length === 0) return others;
  const most = group.group?.range?.concurrency;
  const text = `[${indexText(indexes)}${most === undefined ? "" : `%${most}`}]`;
  return [waitingJob(group, text, queued[0] ?? group), ...others];
}

/** Returns the elements without a record: pending ones, and ones held individually. */
function notInQueue(group: Allocation): { readonly waiting: readonly number[]; readonly held: readonly SlurmJob[] } {
  const { waiting_indexes, user_hold_indexes, admin_hold_indexes } = group.group ?? {};
  const kinds = new Map<number, "user" | "admin">();
  for (const n of indexesOf(user_hold_indexes)) kinds.set(n, "user");
  for (const n of indexesOf(admin_hold_indexes)) kinds.set(n, "admin");
  const waiting = indexesOf(waiting_indexes).filter((n) => !kinds.has(n));
  return { waiting, held: [...kinds].map(([n, kind]) => waitingJob({ ...group, hold: { kind, by: "" } }, `${n}`)) };
}

const isEnded = ({ state }: Allocation): boolean => !LIVE.includes(state);

function waitingJob(group: Allocation, index: string, shown = group): SlurmJob {
  const { started_at: _started, ...rest } = shown;
  const allocation: Allocation = { ...rest, nodes: [], state: "pending" };
  const limited = group.group?.range?.concurrency !== undefined;
  const isFree = group.hold === undefined && (group.unmet_dependencies ?? []).length === 0;
  const heldByLimit = limited && shown === group && isFree;
  return { id: `${group.id}_${index}`, base: group.id, index, allocation, heldByLimit };
}

/** Expands "5-7,9"; a list that the server cut ends in "...". */
function indexesOf(list = ""): number[] {
  const text = list.replace(/,?\.\.\.$/, "");
  if (text === "") return [];
  const { size, at } = groupIndexes({ indexes: text });
  return Array.from({ length: Math.min(size, MAX_SPELLED) }, (_, position) => at(position));
}
