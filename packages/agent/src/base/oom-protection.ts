// A service manager protects the agent from the OOM killer (OOMScoreAdjust), and processes inherit that. Processes of jobs
// must not: the kernel would kill everything else on the node first. A value set by root cannot be lowered by a user again.

import { readFileSync, writeFileSync } from "node:fs";

/** For a shell; sets no variable of the shell itself. */
export const DROP_OOM_PROTECTION =
  '(read -r score </proc/$$/oom_score_adj && [ "$score" -ge 0 ] || echo 0 >/proc/$$/oom_score_adj) 2>/dev/null';

/** For this process and its children. */
export function dropOomProtection(): void {
  const file = "/proc/self/oom_score_adj";
  try {
    if (Number(readFileSync(file, "utf8")) < 0) writeFileSync(file, "0");
  } catch {
    // A kernel without the setting protects nothing.
  }
}
