// Records of the audit log that have left the state, kept by every server for itself as long as they are to be kept. A
// replay after a crash brings records again, which are known by their numbers; those that left while this server was
// away are missing here, which it knows, and are fetched from the others (`fill.ts`).

import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Applied, type AuditRecord, auditHash, type Effect } from "@lattice/core";
import type { Logger } from "pino";
import {
  type AuditFile,
  appendTo,
  blockOf,
  countLines,
  fileOf,
  firstIn,
  listBlocks,
  mend,
  readBlock,
  removeBlock,
} from "./blocks.ts";

export interface AuditArchive {
  /** Keeps what an entry has sent away. */
  take(applied: Applied): void;
  /** Records below `before`, or above `after`, in that direction; one file of them at a time. */
  read(from: ReadFrom): AsyncIterable<AuditRecord>;
  /** The first numbers up to `through` of which some are missing here; null: none is. */
  gap(through: number): AuditGap | null;
  /** The oldest number that is kept; those below have been forgotten, by all or by rule. */
  floor(): number;
  /** Adds what was missing; what does not have its own hash is refused. */
  fill(records: readonly AuditRecord[]): Promise<void>;
  /** Nobody has what is below this number any more. */
  raiseFloor(n: number): Promise<void>;
  /** Its files as they are now; what is below a file's length does not change any more. */
  files(): Promise<readonly AuditFile[]>;
  /** Removes what is older than it has to be kept. */
  forget(nowMs: number): Promise<void>;
  /** Resolves when all that was taken is on disk, rejects when some of it is not; it is tried again. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

export type ReadFrom =
  | { readonly newestFirst: false; readonly after: number }
  | { readonly newestFirst: true; readonly before: number };

export interface AuditGap {
  readonly first: number;
  readonly through: number;
}

export interface ArchiveOptions {
  readonly retentionMs: number;
  readonly nowMs: number;
  readonly logger: Logger;
}

const FLOOR_FILE = "floor";
/** Reading must not keep a server from its other work. */
const RECORDS_PER_TURN = 500;

export async function openAuditArchive(dir: string, options: ArchiveOptions): Promise<AuditArchive> {
  await mkdir(dir, { recursive: true });
  /** How many records each block has. */
  const counts = new Map<number, number>();
  for (const block of await listBlocks(dir)) {
    await mend(dir, block);
    counts.set(block, await countLines(dir, block));
  }
  let floor = await readFloor(dir);
  const newest = Math.max(-1, ...counts.keys());
  let last = newest < 0 ? 0 : ((await readBlock(dir, newest)).at(-1)?.n ?? firstIn(newest) - 1);
  let writing: Promise<unknown> = Promise.resolve();
  /** Taken, and not on disk yet. */
  let unwritten: readonly AuditRecord[] = [];
  /** The last write has failed, and may have left a part of it behind. */
  let failed = false;
  await forget(options.nowMs);

  /** One after the other: two of them must not add to one file at a time. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = writing.then(work);
    writing = done.catch(() => undefined);
    return done;
  }

  async function writeOut(): Promise<void> {
    const batch = unwritten;
    if (batch.length === 0) return;
    try {
      if (failed) for (const block of byBlock(batch).keys()) await mend(dir, block);
      await (failed ? add : follow)(batch);
      failed = false;
      unwritten = unwritten.slice(batch.length);
    } catch (error) {
      failed = true;
      throw error;
    }
  }

  async function add(records: readonly AuditRecord[]): Promise<void> {
    for (const [block, group] of byBlock(records)) {
      const known = new Set((counts.get(block) ?? 0) === 0 ? [] : (await readBlock(dir, block)).map(({ n }) => n));
      const fresh = group.filter(({ n }) => !known.has(n));
      if (fresh.length === 0) continue;
      await appendTo(dir, block, fresh);
      counts.set(block, known.size + fresh.length);
    }
  }

  /** What an entry sends away follows what is there, and needs no look. */
  async function follow(records: readonly AuditRecord[]): Promise<void> {
    for (const [block, group] of byBlock(records)) {
      await appendTo(dir, block, group);
      counts.set(block, (counts.get(block) ?? 0) + group.length);
    }
  }

  async function forget(nowMs: number): Promise<void> {
    for (const block of [...counts.keys()].sort((a, b) => a - b)) {
      const newestOfIt = (await readBlock(dir, block)).at(-1);
      if (newestOfIt === undefined || newestOfIt.at >= nowMs - options.retentionMs || block === blockOf(last)) return;
      await removeBlock(dir, block);
      counts.delete(block);
      await setFloor(firstIn(block + 1));
    }
  }

  /** Below what the state has, and thus below what it sends away, which may have come first. */
  async function restore({ floor, records }: Extract<Effect, { kind: "restore_audit" }>): Promise<void> {
    await add(records);
    await setFloor(floor);
  }

  async function setFloor(n: number): Promise<void> {
    if (n <= floor) return;
    floor = n;
    await writeFile(join(dir, `${FLOOR_FILE}.new`), String(n), { mode: 0o600 });
    await rename(join(dir, `${FLOOR_FILE}.new`), join(dir, FLOOR_FILE));
  }

  return {
    take({ effects }) {
      const tell = (error: unknown) => options.logger.error({ err: error }, "the audit archive could not be written");
      for (const effect of effects) if (effect.kind === "restore_audit") inTurn(() => restore(effect)).catch(tell);
      const fresh = effects.flatMap((effect) =>
        effect.kind === "archive_audit" && effect.record.n > last ? [effect.record] : [],
      );
      if (fresh.length === 0) return;
      last = fresh.at(-1)?.n ?? last;
      unwritten = [...unwritten, ...fresh];
      inTurn(writeOut).catch(tell);
    },
    async *read(from) {
      await writing;
      const blocks = [...counts.keys()].sort((a, b) => a - b);
      const wanted = from.newestFirst
        ? blocks.filter((block) => firstIn(block) < from.before).toReversed()
        : blocks.filter((block) => firstIn(block + 1) > from.after + 1);
      let turn = 0;
      for (const block of wanted) {
        const records = await readBlock(dir, block);
        for (const record of from.newestFirst ? records.toReversed() : records) {
          if (from.newestFirst ? record.n >= from.before : record.n <= from.after) continue;
          if (record.n < floor) continue;
          yield record;
          turn += 1;
          if (turn % RECORDS_PER_TURN === 0) await new Promise((resolve) => setImmediate(resolve));
        }
      }
    },
    gap(through) {
      for (let block = blockOf(Math.max(floor, 1)); firstIn(block) <= through; block += 1) {
        const [from, to] = [Math.max(floor, firstIn(block)), Math.min(through, firstIn(block + 1) - 1)];
        // A block that begins below the floor may hold some of those as well; too many is not too few.
        if ((counts.get(block) ?? 0) < to - from + 1) return { first: from, through: to };
      }
      return null;
    },
    floor: () => floor,
    fill(records) {
      const strange = records.find(({ hash, ...body }) => !isNumber(body.n) || auditHash(body) !== hash);
      if (strange !== undefined) return Promise.reject(new Error(`record ${strange.n} was changed on its way`));
      return inTurn(() => add(records));
    },
    raiseFloor: (n) => inTurn(() => setFloor(n)),
    forget: (nowMs) => inTurn(() => forget(nowMs)),
    files: () => inTurn(() => Promise.all([...counts.keys()].sort((a, b) => a - b).map((block) => fileOf(dir, block)))),
    flush: () => inTurn(writeOut),
    async close() {
      await writing;
    },
  };
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
