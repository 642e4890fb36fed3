// The archive of audit records that have left the state. Every server keeps its own for the configured retention. A replay after a
// crash brings records again, which are recognized by their numbers. Records that left the state while this server was down are
// missing; the archive knows the gaps, and `fill.ts` fetches them from other servers.

import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Applied, type AuditRecord, type Effect, isIntact } from "@lattice/core";
import type { Logger } from "pino";
import {
  type AuditFile,
  appendTo,
  blockOf,
  countLines,
  fileOf,
  firstIn,
  listBlocks,
  readBlock,
  removeBlock,
  repair,
} from "./blocks.ts";

export type ReadFrom =
  | { readonly newestFirst: false; readonly after: number }
  | { readonly newestFirst: true; readonly before: number };

export interface AuditGap {
  readonly first: number;
  readonly through: number;
}

interface ArchiveOptions {
  readonly retentionMs: number;
  readonly nowMs: number;
  readonly logger: Logger;
}

const FLOOR_FILE = "floor";
/** Reading must not block the event loop. */
const RECORDS_PER_TURN = 500;

export class AuditArchive {
  readonly #dir: string;
  readonly #options: ArchiveOptions;
  /** Records per block. */
  readonly #counts: Map<number, number>;
  /** The oldest number that is kept. */
  #floor: number;
  /** The newest archived number. */
  #last: number;
  #writing: Promise<unknown> = Promise.resolve();
  /** Records that are not on disk yet. */
  #unwritten: readonly AuditRecord[] = [];
  /** The last write failed and may have written a part. */
  #failed = false;

  private constructor(dir: string, options: ArchiveOptions, found: Found) {
    this.#dir = dir;
    this.#options = options;
    this.#counts = found.counts;
    this.#floor = found.floor;
    this.#last = found.last;
  }

  static async open(dir: string, options: ArchiveOptions): Promise<AuditArchive> {
    await mkdir(dir, { recursive: true });
    const archive = new AuditArchive(dir, options, await readArchive(dir));
    await archive.#forget(options.nowMs);
    return archive;
  }

  /** Keeps the records that an entry has moved out of the state. */
  take({ effects }: Pick<Applied, "effects">): void {
    const report = (error: unknown) =>
      this.#options.logger.error({ err: error, dir: this.#dir }, "audit archive not written");
    for (const effect of effects)
      if (effect.kind === "restore_audit") this.#inTurn(() => this.#restore(effect)).catch(report);
    const fresh = effects.flatMap((effect) =>
      effect.kind === "archive_audit" && effect.record.n > this.#last ? [effect.record] : [],
    );
    if (fresh.length === 0) return;
    this.#last = fresh.at(-1)?.n ?? this.#last;
    this.#unwritten = [...this.#unwritten, ...fresh];
    this.#inTurn(() => this.#writeOut()).catch(report);
  }

  /** Yields records below `before`, newest first, or above `after`; reads one file at a time. */
  async *read(from: ReadFrom): AsyncGenerator<AuditRecord> {
    await this.#writing;
    const blocks = this.#blocks();
    const chosen = from.newestFirst
      ? blocks.filter((block) => firstIn(block) < from.before).toReversed()
      : blocks.filter((block) => firstIn(block + 1) > from.after + 1);
    let count = 0;
    for (const block of chosen) {
      const records = await readBlock(this.#dir, block);
      for (const record of from.newestFirst ? records.toReversed() : records) {
        if (from.newestFirst ? record.n >= from.before : record.n <= from.after) continue;
        if (record.n < this.#floor) continue;
        yield record;
        count += 1;
        if (count % RECORDS_PER_TURN === 0) await new Promise((resolve) => setImmediate(resolve));
      }
    }
  }

  /** Returns the first range up to `through` with missing records; `null` when none is missing. */
  gap(through: number): AuditGap | null {
    const floor = this.#floor;
    for (let block = blockOf(Math.max(floor, 1)); firstIn(block) <= through; block += 1) {
      const [from, to] = [Math.max(floor, firstIn(block)), Math.min(through, firstIn(block + 1) - 1)];
      // A block that starts below the floor may hold records below it too; more than expected is no gap.
      if ((this.#counts.get(block) ?? 0) < to - from + 1) return { first: from, through: to };
    }
    return null;
  }

  /** Returns the oldest number that is kept; older records have expired or are nowhere available. */
  floor(): number {
    return this.#floor;
  }

  /** Adds missing records; a record that does not match its hash is refused. */
  fill(records: readonly AuditRecord[]): Promise<void> {
    const forged = records.find((record) => !isNumber(record.n) || !isIntact(record));
    if (forged !== undefined) return Promise.reject(new Error(`audit record ${forged.n} does not match its hash`));
    return this.#inTurn(() => this.#add(records));
  }

  /** No server has records below this number. */
  raiseFloor(n: number): Promise<void> {
    return this.#inTurn(() => this.#setFloor(n));
  }

  /** Returns the files as they are now; bytes below a file's length do not change any more. */
  files(): Promise<readonly AuditFile[]> {
    return this.#inTurn(() => Promise.all(this.#blocks().map((block) => fileOf(this.#dir, block))));
  }

  /** Removes records beyond the retention. */
  forget(nowMs: number): Promise<void> {
    return this.#inTurn(() => this.#forget(nowMs));
  }

  /** Resolves when all records are on disk; rejects when some are not, which are retried later. */
  flush(): Promise<void> {
    return this.#inTurn(() => this.#writeOut());
  }

  async close(): Promise<void> {
    await this.#writing;
  }

  /** Serializes writes: two of them must not append to one file at a time. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#writing.then(work);
    this.#writing = done.catch(() => undefined);
    return done;
  }

  #blocks(): readonly number[] {
    return [...this.#counts.keys()].sort((a, b) => a - b);
  }

  async #writeOut(): Promise<void> {
    const batch = this.#unwritten;
    if (batch.length === 0) return;
    try {
      if (this.#failed) for (const block of byBlock(batch).keys()) await repair(this.#dir, block);
      await (this.#failed ? this.#add(batch) : this.#follow(batch));
      this.#failed = false;
      this.#unwritten = this.#unwritten.slice(batch.length);
    } catch (error) {
      this.#failed = true;
      throw error;
    }
  }

  async #add(records: readonly AuditRecord[]): Promise<void> {
    for (const [block, group] of byBlock(records)) {
      const isEmpty = (this.#counts.get(block) ?? 0) === 0;
      const known = new Set(isEmpty ? [] : (await readBlock(this.#dir, block)).map(({ n }) => n));
      const fresh = group.filter(({ n }) => !known.has(n));
      if (fresh.length === 0) continue;
      await appendTo(this.#dir, block, fresh);
      this.#counts.set(block, known.size + fresh.length);
    }
  }

  /** Appends records of an entry, which always follow the stored ones. */
  async #follow(records: readonly AuditRecord[]): Promise<void> {
    for (const [block, group] of byBlock(records)) {
      await appendTo(this.#dir, block, group);
      this.#counts.set(block, (this.#counts.get(block) ?? 0) + group.length);
    }
  }

  async #forget(nowMs: number): Promise<void> {
    for (const block of this.#blocks()) {
      const newest = (await readBlock(this.#dir, block)).at(-1);
      const isKept = newest === undefined || newest.at >= nowMs - this.#options.retentionMs;
      if (isKept || block === blockOf(this.#last)) return;
      await removeBlock(this.#dir, block);
      this.#counts.delete(block);
      await this.#setFloor(firstIn(block + 1));
    }
  }

  /** Restored records are older than the state's own, which may have arrived first. */
  async #restore({ floor, records }: Extract<Effect, { kind: "restore_audit" }>): Promise<void> {
    await this.#add(records);
    await this.#setFloor(floor);
  }

  async #setFloor(n: number): Promise<void> {
    if (n <= this.#floor) return;
    this.#floor = n;
    const path = join(this.#dir, FLOOR_FILE);
    await writeFile(`${path}.new`, String(n), { mode: 0o600 });
    await rename(`${path}.new`, path);
  }
}

interface Found {
  readonly counts: Map<number, number>;
  readonly floor: number;
  readonly last: number;
}

async function readArchive(dir: string): Promise<Found> {
  const counts = new Map<number, number>();
  for (const block of await listBlocks(dir)) {
    await repair(dir, block);
    counts.set(block, await countLines(dir, block));
  }
  const newest = Math.max(-1, ...counts.keys());
  const last = newest < 0 ? 0 : ((await readBlock(dir, newest)).at(-1)?.n ?? firstIn(newest) - 1);
  return { counts, floor: await readFloor(dir), last };
}

function byBlock(records: readonly AuditRecord[]): ReadonlyMap<number, AuditRecord[]> {
  const groups = new Map<number, AuditRecord[]>();
  for (const record of records) {
    const group = groups.get(blockOf(record.n));
    if (group === undefined) groups.set(blockOf(record.n), [record]);
    else group.push(record);
  }
  return groups;
}

const isNumber = (n: number): boolean => Number.isSafeInteger(n) && n > 0;

async function readFloor(dir: string): Promise<number> {
  const text = await readFile(join(dir, FLOOR_FILE), "utf8").catch(() => "1");
  return /^\d{1,15}$/.test(text) ? Math.max(1, Number(text)) : 1;
}
