// The scratch folders of attempts. An empty one is kept for the next attempt of the same user: creating and removing a
// folder per short job costs more than the job. Only its name and mode change; another user never gets it, since a
// program may still have it open. The agent looks into a folder only after it was moved to where no user reaches it: a
// user can mount a file system that never answers on its own folder.

import { opendirSync, renameSync, rmdirSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { handOver, makeFolderFor, makeOwnFolder } from "../../files/own-tree.ts";
import type { Trash } from "../../files/trash.ts";
import type { RunAs } from "../../host/user/user.ts";

/** Below the root of the scratch folders. */
export const SCRATCH_TRASH = ".trash";
/** Spare directories per user. */
const MAX_SPARES = 4;
const MODE = 0o700;

export class ScratchFolders {
  readonly root: string;
  readonly #trash: Trash;
  readonly #spares = new Map<number | null, string[]>();
  readonly #owners = new Map<string, number | null>();

  /** `trash`: the folder SCRATCH_TRASH below the root. */
  constructor(root: string, trash: Trash) {
    this.root = root;
    this.#trash = trash;
  }

  async open(): Promise<void> {
    await makeOwnFolder(this.root, 0o711);
    await this.#trash.open();
  }

  pathOf(key: string): string {
    return join(this.root, key);
  }

  /** Returns an empty folder that belongs to the user; repeating the call is harmless. */
  make(key: string, runAs: RunAs | null): string {
    const path = this.pathOf(key);
    if (this.#owners.has(key)) return path;
    this.#owners.set(key, runAs?.uid ?? null);
    if (this.#takeSpare(runAs, path)) return path;
    // Left by an interrupted start; its user may have used it since.
    this.#trash.move(this.root, key);
    // A single system call: a thread would cost more.
    makeFolderFor(path, runAs, MODE);
    return path;
  }

  /** Removes the folder with its content. `whose`: its user, who has a few removals at a time. */
  async clear(key: string, whose: () => string = () => key): Promise<void> {
    const uid = this.#owners.get(key);
    this.#owners.delete(key);
    if (uid === undefined) return this.#trash.take(this.root, key, whose());
    const place = this.#trash.move(this.root, key);
    if (place === null) return this.#trash.take(this.root, key, whose());
    const spares = this.#spares.get(uid) ?? [];
    if (!isEmpty(place)) return this.#trash.drop(place, whose());
    if (spares.length < MAX_SPARES) this.#spares.set(uid, [...spares, place]);
    else rmdirSync(place);
  }

  /** Removes what earlier agents left, in the background; calls back with each folder of no known attempt. */
  async sweep(known: ReadonlySet<string>, onLeftover: (key: string) => void): Promise<void> {
    await this.#trash.sweep();
    for (const key of await readdir(this.root).catch(() => [])) {
      if (known.has(key) || key === SCRATCH_TRASH) continue;
      onLeftover(key);
      void this.#trash.take(this.root, key, key);
    }
  }

  close(): void {
    this.#trash.close();
  }

  /** Resolves when the removals under way are over, or after this time. */
  emptied(withinMs: number): Promise<void> {
    return this.#trash.emptied(withinMs);
  }

  #takeSpare(runAs: RunAs | null, path: string): boolean {
    const spare = this.#spares.get(runAs?.uid ?? null)?.pop();
    if (spare === undefined) return false;
    try {
      handOver(spare, runAs ?? ownUser(), MODE, "folder");
      renameSync(spare, path);
      return true;
    } catch {
      return false;
    }
  }
}

/** Reads one entry: a list of millions would block the agent. */
function isEmpty(path: string): boolean {
  try {
    const folder = opendirSync(path, { bufferSize: 1 });
    try {
      return folder.readSync() === null;
    } finally {
      folder.closeSync();
    }
  } catch {
    return false;
  }
}

const ownUser = () => ({ uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 });
