// The rows of a parser in growing columns, and their conversion to a trace: jobs that no machine of this size can run
// are dropped and counted; lines out of order are sorted with a warning.

import type { JobRequest } from "./request.ts";
import type { Dropped, Trace } from "./trace.ts";

/** The rows of a parser, before any are dropped. */
export interface Rows {
  readonly count: number;
  /** `null` when the numbers in the columns are the ids. */
  readonly ids: readonly string[] | null;
  readonly users: readonly string[];
  readonly tenants: readonly string[];
  readonly limits: Trace["limits"];
  readonly requests: readonly (JobRequest | null)[] | null;
  readonly columns: Columns;
  /** The size of the machine, if the trace states it. */
  readonly nodes: number | null;
  readonly machine: Trace["machine"];
  readonly vclusters: Trace["vclusters"];
}

interface Columns {
  id: Float64Array;
  user: Int32Array;
  tenant: Int32Array;
  submit: Float64Array;
  run: Float64Array;
  request: Float64Array;
  size: Float64Array;
  priority: Uint8Array;
  /** The line in the file, starting at 1. */
  line: Int32Array;
}

const FIRST_CAPACITY = 4096;

export function createColumns(): Columns {
  return {
    id: new Float64Array(FIRST_CAPACITY),
    user: new Int32Array(FIRST_CAPACITY),
    tenant: new Int32Array(FIRST_CAPACITY),
    submit: new Float64Array(FIRST_CAPACITY),
    run: new Float64Array(FIRST_CAPACITY),
    request: new Float64Array(FIRST_CAPACITY),
    size: new Float64Array(FIRST_CAPACITY),
    priority: new Uint8Array(FIRST_CAPACITY),
    line: new Int32Array(FIRST_CAPACITY),
  };
}

/** Grows the columns for a row of that number. */
export function makeRoom(columns: Columns, row: number): void {
  if (row < columns.user.length) return;
  columns.id = doubled(columns.id, Float64Array);
  columns.user = doubled(columns.user, Int32Array);
  columns.tenant = doubled(columns.tenant, Int32Array);
  columns.submit = doubled(columns.submit, Float64Array);
  columns.run = doubled(columns.run, Float64Array);
  columns.request = doubled(columns.request, Float64Array);
  columns.size = doubled(columns.size, Float64Array);
  columns.priority = doubled(columns.priority, Uint8Array);
  columns.line = doubled(columns.line, Int32Array);
}

/** Returns the jobs that a machine of this size can run, in queue order, and the count of the others. */
export function traceOf(rows: Rows, nodes: number): Trace {
  const { columns } = rows;
  const { kept, dropped } = runnable(rows, nodes);
  const late = firstOutOfOrder(columns, kept);
  if (late !== null) inQueueOrder(columns, kept);
  const whole = kept.length === rows.count && late === null;
  const { ids, requests } = rows;
  const picked = <C extends Int32Array | Float64Array | Uint8Array>(column: C): C =>
    (whole ? column.subarray(0, kept.length) : pick(column, kept)) as C;
  return {
    count: kept.length,
    ids: ids === null ? picked(columns.id) : Array.from(kept, (row) => ids[row] ?? ""),
    users: rows.users,
    user: picked(columns.user),
    tenants: rows.tenants,
    tenant: picked(columns.tenant),
    limits: rows.limits,
    submit: picked(columns.submit),
    run: picked(columns.run),
    request: picked(columns.request),
    size: Int32Array.from(picked(columns.size)),
    priority: picked(columns.priority),
    requests: requests === null ? null : Array.from(kept, (row) => requests[row] ?? null),
    nodes,
    machine: rows.machine,
    vclusters: rows.vclusters,
    dropped,
    warnings: late === null ? [] : [`line ${late} is out of order of time: the jobs were sorted by submission`],
  };
}

function runnable({ count, columns }: Rows, nodes: number): { readonly kept: Uint32Array; readonly dropped: Dropped } {
  const kept = new Uint32Array(count);
  let length = 0;
  let noSize = 0;
  let noRunTime = 0;
  let tooLarge = 0;
  for (let row = 0; row < count; row += 1) {
    const size = columns.size[row] as number;
    if (!(size > 0)) noSize += 1;
    else if (!((columns.run[row] as number) > 0)) noRunTime += 1;
    else if (size > nodes) tooLarge += 1;
    else {
      kept[length] = row;
      length += 1;
    }
  }
  return { kept: kept.subarray(0, length), dropped: { noSize, noRunTime, tooLarge } };
}

/** Returns the line of the first job that was submitted before the one above it, or `null`. */
function firstOutOfOrder({ submit, line }: Columns, kept: Uint32Array): number | null {
  for (let i = 1; i < kept.length; i += 1) {
    const row = kept[i] as number;
    if ((submit[row] as number) < (submit[kept[i - 1] as number] as number)) return line[row] as number;
  }
  return null;
}

function inQueueOrder({ submit }: Columns, kept: Uint32Array): void {
  kept.sort((a, b) => (submit[a] as number) - (submit[b] as number) || a - b);
}

function pick<C extends Int32Array | Float64Array | Uint8Array>(column: C, rows: Uint32Array): C {
  const picked = column.slice(0, rows.length) as C;
  for (let i = 0; i < rows.length; i += 1) picked[i] = column[rows[i] as number] as number;
  return picked;
}

function doubled<C extends Int32Array | Float64Array | Uint8Array>(column: C, make: new (length: number) => C): C {
  const larger = new make(column.length * 2);
  larger.set(column);
  return larger;
}
