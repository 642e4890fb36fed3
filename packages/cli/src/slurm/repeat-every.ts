// `-i SECONDS` of squeue and sinfo: prints the table repeatedly until the program is interrupted.

import { sleep } from "@lattice/sdk";
import { print } from "./context.ts";
import { slurmError } from "./slurm-error.ts";

/** Calls `show` once without an interval, else forever, each time with the current time. */
export async function repeatEvery(
  program: string,
  interval: string | undefined,
  show: (now: number) => Promise<number>,
): Promise<number> {
  if (interval === undefined) return show(Date.now());
  if (!/^[1-9]\d{0,6}$/.test(interval)) throw slurmError(program, `invalid entry for --iterate=${interval}`);
  for (;;) {
    await show(Date.now());
    print("");
    await sleep(Number(interval) * 1000, undefined);
  }
}
