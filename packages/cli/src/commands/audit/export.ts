// Writes the audit log to a file, and verifies such a file: no record was changed, removed or moved and, with the
// cluster's public keys, every record is signed by the cluster.

import { createPublicKey, verify } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import type { AuditKey, AuditRecord, VerifyAuditResponse } from "@lattice/sdk";
import { brokenExport, type Json, ProblemError, parseJsonText, verifySignedExport } from "@lattice/wire";

interface Targets {
  readonly file?: string | undefined;
  readonly keyFile?: string | undefined;
}

/** Returns the number of written records. */
export async function exportTo(pages: AsyncIterable<RecordPage>, { file, keyFile }: Targets): Promise<number> {
  const handle = file === undefined ? null : await open(file, "w", 0o600);
  let written = 0;
  let keys: readonly AuditKey[] = [];
  try {
    for await (const page of pages) {
      const text = page.records.map((record) => `${JSON.stringify(record)}\n`).join("");
      if (handle === null) process.stdout.write(text);
      else await handle.write(text);
      written += page.records.length;
      keys = page.keys;
    }
    await handle?.sync();
  } finally {
    await handle?.close();
  }
  if (keyFile !== undefined) writeFileSync(keyFile, `${JSON.stringify({ keys }, null, 2)}\n`);
  return written;
}

/** Files with public keys, as `exportTo` writes them. */
interface KeyFiles {
  readonly keyFile?: string | undefined;
  /** Keys that the verifier already trusts. */
  readonly trust?: string | undefined;
}

export async function verifyFile(file: string, { keyFile, trust }: KeyFiles): Promise<VerifyAuditResponse> {
  if (trust !== undefined && keyFile === undefined) throw bad("--trust needs the keys of the export in --key-file");
  const lines = read(file)
    .split("\n")
    .filter((line) => line.trim() !== "");
  const records = lines.map((line, i) => recordOf(line, i + 1));
  const { broken, unsigned, unendorsed } =
    keyFile === undefined
      ? { broken: brokenExport(records), unsigned: 0, unendorsed: [] }
      : verifySignedExport(records, keysIn(keyFile), trust === undefined ? null : keysIn(trust), isSigned);
  const answer = {
    records: records.length,
    unsigned_records: unsigned,
    unendorsed_keys: [...unendorsed],
    first_record: numberOf(records[0]),
    last_record: numberOf(records.at(-1)),
  };
  if (broken === null) return { ...answer, ok: true, number: "", problem: "", public_key: "" };
  return { ...answer, ok: false, number: String(broken.n), problem: broken.problem, public_key: "" };
}

const numberOf = (record: Json | undefined): string =>
  String((record as { readonly number?: unknown } | undefined)?.number ?? "");

function recordOf(line: string, at: number): Json {
  try {
    return parseJsonText(line);
  } catch {
    throw bad(`line ${at} is not an audit record`);
  }
}

function keysIn(path: string): readonly Json[] {
  const problem = bad(`${path} does not contain public keys; write them with \`lattice audit export --key-file\``);
  let content: Json;
  try {
    content = parseJsonText(read(path));
  } catch (error) {
    throw error instanceof ProblemError && error.problem.code === "invalid_argument" ? error : problem;
  }
  const keys = typeof content === "object" && content !== null && "keys" in content ? content.keys : null;
  if (!Array.isArray(keys) || keys.length === 0) throw problem;
  return keys;
}

function isSigned(text: string, signature: string, publicKey: string): boolean {
  try {
    const key = createPublicKey({ key: Buffer.from(publicKey, "base64"), format: "der", type: "spki" });
    return verify(null, Buffer.from(text, "utf8"), key, Buffer.from(signature, "base64"));
  } catch {
    return false;
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
  readonly keys: readonly AuditKey[];
}
