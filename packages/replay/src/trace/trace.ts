// A workload trace as every policy sees it: columns of numbers, one row per job, in queue order; times in seconds of
// the trace. Columns rather than records, because a replay reads one field of many jobs, and a record per job costs
// more than the whole simulation.

import type { InventoryNode } from "../inventory/inventory.ts";
import type { Profile } from "../weights/profile.ts";
import type { JobRequest } from "./request.ts";
import type { TracedTenant } from "./tenant-line.ts";

export interface Dropped {
  readonly noSize: number;
  readonly noRunTime: number;
  readonly tooLarge: number;
}

export interface Trace {
  readonly count: number;
  /** As in the trace. */
  readonly ids: Float64Array | readonly string[];
  /** Names of users, in order of appearance. */
  readonly users: readonly string[];
  /** The index of each job's user in `users`. */
  readonly user: Int32Array;
  /**
   * Names of tenants, in order of appearance: the subjects of shares and quotas. The users, when a trace knows no
   * tenants.
   */
  readonly tenants: readonly string[];
  /** The index of each job's tenant in `tenants`. */
  readonly tenant: Int32Array;
  /** Tenants with limits or a share of their own. */
  readonly limits: readonly TracedTenant[];
  readonly submit: Float64Array;
  /** The actual run time; never more than `request`. */
  readonly run: Float64Array;
  /** The requested time. */
  readonly request: Float64Array;
  /** Nodes, or processors if the trace counts them. */
  readonly size: Int32Array;
  /** Preemption class, 0 to 10. */
  readonly priority: Uint8Array;
  /** Requests beyond size and time; `null` when no job has one. */
  readonly requests: readonly (JobRequest | null)[] | null;
  /** The size of the machine, in the unit of `size`. */
  readonly nodes: number;
  /** The nodes of the captured cluster; empty when the trace does not list them. */
  readonly machine: readonly InventoryNode[];
  /** The vClusters of the captured cluster, the default one first; empty when the trace does not list them. */
  readonly vclusters: readonly Profile[];
  readonly dropped: Dropped;
  /** Corrections made while reading, for the user. */
  readonly warnings: readonly string[];
}

export const DEFAULT_PRIORITY = 5;

export const droppedCount = ({ noSize, noRunTime, tooLarge }: Dropped): number => noSize + noRunTime + tooLarge;

export const idOf = (trace: Trace, row: number): string => String(trace.ids[row] ?? "");

export const tenantOf = (trace: Trace, row: number): string => trace.tenants[trace.tenant[row] ?? -1] ?? "";

export const userOf = (trace: Trace, row: number): string => trace.users[trace.user[row] ?? -1] ?? "";

/** Returns the same jobs with requested times equal to their run times. */
export const withPerfectEstimates = (trace: Trace): Trace => ({ ...trace, request: trace.run });

/** Returns only these rows, which are ascending. */
export function keepRows(trace: Trace, rows: readonly number[]): Trace {
  const { ids, requests } = trace;
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
    requests: requests === null ? null : rows.map((row) => requests[row] ?? null),
  };
}
