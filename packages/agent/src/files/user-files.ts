// File operations below folders that a job's user can write. Nothing else in the agent may change such a folder: a path
// there can be swapped for a link at any moment, and the agent may be root. An operation runs with the user's rights, or
// goes by descriptor from a folder that only the agent can write. See docs/decisions/0018-root-and-user-files.md.

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

/** `user`: null for the agent's own user. Rejections are FileErrors. */
export interface UserFiles {
  /** Makes the missing folders. Rejects when an existing one is a link or belongs to another user. */
  makeOwned(folder: OwnedFolder, user: FileUser | null): Promise<void>;
  /** Makes a folder with its parents, with the user's rights. */
  make(path: string, user: FileUser | null): Promise<void>;
  /** Rejects unless the user may list and enter the folder. */
  reach(path: string, user: FileUser | null): Promise<void>;
  /** Reads a small regular file. */
  read(path: string, user: FileUser | null, maxBytes: number): Promise<Buffer>;
  size(path: string, user: FileUser | null, maxEntries: number): Promise<TreeSize>;
  /** Removes entries of a folder, with everything below them, with the user's rights. Missing ones are ignored. */
  remove(folder: string, names: readonly string[], user: FileUser | null): Promise<void>;
  /** Removes an entry of a folder that only the agent can write, with everything below it, by descriptor. */
  clear(base: string, name: string): Promise<void>;
  close(): void;
}

export class FileError extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}
