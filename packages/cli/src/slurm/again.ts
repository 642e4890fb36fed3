// `-i SECONDS` of squeue and sinfo: the same table, again and again, until somebody ends it.

import { sleep } from "@lattice/sdk";
import { print } from "./desk.ts";
import { refuse } from "./refusal.ts";

/** Shows once without an interval. Each time has the hour of its own. */
export async function again(
  program: string,
  interval: string | undefined,
  show: (now: number) => Promise<number>,
): Promise<number> {
  if (interval === undefined) return show(Date.now());
  if (!/^[1-9]\d{0,6}$/.test(interval)) throw refuse(program, `invalid entry for --iterate=${interval}`);
  for (;;) {
    await show(Date.now());
    print("");
    await sleep(Number(interval) * 1000, undefined);
  }
}
