// Denies devices to a cgroup v2 group, through a separate process. Whether the kernel supports it is tested with an
// empty group.

import { existsSync, rmdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { execFile, HELPER_ENVIRONMENT } from "../../../base/programs.ts";
import { makeOwnFolderNow } from "../../../files/own-tree.ts";

/** Rejects when devices cannot be denied: the attempt must not start then. */
type DenyDevices = (group: string, devices: readonly string[]) => Promise<void>;

const DEADLINE_MS = 10_000;

export const denyDevices: DenyDevices = (group, devices) =>
  new Promise((resolve, reject) => {
    const how = { timeout: DEADLINE_MS, killSignal: "SIGKILL", env: HELPER_ENVIRONMENT } as const;
    execFile(process.execPath, [filterProgram(), group, ...devices], how, (error, _out, errors) => {
      if (error === null) return resolve();
      const last = errors.trim().split("\n").at(-1) ?? "";
      reject(new Error(`devices cannot be denied: ${last === "" ? error.message : last}`));
    });
  });

/** Returns why devices cannot be denied, or null. `probe` is the path of a group that may be created and removed. */
export async function whyNotDeny(probe: string): Promise<string | null> {
  try {
    makeOwnFolderNow(probe, 0o755);
    await denyDevices(probe, []);
    return null;
  } catch (error) {
    return (error as Error).message;
  } finally {
    try {
      rmdirSync(probe);
    } catch {
      // It may not exist; otherwise the sweep at start removes it.
    }
  }
}

/** The path next to the bundled agent; from sources, the bundle of the last build. */
function filterProgram(): string {
  const here = dirname(fileURLToPath(import.meta.url));
  const beside = join(here, FILTER);
  return existsSync(beside) ? beside : join(here, "..", "..", "..", "..", "dist", FILTER);
}

const FILTER = "lattice-device-filter.js";
