// The CPU time of a set of processes, including their children that have ended and been waited for.

import { readFile } from "node:fs/promises";

/** USER_HZ, the same on every Linux machine. */
const MS_PER_TICK = 10;

export async function cpuMsOf(pids: readonly number[]): Promise<number> {
  const each = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/stat`, "latin1").catch(() => "")));
  return each.reduce((sum, text) => sum + ticksIn(text), 0) * MS_PER_TICK;
}

/** utime, stime, cutime and cstime: fields 14 to 17; the name in field 2 may hold anything, also brackets. */
export function ticksIn(stat: string): number {
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return [11, 12, 13, 14].reduce((sum, i) => sum + (Number(fields[i]) || 0), 0);
}
