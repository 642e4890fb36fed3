// How memory is spread over the domains of a node: numactl's words for what was asked. A node with one
// domain, or one whose CPUs and GPUs share their memory, has nothing to choose, so nothing is done there.

import { accessSync, constants, readdirSync } from "node:fs";
import { PrologueError } from "../prologue/prologue-error.ts";

export const NUMACTL = "/usr/bin/numactl";

export interface MemoryPlace {
  /** Numbers of the domains that have memory. */
  readonly domains: readonly number[];
  readonly unified: boolean;
  readonly numactl: boolean;
}

export function discoverMemoryPlace(unified: boolean): MemoryPlace {
  return { domains: domains(), unified, numactl: isExecutable(NUMACTL) };
}

/** Empty: nothing to be done. */
export function memoryPolicyWords(policy: string, place: MemoryPlace): readonly string[] {
  if (policy === "" || place.unified || place.domains.length <= 1) return [];
  if (!place.numactl)
    throw new PrologueError("memory", `memory_policy ${policy} needs numactl, which is not installed`);
  const [first = 0] = place.domains;
  switch (policy) {
    case "local":
      return [NUMACTL, "--localalloc", "--"];
    case "interleave":
      return [NUMACTL, "--interleave=all", "--"];
    case "preferred":
      return [NUMACTL, `--preferred=${first}`, "--"];
    case "bind":
      return [NUMACTL, `--membind=${place.domains.join(",")}`, "--"];
    default:
      throw new PrologueError("memory", `memory_policy ${policy} is not known on this node`);
  }
}

function domains(): number[] {
  try {
    const names = readdirSync("/sys/devices/system/node").filter((name) => /^node\d+$/.test(name));
    return names.map((name) => Number(name.slice("node".length))).sort((a, b) => a - b);
  } catch {
    return [];
  }
}

export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
