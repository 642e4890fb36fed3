// The folder for trees of users that are being removed. An entry moves there by one rename, so that its place is free at
// once, and no user reaches the folder; the removal then takes as long as it takes. Both the place of an entry and this
// folder are the agent's alone, on one file system.

import { randomBytes } from "node:crypto";
import { renameSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "pino";
import { systemAfter, within } from "../base/after.ts";
import { makeOwnFolder } from "./own-tree.ts";
import type { UserFiles } from "./user-files.ts";

/** Usual trees are gone by then, so that an attempt that has ended has no files. */
const WAIT_MS = 1_000;
/** Removals of one user under way. */
const MAX_AT_ONCE = 4;
/** A user with more of them waiting waits for its own: a node must not fill with trees faster than they are removed. */
const MAX_WAITING = 64;
const MAX_NAME = 60;

interface Removal {
  readonly folder: string;
  readonly name: string;
  readonly over: () => void;
}

interface TrashOptions {
  /** Made by `open`. */
  readonly folder: string;
  readonly files: Pick<UserFiles, "clear">;
  readonly log: Logger;
}

export class Trash {
  readonly folder: string;
  readonly #files: Pick<UserFiles, "clear">;
  readonly #log: Logger;
  /** Of this process; other names are those of an earlier agent. */
  readonly #run = randomBytes(6).toString("hex");
  readonly #waiting = new Map<string, Removal[]>();
  readonly #running = new Map<string, number>();
  readonly #underWay = new Set<Promise<void>>();
  #made = 0;
  #closed = false;

  constructor({ folder, files, log }: TrashOptions) {
    this.folder = folder;
    this.#files = files;
    this.#log = log;
  }

  /** Makes the folder. */
  async open(): Promise<void> {
    await makeOwnFolder(this.folder, 0o700);
  }

  /** Moves an entry to where no user reaches it, and returns its path there; null when there is none, or a mount is on it. */
  move(base: string, name: string): string | null {
    const place = this.#place("");
    try {
      renameSync(join(base, name), place);
      return place;
    } catch {
      return null;
    }
  }

  /**
   * Takes an entry out of a folder of the agent's and removes it. Resolves when it is gone, or after a short time;
   * never rejects: what cannot be removed is tried again by the next agent.
   */
  async take(base: string, name: string, whose: string): Promise<void> {
    const place = this.#place(whose);
    try {
      renameSync(join(base, name), place);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return;
      // A user has mounted something on it: the mount is detached with the removal.
      return this.#wait(whose, this.#add(base, name, whose));
    }
    await this.drop(place, whose);
  }

  /** Removes an entry of the folder. */
  drop(place: string, whose: string): Promise<void> {
    return this.#wait(whose, this.#add(this.folder, place.slice(this.folder.length + 1), whose));
  }

  /** Removes what an earlier agent left, in the background. */
  async sweep(): Promise<void> {
    for (const name of await readdir(this.folder).catch(() => [])) {
      if (name.startsWith(`${this.#run}-`)) continue;
      void this.#add(this.folder, name, name.slice(name.indexOf("@") + 1));
    }
  }

  /** The next agent removes the rest. */
  close(): void {
    this.#closed = true;
    this.#waiting.clear();
  }

  /** Resolves when nothing is being removed, or after this time. */
  async emptied(withinMs: number): Promise<void> {
    if (this.#underWay.size > 0) await within(systemAfter, withinMs, Promise.all(this.#underWay));
  }

  /** Returns a path in the folder for an entry of this agent. `whose`: its user. */
  #place(whose: string): string {
    this.#made += 1;
    return join(this.folder, `${this.#run}-${this.#made}@${encodeURIComponent(whose).slice(0, MAX_NAME)}`);
  }

  #wait(whose: string, removal: Promise<void>): Promise<void> {
    const isBehind = (this.#waiting.get(whose)?.length ?? 0) > MAX_WAITING;
    return isBehind ? removal : within(systemAfter, WAIT_MS, removal);
  }

  #add(folder: string, name: string, whose: string): Promise<void> {
    const removal = new Promise<void>((over) => {
      const waiting = this.#waiting.get(whose) ?? [];
      waiting.push({ folder, name, over });
      this.#waiting.set(whose, waiting);
    });
    this.#underWay.add(removal);
    void removal.then(() => this.#underWay.delete(removal));
    this.#next(whose);
    return removal;
  }

  #next(whose: string): void {
    const running = this.#running.get(whose) ?? 0;
    const removal = running < MAX_AT_ONCE ? this.#waiting.get(whose)?.shift() : undefined;
    if (removal === undefined) return;
    if (this.#waiting.get(whose)?.length === 0) this.#waiting.delete(whose);
    this.#running.set(whose, running + 1);
    void this.#remove(removal, whose);
  }

  async #remove({ folder, name, over }: Removal, whose: string): Promise<void> {
    await this.#files.clear(folder, name, whose).catch((error: Error) => {
      if (!this.#closed)
        this.#log.error({ user: whose, entry: join(folder, name), error: error.message }, "a tree cannot be removed");
    });
    const left = (this.#running.get(whose) ?? 1) - 1;
    if (left === 0) this.#running.delete(whose);
    else this.#running.set(whose, left);
    over();
    this.#next(whose);
  }
}
