// File operations below folders that a job's user can write. Nothing else in the agent may act on such a folder: a path
// there can be swapped for a link at any moment, a file can be a pipe, a folder can be a mount that never answers, and
// the agent may be root. An operation runs with the user's rights in another process, or goes by descriptor from a folder
// that only the agent can write. See docs/decisions/0018-root-and-user-files.md.

/** The user whose rights apply. */
export interface FileUser {
  readonly uid: number;
  readonly gid: number;
  readonly groups: readonly number[];
}

export interface OwnedFolder {
  /** A folder of the site, by a path that no user controls. */
  readonly base: string;
  /** The names below it, one per level. */
  readonly parts: readonly string[];
  /** Index of the first part that belongs to the user; the parts before it belong to the agent. */
  readonly ownedFrom: number;
  /** Permissions of the parts that belong to the user. */
  readonly mode: number;
}

export interface TreeSize {
  readonly bytes: number;
  /** False when a part could not be read. */
  readonly isWhole: boolean;
}

export interface StorageBytes {
  readonly readBytes: number;
  readonly writtenBytes: number;
}

interface Outdated {
  /** Entries with lower numbers are removed; null: all of them, and the folder unless it has other entries. */
  readonly below: number | null;
  /** Except these. */
  readonly kept: readonly number[];
  /** The requesting user, who has a limited number of removals under way. */
  readonly whose: string;
}

/** Small files in a folder of the user's. `user`: null for the agent's own user. */
export interface SmallFiles {
  /** Returns the first bytes of a regular file. */
  head(path: string, user: FileUser | null, maxBytes: number): Promise<Buffer>;
  /** Puts a whole file in place of the name. */
  put(folder: string, name: string, text: string, user: FileUser | null): Promise<void>;
  /** Removes the name, unless it is a folder. */
  drop(folder: string, name: string, user: FileUser | null): Promise<void>;
  /** Writes unsigned numbers of four bytes into an existing file, in order. */
  poke(
    path: string,
    numbers: readonly (readonly [offset: number, value: number])[],
    user: FileUser | null,
  ): Promise<void>;
}

/** `user`: null for the agent's own user. Rejections are FileErrors. */
export interface UserFiles extends SmallFiles {
  /** Makes the missing folders. Rejects when an existing one is a link or belongs to another user. */
  makeOwned(folder: OwnedFolder, user: FileUser | null): Promise<void>;
  /** Makes a folder with its parents, with the user's rights. */
  make(path: string, user: FileUser | null): Promise<void>;
  /** Rejects unless the user may list and enter the folder. */
  reach(path: string, user: FileUser | null): Promise<void>;
  /** Returns the first of these programs that the user cannot run from the search path, or null. */
  missingProgram(searchPath: string, names: readonly string[], user: FileUser | null): Promise<string | null>;
  /** Reads a small regular file; a larger one is an error. */
  read(path: string, user: FileUser | null, maxBytes: number): Promise<Buffer>;
  size(path: string, user: FileUser | null, maxEntries: number): Promise<TreeSize>;
  /** Returns the bytes of a regular file from the first occurrence of a text, or null when it does not occur. */
  search(path: string, text: string, user: FileUser | null): Promise<Buffer | null>;
  /**
   * Reads the environment of a process, which the process can delay. `whose`: on whose behalf; each has a limited number
   * of requests under way.
   */
  environ(pid: number, whose: string): Promise<Buffer>;
  /** Returns the bytes that these processes have read from storage and written to it. */
  io(pids: readonly number[], whose: string): Promise<StorageBytes>;
  /** Removes numbered entries of an owned folder with everything below them, with the rights of its owner. */
  prune(folder: OwnedFolder, outdated: Outdated): Promise<void>;
  /**
   * Returns the first words of a command that acts beside the user's job, without a program that this user can trace. None
   * for the agent's own user. `output` writes files, `resize` sets the size of a terminal; see lattice-files.c.
   */
  commandFor(act: "output" | "resize", user: FileUser | null): readonly string[];
  /** Removes an entry of a folder that only the agent can write, with everything below it, by descriptor. */
  clear(base: string, name: string, whose?: string): Promise<void>;
  close(): void;
}

/** Limits of a search: results, and bytes read of a file. */
export const SEARCH = { bytes: 256, within: 32 * 1024 * 1024 } as const;

export class FileError extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}
