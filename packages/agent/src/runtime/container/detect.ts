// Which container engine this node has: podman, with crun or runc below it. Found by looking, once at
// start. crun does not work where cgroup v1 and v2 are mounted side by side; there runc goes first.

import { readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { isExecutable } from "../memory-policy.ts";

export interface ContainerEngine {
  readonly podman: string;
  readonly runtime: string;
  /** How the container's processes stay in the attempt's own group. */
  readonly groups: "disabled" | "parent";
}

/** In words why there is none, or the engine. */
export function detectEngine(path: string): ContainerEngine | string {
  const podman = onPath("podman", path);
  if (podman === null) return "podman is not installed on this node";
  const unified = isUnified();
  const crun = onPath("crun", path);
  const runc = onPath("runc", path);
  if (crun !== null && unified) return { podman, runtime: crun, groups: "disabled" };
  if (runc !== null) return { podman, runtime: runc, groups: "parent" };
  if (crun !== null) return { podman, runtime: crun, groups: "disabled" };
  return "podman is installed, but neither crun nor runc is";
}

/** Only cgroup v2 is mounted. */
function isUnified(): boolean {
  try {
    return !readFileSync("/proc/self/mountinfo", "utf8").includes(" - cgroup cgroup");
  } catch {
    return false;
  }
}

function onPath(name: string, path: string): string | null {
  const folders = [...path.split(delimiter), "/usr/local/sbin", "/usr/sbin", "/sbin", "/usr/bin"];
  const found = folders.find((folder) => folder !== "" && isExecutable(join(folder, name)));
  return found === undefined ? null : join(found, name);
}
