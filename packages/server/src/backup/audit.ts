// The archive of the audit log in a backup: its files as they lie on the server that writes it, and how they are read
// again. What the snapshot has itself may be in the files as well, when it left the state while the backup was written;
// it is not counted, and not read. A chain that was whole when it was written must be whole when it is read.

import { readFile } from "node:fs/promises";
import { type AuditRecord, chainOf, type State } from "@lattice/core";
import type { AuditArchive } from "../audit/archive.ts";
import { type AuditFile, recordsIn } from "../audit/blocks.ts";
import { BackupError } from "./backup-error.ts";
import { AUDIT_FOLDER, type BackupMetadata } from "./format.ts";

export type AuditMetadata = NonNullable<BackupMetadata["audit"]>;

export interface AuditPart {
  readonly files: readonly AuditFile[];
  readonly said: AuditMetadata;
}

/** `below`: the oldest number that the snapshot has; 1 when it has all of them, or none. */
export async function auditPart(
  archive: Pick<AuditArchive, "flush" | "files" | "floor" | "gap">,
  below: number,
): Promise<AuditPart> {
  await archive.flush();
  // In this order: what is fetched from others meanwhile may be in the files, but nothing promised is not.
  const [floor, whole] = [archive.floor(), archive.gap(below - 1) === null];
  const files = await archive.files();
  let records = 0;
  for (const { path, bytes } of files) {
    const text = (await readFile(path)).subarray(0, bytes).toString("utf8");
    records += wanted(recordsIn(text), { floor, below }).length;
  }
  const named = files.map((file) => ({ ...file, name: `${AUDIT_FOLDER}${file.name}` }));
  return { files: named, said: { records, floor, below, whole } };
}

/** One file of it; a few megabytes. */
export async function auditRecords(
  content: AsyncIterable<Buffer>,
  said: AuditMetadata,
): Promise<readonly AuditRecord[]> {
  const chunks: Buffer[] = [];
  for await (const chunk of content) chunks.push(chunk);
  return wanted(recordsIn(Buffer.concat(chunks).toString("utf8")), said);
}

const wanted = (records: readonly AuditRecord[], { floor, below }: Pick<AuditMetadata, "floor" | "below">) =>
  records.filter(({ n }) => n >= floor && n < below);

/** Throws a BackupError for what is not as it was written. */
export function auditCheck(state: State, said: AuditMetadata) {
  const first = [...state.audit()][0];
  let follows = chainOf(null);
  let count = 0;
  let last: AuditRecord | null = null;
  const damaged = (detail: string) => new BackupError("damaged", detail);
  const take = (record: AuditRecord): void => {
    // One who lacked a part of it begins again behind the gap.
    if (!said.whole && record.n !== (last?.n ?? 0) + 1) follows = chainOf(null);
    const broken = follows(record);
    if (broken !== null) throw damaged(`in the audit log ${broken.problem}`);
    last = record;
  };
  return {
    add(records: readonly AuditRecord[]): void {
      for (const record of records) take(record);
      count += records.length;
    },
    /** What there is, in words. */
    end(): string {
      if ((first?.n ?? 1) !== said.below)
        throw damaged(`the metadata says the archive ends below ${said.below}, but the snapshot begins at ${first?.n}`);
      if (count !== said.records) throw damaged(`${count} records of the audit log where ${said.records} were written`);
      if (said.whole && count !== Math.max(0, said.below - said.floor))
        throw damaged(`${count} records of the audit log from ${said.floor} to ${said.below - 1}`);
      if (said.whole && count > 0 && first !== undefined) take(first);
      const lacking = said.whole ? "" : "; the server that wrote it lacked some";
      return `${count} records in the archive${lacking}`;
    },
  };
}
