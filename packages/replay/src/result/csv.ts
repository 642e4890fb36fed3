// The table of allocations, on the trace's own clock in seconds.

import type { Outcomes } from "../policy/policy.ts";
import { idOf, type Trace, userOf } from "../trace/trace.ts";
import { rounded } from "./json.ts";

export const ALLOCATIONS_HEADER = "id,user,submit,start,end,nodes,wait,backfilled";

export function allocationsCsv(trace: Trace, { start, end, backfilled }: Outcomes): string {
  const users = trace.users.map(cell);
  const lines = [ALLOCATIONS_HEADER];
  for (let row = 0; row < trace.count; row += 1) {
    const submitted = trace.submit[row] as number;
    const started = start[row] as number;
    const times = `${seconds(submitted)},${seconds(started)},${seconds(end[row] as number)}`;
    const user = users[trace.user[row] as number] ?? cell(userOf(trace, row));
    const wait = seconds(started - submitted);
    lines.push(`${cell(idOf(trace, row))},${user},${times},${trace.size[row]},${wait},${backfilled[row] === 1}`);
  }
  return `${lines.join("\n")}\n`;
}

const seconds = (value: number): string => String(Number.isInteger(value) ? value : rounded(value));

const cell = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
