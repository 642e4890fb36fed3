// Folders and files below folders that only the agent can write: its data, attempts, scratch root and cache. Names of
// users and jobs never become paths here; a folder is handed to a user by descriptor, as the last step.

import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  linkSync,
  mkdirSync,
  openSync,
  rmSync,
  writeSync,
} from "node:fs";
import { chmod, mkdir, open, rm, stat } from "node:fs/promises";

interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/** Makes a folder of the agent's with its parents. */
export async function makeOwnFolder(path: string, mode: number): Promise<void> {
  await mkdir(path, { recursive: true, mode });
}

/** Returns whether the folder is new. */
export function makeOwnFolderNow(path: string, mode: number): boolean {
  return mkdirSync(path, { recursive: true, mode }) !== undefined;
}

/** Throws when another user can change the entries of the folder. `setting` names it in the error. */
export async function requireOwn(path: string, setting: string): Promise<void> {
  const { uid, mode } = await stat(path);
  if (uid === process.getuid?.() && (mode & OTHERS_WRITE) === 0) return;
  throw new Error(
    `${path} belongs to another user or can be written by others; name a folder that only the agent can write with ${setting}`,
  );
}

const OTHERS_WRITE = 0o022;

export async function setOwnMode(path: string, mode: number): Promise<void> {
  await chmod(path, mode);
}

/** Removes a file of the agent's, or a tree that no user could ever write. */
export async function removeOwn(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true });
}

export function removeOwnNow(path: string): void {
  rmSync(path, { recursive: true, force: true });
}

/** Makes the folder and hands it to the user. Its parent must be the agent's alone. Fails if it exists. */
export function makeFolderFor(path: string, owner: Owner | null, mode: number): void {
  mkdirSync(path, { mode });
  if (owner !== null) handOver(path, owner, mode, "folder");
}

/** Hands a folder or file over by descriptor; anything else in its place is refused. */
export function handOver(path: string, { uid, gid }: Owner, mode: number, what: "folder" | "file"): void {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK, O_DIRECTORY } = constants;
  const file = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | (what === "folder" ? O_DIRECTORY : 0));
  try {
    const found = fstatSync(file);
    // A file with a second name may be another user's.
    if (what === "file" && !(found.isFile() && found.nlink === 1)) throw new Error(`${path} is not a file of its own`);
    fchmodSync(file, mode);
    fchownSync(file, uid, gid);
  } finally {
    closeSync(file);
  }
}

/** Lets a group read a folder or file of the agent's, by descriptor. */
export async function giveToGroup(path: string, gid: number, mode: number): Promise<void> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    await file.chown(process.getuid?.() ?? 0, gid);
    await file.chmod(mode);
  } finally {
    await file.close();
  }
}

/** Makes a new file with these bytes and hands it to the user before it has a second name. Fails if it exists. */
export function makeFileFor(path: string, bytes: Uint8Array, owner: Owner | null, mode: number): void {
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
  const file = openSync(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
  try {
    for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done);
    if (owner !== null) fchownSync(file, owner.uid, owner.gid);
  } finally {
    closeSync(file);
  }
}

/**
 * Makes an empty file of the user's under two names: one in a folder that only the agent can enter, and one that the user
 * sees. The user may mount anything on the second, so the agent reads the first.
 */
export function makeSharedFile(names: { own: string; shown: string }, owner: Owner | null, mode: number): void {
  makeFileFor(names.own, Buffer.alloc(0), owner, mode);
  linkSync(names.own, names.shown);
}
