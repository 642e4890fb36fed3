// The audit archive in a backup: how its files are written and read again. The files may also have records of the
// snapshot, which left the state while the backup was written; they are not counted and not read. A chain that was
// complete when written must be complete when read.

import { readFile } from "node:fs/promises";
import { type AuditRecord, chainOf, type State } from "@lattice/core";
import type { AuditArchive } from "../audit/archive.ts";
import { type AuditFile, recordsIn } from "../audit/blocks.ts";
import { BackupError } from "./format/backup-error.ts";
import { AUDIT_FOLDER, type BackupMetadata } from "./format/format.ts";

type AuditMetadata = NonNullable<BackupMetadata["audit"]>;

export interface AuditPart {
  readonly files: readonly AuditFile[];
  readonly metadata: AuditMetadata;
}

/** `below` is the oldest number in the snapshot; 1 when it has all of them, or none. */
export async function auditPart(
  archive: Pick<AuditArchive, "flush" | "files" | "floor" | "gap">,
  below: number,
): Promise<AuditPart> {
  await archive.flush();
  // In this order: records fetched meanwhile may be in the files, but no record that the format requires is missing.
  const [floor, whole] = [archive.floor(), archive.gap(below - 1) === null];
  const files = await archive.files();
  let records = 0;
  for (const { path, bytes } of files) {
    const text = (await readFile(path)).subarray(0, bytes).toString("utf8");
    records += within(recordsIn(text), { floor, below }).length;
  }
  const named = files.map((file) => ({ ...file, name: `${AUDIT_FOLDER}${file.name}` }));
  return { files: named, metadata: { records, floor, below, whole } };
}

/** Reads one file of the archive; a few megabytes. */
export async function auditRecords(
  content: AsyncIterable<Buffer>,
  metadata: AuditMetadata,
): Promise<readonly AuditRecord[]> {
  const chunks: Buffer[] = [];
  for await (const chunk of content) chunks.push(chunk);
  return within(recordsIn(Buffer.concat(chunks).toString("utf8")), metadata);
}

const within = (records: readonly AuditRecord[], { floor, below }: Pick<AuditMetadata, "floor" | "below">) =>
  records.filter(({ n }) => n >= floor && n < below);

/** Throws a BackupError for data that differs from what was written. */
export function auditCheck(state: State, metadata: AuditMetadata) {
  const first = [...state.audit()][0];
  let follows = chainOf(null);
  let count = 0;
  let last: AuditRecord | null = null;
  const damaged = (detail: string) => new BackupError("damaged", detail);
  const take = (record: AuditRecord): void => {
    // An archive with a gap continues behind it.
    if (!metadata.whole && record.n !== (last?.n ?? 0) + 1) follows = chainOf(null);
    const broken = follows(record);
    if (broken !== null) throw damaged(`in the audit log ${broken.problem}`);
    last = record;
  };
  return {
    add(records: readonly AuditRecord[]): void {
      for (const record of records) take(record);
      count += records.length;
    },
    /** Describes the contents. */
    end(): string {
      if ((first?.n ?? 1) !== metadata.below)
        throw damaged(
          `the metadata says the archive ends below ${metadata.below}, but the snapshot begins at ${first?.n}`,
        );
      if (count !== metadata.records)
        throw damaged(`${count} records of the audit log where ${metadata.records} were written`);
      if (metadata.whole && count !== Math.max(0, metadata.below - metadata.floor))
        throw damaged(`${count} records of the audit log from ${metadata.floor} to ${metadata.below - 1}`);
      if (metadata.whole && count > 0 && first !== undefined) take(first);
      const lacking = metadata.whole ? "" : "; the server that wrote it lacked some";
      return `${count} records in the archive${lacking}`;
    },
  };
}
