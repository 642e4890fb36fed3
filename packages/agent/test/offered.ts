// The isolation that this machine offers, found without asking the code under test: where root finds a
// hierarchy it can make a group in, the agent must use it, or a suite would pass on its fallback.

import { existsSync, mkdirSync, readFileSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { controlGroupMounts } from "../src/host/isolation/detect.ts";
import type { Isolation } from "../src/host/isolation/isolation.ts";

export function offered(kind: Isolation["kind"]): boolean {
  if (kind === "process_group") return true;
  if (process.getuid?.() !== 0) return false;
  const { v1, v2 } = controlGroupMounts(readFileSync("/proc/self/mountinfo", "utf8"));
  const base = kind === "cgroup2" ? v2 : v1;
  if (base === null) return false;
  const group = join(base, `lattice-test-${process.pid}`);
  try {
    mkdirSync(group);
  } catch {
    return false;
  }
  // Kernels before 5.14 cannot kill a whole group; there the agent rightly takes v1.
  const complete = kind === "cgroup1" || existsSync(join(group, "cgroup.kill"));
  rmdirSync(group);
  return complete;
}
