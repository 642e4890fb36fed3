// The jobs that sacct shows: records, and the elements of arrays that have none because they never started. As in Slurm
// such elements share one line, `40_[4-9%3]`.

import type { Allocation } from "@lattice/sdk";
import { groupIndexes } from "@lattice/wire";
import { indexText } from "../output/index-ranges.ts";
import type { SlurmContext } from "./context.ts";
import { isHidden } from "./hidden-jobs.ts";
import { ALL, arrayJobs, LIVE } from "./jobs.ts";

interface AccountSelection {
  readonly ids: readonly string[] | undefined;
  readonly users: readonly string[] | undefined;
  readonly all: boolean;
  /** Milliseconds since 1970; `undefined` is midnight. */
  readonly since: number | undefined;
}

/** Stop after this many consecutive jobs that ended before --starttime: the list is ordered newest first. */
const MAX_OLD_IN_A_ROW = 2_000;
/** Limit of indexes that are compared one by one. */
const MAX_SPELLED = 100_000;

export async function accountedJobs(
  context: SlurmContext,
  { ids, users, all, since = midnight(context.now) }: AccountSelection,
): Promise<readonly Allocation[]> {
  const found: Allocation[] = [];
  if (ids !== undefined) {
    const bases = new Set(ids.map((id) => id.replace(/\..*$/, "")));
    for (const id of bases) found.push(...(await oneJob(context, id)));
    return found;
  }
  const user = all ? undefined : (users?.[0] ?? context.user);
  const filter = { state: ALL, ...(user === undefined || (users?.length ?? 0) > 1 ? {} : { user }) };
  for await (const job of recent(context, { ...filter, expand: true }, since)) found.push(job);
  const rest: Allocation[] = [];
  for await (const group of recent(context, filter, since)) {
    const { waiting = 0, cancelled = 0 } = group.group ?? {};
    if (waiting > 0 || cancelled > 0) rest.push(...(await neverStarted(context, group.id, found)));
  }
  return [...rest.reverse(), ...found.reverse()];
}

const midnight = (now: number): number => new Date(now).setHours(0, 0, 0, 0);

type Filter = Parameters<SlurmContext["client"]["listAll"]>[0];

async function* recent({ client }: SlurmContext, filter: Filter, since: number): AsyncGenerator<Allocation> {
  let old = 0;
  for await (const job of client.listAll(filter)) {
    old = job.ended_at !== undefined && Date.parse(job.ended_at) < since ? old + 1 : 0;
    if (old > MAX_OLD_IN_A_ROW) return;
    if (old === 0) yield job;
  }
}

async function oneJob({ client }: SlurmContext, id: string): Promise<readonly Allocation[]> {
  try {
    const job = await client.get(id);
    if (job.group === undefined) return [job];
    const elements: Allocation[] = [];
    for await (const element of client.listAll({ group_id: id, expand: true, state: ALL })) elements.push(element);
    return [...elementsWithoutRecord(job, elements), ...elements.reverse()];
  } catch (error) {
    // As in Slurm, an unknown id has no line.
    if (isHidden(error)) return [];
    throw error;
  }
}

async function neverStarted({ client }: SlurmContext, id: string, among: readonly Allocation[]): Promise<Allocation[]> {
  const group = await client.get(id);
  return elementsWithoutRecord(
    group,
    among.filter((element) => element.id.startsWith(`${id}_`)),
  );
}

/** Returns one line for pending elements and one for elements that were cancelled before their start. */
function elementsWithoutRecord(group: Allocation, elements: readonly Allocation[]): Allocation[] {
  const { range } = group.group ?? {};
  if (range === undefined) return [];
  const isLive = LIVE.includes(group.state);
  const pending = isLive
    ? arrayJobs(group, [], false).map(({ id, allocation }): Allocation => ({ ...allocation, id }))
    : [];
  const { size, at } = groupIndexes(range);
  const known = new Set(elements.map(({ id }) => Number(id.split("_")[1])));
  const waiting = new Set(pending.flatMap(({ id }) => indexesIn(id)));
  const missing: number[] = [];
  for (let n = 0; n < Math.min(size, MAX_SPELLED); n += 1) {
    const index = at(n);
    if (!known.has(index) && !waiting.has(index)) missing.push(index);
  }
  if (missing.length === 0) return pending;
  const { started_at: _started, ...record } = group;
  const cancelledBy = group.cancelled_by === "" ? group.user : group.cancelled_by;
  const ended: Allocation = {
    ...record,
    id: `${group.id}_[${indexText(missing)}]`,
    state: "cancelled",
    nodes: [],
    cancelled_by: group.reason === "dependency_failed" ? "" : cancelledBy,
  };
  return [...pending, ended];
}

/** Expands `40_[4-6,9%3]` and `40_7`. */
function indexesIn(id: string): number[] {
  const list = (id.split("_")[1] ?? "").replace(/^\[|\]$|%\d+\]?$/g, "").replace(/,?\.\.\.$/, "");
  if (list === "") return [];
  const { size, at } = groupIndexes({ indexes: list });
  return Array.from({ length: Math.min(size, MAX_SPELLED) }, (_, n) => at(n));
}
