// Records of the audit log that have left the state: one file per year, one record per line, only ever added to.
// Every server keeps its own copy. A replay after a crash brings records again, which are recognised by their
// number. A file whose whole year is older than the retention goes when the server starts.

import { createReadStream } from "node:fs";
import { appendFile, mkdir, open, readdir, unlink } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Applied, AuditRecord } from "@lattice/core";
import type { Logger } from "pino";

export interface AuditArchive {
  /** Keeps what an entry has sent away. */
  take(applied: Applied): void;
  /** Oldest first. */
  read(): AsyncIterable<AuditRecord>;
  /** When all that was taken is on disk. */
  close(): Promise<void>;
}

const FILE = /^audit-(\d{4})\.jsonl$/;
const YEAR_MS = 366 * 86_400_000;

export async function openAuditArchive(
  dir: string,
  options: { readonly retentionMs: number; readonly nowMs: number; readonly logger: Logger },
): Promise<AuditArchive> {
  await mkdir(dir, { recursive: true });
  await forgetOld(dir, options.nowMs - options.retentionMs);
  let last = 0;
  for await (const { n } of readAll(dir)) last = Math.max(last, n);
  let writing: Promise<void> = Promise.resolve();

  return {
    take({ effects }) {
      const fresh = effects.flatMap((effect) =>
        effect.kind === "archive_audit" && effect.record.n > last ? [effect.record] : [],
      );
      if (fresh.length === 0) return;
      last = fresh.at(-1)?.n ?? last;
      writing = writing
        .then(() => append(dir, fresh))
        .catch((error: unknown) => options.logger.error({ err: error }, "the audit archive could not be written"));
    },
    async *read() {
      await writing;
      yield* readAll(dir);
    },
    close: () => writing,
  };
}

async function append(dir: string, records: readonly AuditRecord[]): Promise<void> {
  for (const record of records) {
    const path = join(dir, `audit-${new Date(record.at).getUTCFullYear()}.jsonl`);
    await appendFile(path, `${JSON.stringify(record)}\n`, { mode: 0o600 });
    const file = await open(path, "r+");
    await file.datasync();
    await file.close();
  }
}

async function* readAll(dir: string): AsyncGenerator<AuditRecord> {
  for (const name of await files(dir)) {
    const lines = createInterface({
      input: createReadStream(join(dir, name), "utf8"),
      crlfDelay: Number.POSITIVE_INFINITY,
    });
    for await (const line of lines) {
      const record = parsed(line);
      if (record !== null) yield record;
    }
  }
}

/** The last line may have been cut by a crash; its record comes again. */
function parsed(line: string): AuditRecord | null {
  try {
    return JSON.parse(line) as AuditRecord;
  } catch {
    return null;
  }
}

const files = async (dir: string): Promise<string[]> => (await readdir(dir)).filter((name) => FILE.test(name)).sort();

async function forgetOld(dir: string, beforeMs: number): Promise<void> {
  for (const name of await files(dir)) {
    const year = Number(FILE.exec(name)?.[1]);
    if (Date.UTC(year, 0) + YEAR_MS < beforeMs) await unlink(join(dir, name));
  }
}
