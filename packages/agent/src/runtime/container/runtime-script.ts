// What stands between podman and the runtime that it calls, where one is needed: a script of a few lines. On cgroup v1 a kill
// for want of memory is counted in the container's own group alone, and that is gone with the container before anybody
// can ask; so when a container is about to be deleted, its processes ended and its group still there, the script writes the
// count down. And crun refuses to work where v1 and v2 are mounted side by side, so that v2 is hidden from it.

import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { quoted, quotedAll } from "../shell-text.ts";

export interface Between {
  readonly runtime: string;
  /** Where the memory hierarchy of v1 is mounted; null: there is none. */
  readonly memory: string | null;
  /** What the runtime must not see mounted; null: nothing. */
  readonly hidden: string | null;
}

/** Answers what podman is to call. */
export function writeRuntime(folder: string, between: Between): string {
  const { runtime, memory, hidden } = between;
  if (memory === null && hidden === null) return runtime;
  // Engines know what a runtime can do by its name.
  const script = join(folder, "runtime", basename(runtime));
  for (const made of [join(folder, "runtime"), join(folder, KILLED)]) mkdirSync(made, { recursive: true });
  const lines = ["#!/bin/sh", ...(memory === null ? [] : [noting(folder, memory)]), calling(between), ""];
  writeFileSync(script, lines.join("\n"), { mode: 0o700 });
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

const HIDE = '/bin/umount "$0" && exec "$@"';

function calling({ runtime, hidden }: Between): string {
  if (hidden === null) return `exec ${quoted(runtime)} "$@"`;
  const words = ["/usr/bin/unshare", "-m", "--propagation", "slave", "--", "/bin/sh", "-c", HIDE, hidden, runtime];
  return `exec ${quotedAll(words)} "$@"`;
}

/** The container's name is the last word. */
const noting = (folder: string, memory: string): string => `case " $* " in *" delete "*)
  for id; do :; done
  for group in ${quoted(memory)}/lattice/*/libpod-"$id"; do
    [ -r "$group/memory.oom_control" ] || continue
    parent=\${group%/*}
    while read -r name count; do
      if [ "$name" = oom_kill ] && [ "$count" -gt 0 ]; then echo "$count" >${quoted(join(folder, KILLED))}/"\${parent##*/}"; fi
    done <"$group/memory.oom_control"
  done
  ;;
esac`;
