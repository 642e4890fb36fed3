// The files of the audit archive: one per block of numbers, one record per line, append-only. The number of a record
// determines its file, so that a page in the middle is found without reading the files before it, and at most one
// file is in memory at a time. A line torn by a crash is removed before the next append.

import { createReadStream } from "node:fs";
import { open, readdir, readFile, stat, truncate, unlink } from "node:fs/promises";
import { basename, join } from "node:path";
import type { AuditRecord } from "@lattice/core";

/** A few megabytes. */
export const BLOCK_RECORDS = 10_000;

const FILE = /^audit-(\d{6,})\.jsonl$/;
const NEWLINE = 0x0a;

export const blockOf = (n: number): number => Math.floor((n - 1) / BLOCK_RECORDS);
export const firstIn = (block: number): number => block * BLOCK_RECORDS + 1;
const pathOf = (dir: string, block: number): string => join(dir, `audit-${String(block).padStart(6, "0")}.jsonl`);

/** In order. */
export async function listBlocks(dir: string): Promise<readonly number[]> {
  const names = await readdir(dir);
  return names.flatMap((name) => (FILE.test(name) ? [Number(FILE.exec(name)?.[1])] : [])).sort((a, b) => a - b);
}

export interface AuditFile {
  readonly name: string;
  readonly path: string;
  readonly bytes: number;
}

export async function fileOf(dir: string, block: number): Promise<AuditFile> {
  const path = pathOf(dir, block);
  return { name: basename(path), path, bytes: (await stat(path)).size };
}

/** Counts the complete lines; each is one record. */
export async function countLines(dir: string, block: number): Promise<number> {
  let lines = 0;
  for await (const chunk of createReadStream(pathOf(dir, block)) as AsyncIterable<Buffer>)
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, at + 1)) lines += 1;
  return lines;
}

/** Returns the records in order of their numbers, each once. */
export async function readBlock(dir: string, block: number): Promise<readonly AuditRecord[]> {
  return recordsIn(await readFile(pathOf(dir, block), "utf8").catch(orNothing));
}

/** Parses the text of a block: in order, each record once; invalid lines are skipped. */
export function recordsIn(text: string): readonly AuditRecord[] {
  const records = new Map<number, AuditRecord>();
  for (const line of text.split("\n")) {
    const record = parsed(line);
    if (record !== null) records.set(record.n, record);
  }
  return [...records.values()].sort((a, b) => a.n - b.n);
}

/** Durable when it resolves. */
export async function appendTo(dir: string, block: number, records: readonly AuditRecord[]): Promise<void> {
  const file = await open(pathOf(dir, block), "a", 0o600);
  try {
    await file.appendFile(records.map((record) => `${JSON.stringify(record)}\n`).join(""));
    await file.datasync();
  } finally {
    await file.close();
  }
}

/** Truncates the file after its last complete line. */
export async function repair(dir: string, block: number): Promise<void> {
  const bytes = await readFile(pathOf(dir, block)).catch(() => Buffer.alloc(0));
  const whole = bytes.lastIndexOf(NEWLINE) + 1;
  if (whole < bytes.length) await truncate(pathOf(dir, block), whole);
}

export const removeBlock = (dir: string, block: number): Promise<void> => unlink(pathOf(dir, block));

function parsed(line: string): AuditRecord | null {
  if (line === "") return null;
  try {
    return JSON.parse(line) as AuditRecord;
  } catch {
    return null;
  }
}

function orNothing(error: NodeJS.ErrnoException): string {
  if (error.code === "ENOENT") return "";
  throw error;
}
