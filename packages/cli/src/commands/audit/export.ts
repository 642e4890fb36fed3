// Writes the audit log to a file, and verifies such a file: no record was changed, removed or moved and, with the
// cluster's public key, every record is signed by the cluster.

import { createPublicKey, type KeyObject, verify } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import type { AuditRecord, VerifyAuditResponse } from "@lattice/sdk";
import { brokenExport, type Json, ProblemError, parseJsonText } from "@lattice/wire";

interface Targets {
  readonly file?: string | undefined;
  readonly keyFile?: string | undefined;
}

/** Returns the number of written records. */
export async function exportTo(pages: AsyncIterable<RecordPage>, { file, keyFile }: Targets): Promise<number> {
  const handle = file === undefined ? null : await open(file, "w", 0o600);
  let written = 0;
  let key = "";
  try {
    for await (const { records, publicKey } of pages) {
      const text = records.map((record) => `${JSON.stringify(record)}\n`).join("");
      if (handle === null) process.stdout.write(text);
      else await handle.write(text);
      written += records.length;
      key = publicKey;
    }
    await handle?.sync();
  } finally {
    await handle?.close();
  }
  if (keyFile !== undefined) writeFileSync(keyFile, key);
  return written;
}

export async function verifyFile(file: string, keyFile: string | undefined): Promise<VerifyAuditResponse> {
  const lines = read(file)
    .split("\n")
    .filter((line) => line.trim() !== "");
  const records = lines.map((line, i) => recordOf(line, i + 1));
  const broken = brokenExport(records) ?? (keyFile === undefined ? null : unsigned(records, keyOf(keyFile)));
  const answer = { ok: false, records: records.length, number: "", problem: "", public_key: "" };
  if (broken === null) return { ...answer, ok: true };
  return { ...answer, number: String(broken.n), problem: broken.problem };
}

function recordOf(line: string, at: number): Json {
  try {
    return parseJsonText(line);
  } catch {
    throw bad(`line ${at} is not an audit record`);
  }
}

function unsigned(records: readonly Json[], key: KeyObject) {
  for (const record of records as unknown as readonly AuditRecord[]) {
    const signature = Buffer.from(record.signature ?? "", "base64");
    if (verify(null, Buffer.from(record.hash, "utf8"), key, signature)) continue;
    return { n: Number(record.number), problem: `record ${record.number} was not signed with this key` };
  }
  return null;
}

function keyOf(path: string): KeyObject {
  try {
    return createPublicKey(read(path));
  } catch (error) {
    throw error instanceof ProblemError ? error : bad(`${path} is not a public key`);
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw bad(`${path} cannot be read (${(error as NodeJS.ErrnoException).code ?? "unreadable"})`);
  }
}

const bad = (detail: string): ProblemError => new ProblemError("invalid_argument", { detail });

export interface RecordPage {
  readonly records: readonly AuditRecord[];
  /** PEM. */
  readonly publicKey: string;
}
