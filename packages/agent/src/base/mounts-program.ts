// lattice-mounts, the only program that mounts: where it is, and whether this machine can do what it needs.

import { builtBeside } from "./built-beside.ts";
import { HELPER_ENVIRONMENT, spawnSync } from "./programs.ts";

export const mountsProgram = (): string | null => builtBeside("lattice-mounts");

const CHECK_TIMEOUT_MS = 5_000;

/** Returns why nothing can be mounted here, or null. */
export function whyNoMounts(program: string): string | null {
  const { status, stderr } = spawnSync(program, ["--check"], {
    env: HELPER_ENVIRONMENT,
    encoding: "utf8",
    timeout: CHECK_TIMEOUT_MS,
    stdio: ["ignore", "ignore", "pipe"],
  });
  return status === 0 ? null : String(stderr ?? "").trim() || `lattice-mounts --check ended with ${status}`;
}
