// Creates a directory and its parents one by one. Node's recursive mkdir never returns on file systems such as /proc,
// which report ENOENT for an existing parent.

import { mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";

/** Throws the system's error for the first directory that cannot be created. */
export function makeDirectories(path: string): void {
  if (isDirectory(path)) return;
  const above = dirname(path);
  if (above !== path) makeDirectories(above);
  try {
    mkdirSync(path);
  } catch (error) {
    // Another process may have created it meanwhile.
    if (!isDirectory(path)) throw error;
  }
}

const isDirectory = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
