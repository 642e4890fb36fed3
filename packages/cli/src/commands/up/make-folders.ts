// Makes a folder and those above it, one by one. Node's own recursive way never returns where a file
// system answers that the folder above does not exist although it does, as /proc does.

import { mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";

/** Throws the system's error for the first folder that cannot be made. */
export function makeFolders(path: string): void {
  if (isFolder(path)) return;
  const above = dirname(path);
  if (above !== path) makeFolders(above);
  try {
    mkdirSync(path);
  } catch (error) {
    // Another process may have made it meanwhile.
    if (!isFolder(path)) throw error;
  }
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
