// `scancel --signal`: signals the processes of a job without ending it. A task on each node sends the signal to the
// processes with the job's id: by default those of its steps, as in Slurm; with --batch the script only; with --full
// all.

import type { Allocation, LatticeClient } from "@lattice/sdk";
import { slurmError } from "./slurm-error.ts";

type SignalTarget = "steps" | "batch" | "full";

const NAMES =
  `HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM STKFLT CHLD CONT STOP TSTP TTIN TTOU
  URG XCPU XFSZ VTALRM PROF WINCH IO PWR SYS`.split(/\s+/);

/** Converts `USR1`, `SIGUSR1` or `10` to the name without SIG. */
export function signalName(text: string): string {
  const upper = text.toUpperCase().replace(/^SIG/, "");
  const name = /^\d+$/.test(upper) ? NAMES[Number(upper) - 1] : NAMES.find((one) => one === upper);
  if (name === undefined) throw slurmError("scancel", `Unknown job signal: ${text}`);
  return name;
}

/** Exits 1 when no process matched. */
const SCRIPT = `has() { grep -qzF "$1" "/proc/$2/environ" 2>/dev/null; }
parent() { sed -n 's/^PPid:[[:space:]]*//p' "/proc/$1/status" 2>/dev/null; }
sent=1
for folder in /proc/[0-9]*; do
  pid=\${folder#/proc/}
  grep -qzxF "LATTICE_ALLOC_ID=$LATTICE_ALLOC_ID" "$folder/environ" 2>/dev/null || continue
  has "LATTICE_LAUNCH_ID=$LATTICE_LAUNCH_ID" "$pid" && continue
  if has LATTICE_LAUNCH_ID= "$pid"; then kind=steps; else kind=batch; fi
  [ "$2" = full ] || [ "$2" = "$kind" ] || continue
  [ "$2" = batch ] && grep -qzxF "LATTICE_ALLOC_ID=$LATTICE_ALLOC_ID" "/proc/$(parent "$pid")/environ" 2>/dev/null && continue
  kill -s "$1" "$pid" 2>/dev/null && sent=0
done
exit $sent`;

/** Returns what prevented the signal, or null. */
export async function signalJob(
  client: LatticeClient,
  { id, state }: Allocation,
  { name, reach }: { readonly name: string; readonly reach: SignalTarget },
): Promise<string | null> {
  if (state === "pending" || state === "staging") return "Job is pending execution";
  if (state !== "running" && state !== "checkpointing") return "Job/step already completing or completed";
  const command = ["sh", "-c", SCRIPT, "sh", name, reach];
  for await (const event of client.tasks.launch(id, { command, tasks_per_node: 1, pmi: "none" })) {
    // Status 1 (no process matched) is no failure: a step need not run on every node.
    if (event.kind === "task_end" && event.exitCode > 1) return `the signal could not be sent on ${event.node}`;
  }
  return null;
}
