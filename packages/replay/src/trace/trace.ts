// A workload trace as every policy sees it: columns of numbers, one row per job, in the order of the
// queue; times in seconds on the trace's own clock. Columns rather than records, because a replay reads
// one field of many jobs, and a record per job costs more than the whole simulation.

import type { InventoryNode } from "../inventory/inventory.ts";
import type { Profile } from "../weights/profile.ts";
import type { JobAsk } from "./ask.ts";
import type { TracedTenant } from "./tenant-line.ts";

export interface Dropped {
  readonly noSize: number;
  readonly noRunTime: number;
  readonly tooLarge: number;
}

export interface Trace {
  readonly count: number;
  /** As the trace names them. */
  readonly ids: Float64Array | readonly string[];
  /** Names of users, in order of appearance. */
  readonly users: readonly string[];
  /** The place of each job's user in `users`. */
  readonly user: Int32Array;
  /** Names of tenants, in order of appearance: whom shares and quotas are about. Where a trace knows only users, those. */
  readonly tenants: readonly string[];
  /** The place of each job's tenant in `tenants`. */
  readonly tenant: Int32Array;
  /** Tenants with limits or a share of their own; those that are not listed have none. */
  readonly limits: readonly TracedTenant[];
  readonly submit: Float64Array;
  /** How long it really runs; never more than `request`. */
  readonly run: Float64Array;
  /** How long it asked for. */
  readonly request: Float64Array;
  /** Nodes, or processors where the trace counts those. */
  readonly size: Int32Array;
  /** Preemption class, 0 to 10. */
  readonly priority: Uint8Array;
  /** What a job asks beyond size and time; null where no job of the trace asks anything. */
  readonly asks: readonly (JobAsk | null)[] | null;
  /** Size of the machine, in the unit of `size`. */
  readonly nodes: number;
  /** The nodes it was captured on; empty where the trace does not list them. */
  readonly machine: readonly InventoryNode[];
  /** The vClusters it was captured on, the default one first; empty likewise. */
  readonly vclusters: readonly Profile[];
  readonly dropped: Dropped;
  /** What was put right on the way, for people. */
  readonly warnings: readonly string[];
}

export const DEFAULT_PRIORITY = 5;

export const droppedCount = ({ noSize, noRunTime, tooLarge }: Dropped): number => noSize + noRunTime + tooLarge;

export const idOf = (trace: Trace, row: number): string => String(trace.ids[row] ?? "");

export const tenantOf = (trace: Trace, row: number): string => trace.tenants[trace.tenant[row] ?? -1] ?? "";

export const userOf = (trace: Trace, row: number): string => trace.users[trace.user[row] ?? -1] ?? "";

/** The same jobs, had every user known how long they run. */
export const withPerfectEstimates = (trace: Trace): Trace => ({ ...trace, request: trace.run });

/** Only these rows, which are in order. */
export function keepRows(trace: Trace, rows: readonly number[]): Trace {
  const { ids, asks } = trace;
  const numbers = (column: Float64Array): Float64Array => Float64Array.from(rows, (row) => column[row] as number);
  return {
    ...trace,
    count: rows.length,
    ids: ids instanceof Float64Array ? numbers(ids) : rows.map((row) => ids[row] ?? ""),
    user: Int32Array.from(rows, (row) => trace.user[row] as number),
    tenant: Int32Array.from(rows, (row) => trace.tenant[row] as number),
    submit: numbers(trace.submit),
    run: numbers(trace.run),
    request: numbers(trace.request),
    size: Int32Array.from(rows, (row) => trace.size[row] as number),
    priority: Uint8Array.from(rows, (row) => trace.priority[row] as number),
    asks: asks === null ? null : rows.map((row) => asks[row] ?? null),
  };
}
