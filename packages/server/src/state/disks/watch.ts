// Measures the free space of the folders that a server writes to. A full disk is reported as metrics and notices before it
// stops anything; on the disk of the log the last part is reserved.

import { statfs } from "node:fs/promises";
import { dirname } from "node:path";
import { type Command, duration, noticeKey, type View } from "@lattice/core";
import type { Logger } from "pino";
import { type Clock, sleep } from "../../base/clock.ts";
import { type DiskSpace, levelOf, type SpaceLevel, spaceText } from "./space.ts";

type FolderName = "log" | "history" | "audit" | "backup" | "output";

export interface WatchedFolder {
  readonly name: FolderName;
  readonly path: string;
}

const CHECK_EVERY = duration(2_000);

/** Ways to free space on the disk of each folder. */
const REMEDIES: Readonly<Record<FolderName, string>> = {
  log: "Move other files away, or grow the disk; the log itself is bounded",
  history: "Move other files away, or grow the disk",
  audit: "Shorten audit.retention, or grow the disk",
  backup: "Delete old backups, or shorten backup.retention",
  output: "Delete the output of old allocations, or grow the disk",
};

interface DiskParts {
  readonly serverId: string;
  readonly folders: readonly WatchedFolder[];
  readonly clock: Clock;
  readonly logger: Logger;
  readonly measured: (folder: FolderName, space: DiskSpace) => void;
}

interface Reporting {
  readonly view: () => Pick<View, "notice">;
  readonly propose: (command: Command) => Promise<unknown>;
}

export class DiskWatch {
  readonly #parts: DiskParts;
  readonly #stop = new AbortController();
  readonly #spaces = new Map<FolderName, DiskSpace>();
  readonly #levels = new Map<FolderName, SpaceLevel>();
  #running: Promise<void> = Promise.resolve();
  #reporting: Reporting | null = null;

  constructor(parts: DiskParts) {
    this.#parts = parts;
  }

  /** Measures once, and then every few seconds until it is closed. */
  async start(): Promise<this> {
    await this.#measure();
    this.#running = this.#run();
    return this;
  }

  /** Notices are raised from now on. */
  report(reporting: Reporting): void {
    this.#reporting = reporting;
  }

  /** Returns why new work is refused; `null` while there is space for it. */
  refusal(): string | null {
    const space = this.#spaces.get("log");
    if (space === undefined || levelOf(space) !== "reserved") return null;
    return `the disk of ${this.#pathOf("log")} is nearly full (${spaceText(space)} free)`;
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  #pathOf(name: FolderName): string {
    return this.#parts.folders.find((folder) => folder.name === name)?.path ?? name;
  }

  async #run(): Promise<void> {
    const { clock, logger } = this.#parts;
    while (!this.#stop.signal.aborted) {
      await this.#report().catch((error: unknown) => logger.warn({ err: error }, "notice of a full disk not recorded"));
      await sleep(clock, CHECK_EVERY, this.#stop.signal);
      if (!this.#stop.signal.aborted) await this.#measure();
    }
  }

  async #measure(): Promise<void> {
    const { folders, logger, measured } = this.#parts;
    for (const { name, path } of folders) {
      const space = await spaceOf(path);
      if (space === null) continue;
      this.#spaces.set(name, space);
      measured(name, space);
      const level = levelOf(space);
      if (level !== (this.#levels.get(name) ?? "enough"))
        logger.warn(
          { folder: name, path, ...space, level },
          level === "enough" ? "disk has space again" : "disk nearly full",
        );
      this.#levels.set(name, level);
    }
  }

  async #report(): Promise<void> {
    if (this.#reporting === null) return;
    const { view, propose } = this.#reporting;
    const { serverId } = this.#parts;
    for (const [name, level] of this.#levels) {
      const key = noticeKey("disk_low", `${serverId}/${name}`);
      const known = view().notice(key);
      const isRaised = known !== undefined && known.clearedAt === undefined;
      if (level === "enough" && isRaised) await propose({ kind: "notice.clear", key });
      if (level === "enough" || isRaised) continue;
      const space = this.#spaces.get(name);
      const free = space === undefined ? "" : ` (${spaceText(space)} free)`;
      const text = `${serverId}: the disk of ${this.#pathOf(name)} is nearly full${free}. ${REMEDIES[name]}.`;
      await propose({ kind: "notice.raise", notice: { key, kind: "disk_low", text, tenant: null, user: null } });
    }
  }
}

/** `null` while it cannot be measured. A folder that does not exist yet is on the disk of the folder above. */
async function spaceOf(path: string): Promise<DiskSpace | null> {
  try {
    const { bavail, blocks, bsize } = await statfs(path);
    return { freeBytes: bavail * bsize, sizeBytes: blocks * bsize };
  } catch (error) {
    const above = dirname(path);
    const isMissing = (error as NodeJS.ErrnoException).code === "ENOENT";
    return isMissing && above !== path ? spaceOf(above) : null;
  }
}
