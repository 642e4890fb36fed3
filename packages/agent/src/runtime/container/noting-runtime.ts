// A kill for want of memory in a container of cgroup v1 is counted in the container's own group alone, and that is gone with
// the container before anybody can ask. So the engine's runtime is called through a small script: when a container is
// about to be deleted, its processes ended and its group still there, it writes the count down.

import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { quoted } from "../shell-text.ts";

/** Answers the script's path. `memory`: where the hierarchy of v1 is mounted. */
export function writeNotingRuntime(folder: string, runtime: string, memory: string): string {
  // Engines know what a runtime can do by its name.
  const script = join(folder, "runtime", basename(runtime));
  for (const made of [join(folder, "runtime"), join(folder, KILLED)]) mkdirSync(made, { recursive: true });
  writeFileSync(script, scriptOf(folder, runtime, memory), { mode: 0o700 });
  return script;
}

/** How often the kernel killed in the attempt's container; `group`: the path of the attempt's groups. */
export function notedKills(folder: string, group: string): number {
  try {
    return Number.parseInt(readFileSync(noteOf(folder, group), "utf8"), 10) || 0;
  } catch {
    return 0;
  }
}

export const forgetKills = (folder: string, group: string): void => rmSync(noteOf(folder, group), { force: true });

const KILLED = "killed";
const noteOf = (folder: string, group: string): string => join(folder, KILLED, basename(group));

/** The container's name is the last word. */
const scriptOf = (folder: string, runtime: string, memory: string): string => `#!/bin/sh
case " $* " in *" delete "*)
  for id; do :; done
  for group in ${quoted(memory)}/lattice/*/libpod-"$id"; do
    [ -r "$group/memory.oom_control" ] || continue
    parent=\${group%/*}
    while read -r name count; do
      if [ "$name" = oom_kill ] && [ "$count" -gt 0 ]; then echo "$count" >${quoted(join(folder, KILLED))}/"\${parent##*/}"; fi
    done <"$group/memory.oom_control"
  done
  ;;
esac
exec ${quoted(runtime)} "$@"
`;
