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

/** In words why there is none, or the engine. `folders`: where programs are looked for. */
export function detectEngine(folders: readonly string[]): ContainerEngine | string {
  const podman = programIn(folders, "podman");
  if (podman === null) return "podman is not installed on this node";
  const unified = isUnified();
  const crun = programIn(folders, "crun");
  const runc = programIn(folders, "runc");
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

/** An agent started by a service manager has a short path of its own. */
export const programFolders = (path: string): readonly string[] => [
  ...path.split(delimiter).filter((folder) => folder !== ""),
  ...["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"],
];

function programIn(folders: readonly string[], name: string): string | null {
  const found = folders.find((folder) => isExecutable(join(folder, name)));
  return found === undefined ? null : join(found, name);
}
