// Questions about paths of a job that runs as this process's own user: there is no boundary between the two, and so no other
// rights to ask with. A process that acts for other users never asks.

import { accessSync, constants, existsSync, statSync } from "node:fs";

export const isThere = (path: string): boolean => existsSync(path);

export function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
