// The table of allocations, in seconds of the trace.

import type { Outcomes } from "../policy/base/policy.ts";
import { idOf, type Trace, tenantOf, userOf } from "../trace/trace.ts";
import { rounded } from "./json.ts";

const ALLOCATIONS_HEADER = "id,user,submit,start,end,nodes,wait,backfilled,tenant";

export function allocationsCsv(trace: Trace, { start, end, backfilled }: Outcomes): string {
  const users = trace.users.map(cell);
  const tenants = trace.tenants.map(cell);
  const lines = [ALLOCATIONS_HEADER];
  for (let row = 0; row < trace.count; row += 1) {
    const submitted = trace.submit[row] as number;
    const started = start[row] as number;
    const times = `${seconds(submitted)},${seconds(started)},${seconds(end[row] as number)}`;
    const user = users[trace.user[row] as number] ?? cell(userOf(trace, row));
    const tenant = tenants[trace.tenant[row] as number] ?? cell(tenantOf(trace, row));
    const size = `${trace.size[row]},${seconds(started - submitted)}`;
    lines.push(`${cell(idOf(trace, row))},${user},${times},${size},${backfilled[row] === 1},${tenant}`);
  }
  return `${lines.join("\n")}\n`;
}

const seconds = (value: number): string => String(Number.isInteger(value) ? value : rounded(value));

const cell = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
