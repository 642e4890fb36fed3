// Small files in a folder that belongs to a job's user, inside a folder that does not, such as the one between an agent
// and a program that takes checkpoints. A file there may be a link, a pipe or endless: reading never follows, waits or
// exceeds its limit, and writing replaces the name without opening what it names.

import { randomBytes } from "node:crypto";
import { closeSync, constants, fstatSync, openSync, readSync, renameSync, unlinkSync, writeSync } from "node:fs";
import { join } from "node:path";

/** Returns null when there is no regular file of that name; longer content is cut off. */
export function readControlFile(folder: string, name: string, maxBytes: number): Buffer | null {
  const file = openRegular(join(folder, name), constants.O_RDONLY);
  if (file === null) return null;
  try {
    const bytes = Buffer.alloc(maxBytes);
    return bytes.subarray(0, readSync(file, bytes, 0, maxBytes, 0));
  } catch {
    return null;
  } finally {
    closeSync(file);
  }
}

/** Puts a whole file in place. Throws when the folder is full or the name is a folder. */
export function writeControlFile(folder: string, name: string, text: string, mode: number): void {
  // Unguessable: the user can write here.
  const partial = join(folder, `.${randomBytes(8).toString("hex")}`);
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
  const file = openSync(partial, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
  try {
    writeSync(file, text);
  } finally {
    closeSync(file);
  }
  try {
    renameSync(partial, join(folder, name));
  } catch (error) {
    unlinkSync(partial);
    throw error;
  }
}

/** Removes the name, whatever it names; a folder of that name stays. */
export function removeControlFile(folder: string, name: string): void {
  try {
    unlinkSync(join(folder, name));
  } catch {
    // Missing, or a folder that the user made.
  }
}

/** Acts on an existing regular file; returns null when there is none. */
export function onControlFile<T>(folder: string, name: string, act: (file: number) => T): T | null {
  const file = openRegular(join(folder, name), constants.O_RDWR);
  if (file === null) return null;
  try {
    return act(file);
  } finally {
    closeSync(file);
  }
}

function openRegular(path: string, access: number): number | null {
  let file: number;
  try {
    file = openSync(path, access | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    return null;
  }
  if (fstatSync(file).isFile()) return file;
  closeSync(file);
  return null;
}
