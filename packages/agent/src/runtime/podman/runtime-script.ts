// A small script between podman and the OCI runtime, where one is needed. On cgroup v1 an OOM kill is counted only in
// the container's own group, which is removed with the container; so the script records the count before the container
// is deleted. And crun fails where v1 and v2 are both mounted, so the script hides v2 from it.

import { readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { quoted, quotedAll } from "../../base/shell-text.ts";
import { makeOwnFolderNow, removeOwnNow } from "../../files/own-tree.ts";

interface Between {
  readonly runtime: string;
  /** Mount point of the v1 memory hierarchy; `null` when there is none. */
  readonly memory: string | null;
  /** Mount point that the runtime must not see; `null` for none. */
  readonly hidden: string | null;
  /** Path of lattice-mounts. */
  readonly mounts: string | null;
}

/** Returns the program that podman calls. */
export function writeRuntime(folder: string, between: Between): string {
  const { runtime, memory, hidden } = between;
  if (memory === null && hidden === null) return runtime;
  // Engines infer the features of a runtime from its name.
  const script = join(folder, "runtime", basename(runtime));
  for (const made of [join(folder, "runtime"), join(folder, KILLED)]) makeOwnFolderNow(made, 0o755);
  const lines = ["#!/bin/sh", ...(memory === null ? [] : [noting(folder, memory)]), calling(between), ""];
  writeFileSync(script, lines.join("\n"), { mode: 0o700 });
  return script;
}

/** Returns the number of OOM kills in the attempt's container; `group` is the path of its groups. */
export function killCount(folder: string, group: string): number {
  try {
    return Number.parseInt(readFileSync(noteOf(folder, group), "utf8"), 10) || 0;
  } catch {
    return 0;
  }
}

export const forgetKills = (folder: string, group: string): void => removeOwnNow(noteOf(folder, group));

const KILLED = "killed";
const noteOf = (folder: string, group: string): string => join(folder, KILLED, basename(group));

function calling({ runtime, hidden, mounts }: Between): string {
  if (hidden === null) return `exec ${quoted(runtime)} "$@"`;
  return `exec ${quotedAll([mounts ?? "lattice-mounts", "--without", hidden, runtime])} "$@"`;
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
