// Programs that the agent may start.

import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/** Returns whether the agent may execute this file. */
export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The search path of root's own programs, whatever the environment says. */
export const HELPER_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** Returns the folders of a search path, then those of HELPER_PATH: a service manager gives the agent a short path. */
export const searchPath = (path: string): readonly string[] => [
  ...path.split(delimiter).filter((folder) => folder !== ""),
  ...HELPER_PATH.split(delimiter),
];

export function findProgram(path: readonly string[], name: string): string | null {
  const found = path.find((folder) => isExecutable(join(folder, name)));
  return found === undefined ? null : join(found, name);
}
