// Checks whether a backup can be restored: the checksum of the file, the metadata against the snapshot, every record
// through the reader of a restore, the state hash, every record of the history, and the audit chain from its archive
// into the state. Each check reports its findings; a damaged file is not examined further.

import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { beginRestore, type Restore, type State, stateHash } from "@lattice/core";
import type { BackupConfig } from "../../base/config/index.ts";
import { closingOf, decodeLine } from "../history/line.ts";
import { sha256 as hashText } from "../replica/hash.ts";
import type { ChainHead } from "../replica/replica.ts";
import { auditCheck, auditRecords } from "./audit.ts";
import { asBackupError, BackupError } from "./format/backup-error.ts";
import type { BackupMetadata } from "./format/format.ts";
import { readBackup } from "./format/read.ts";
import { lineBatches } from "./lines.ts";
import { anyBackup } from "./places.ts";
import { CHECKS, type Check, type CheckName, type Verification } from "./verification.ts";

/** `expected` is the checksum written with the file; `null` without one. */
export async function verifyBackup(path: string, expected: string | null): Promise<Verification> {
  const { sha256, bytes } = await hashFile(path);
  if (expected !== null && sha256 !== expected) {
    const detail = `the file has SHA-256 ${sha256}, but its checksum file has ${expected}`;
    return { ok: false, checks: failedAt("checksum", detail, []), metadata: null, sha256, bytes };
  }
  const whole: Check = {
    name: "checksum",
    ok: true,
    detail: expected === null ? "the file has no checksum file; its parts were checked" : `SHA-256 ${sha256}`,
  };
  const found = await inspect(path);
  const checks =
    found.failure === null
      ? [whole, ...found.passed]
      : failedAt(found.failure.at, found.failure.detail, [whole, ...found.passed]);
  return { ok: found.failure === null, checks, metadata: found.metadata, sha256, bytes };
}

async function hashFile(path: string): Promise<{ readonly sha256: string; readonly bytes: number }> {
  const hash = createHash("sha256");
  let bytes = 0;
  try {
    for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
      hash.update(chunk);
      bytes += chunk.length;
    }
  } catch (cause) {
    throw asBackupError(cause, `reading ${path}`);
  }
  return { sha256: hash.digest("hex"), bytes };
}

/** Reads every record of a snapshot and compares the state hash at the end. Throws when anything is wrong. */
export async function readRecords(
  content: AsyncIterable<Buffer>,
): Promise<{ readonly head: ChainHead; readonly restore: Restore }> {
  const building = beginRestore(hashText);
  let head: ChainHead | null = null;
  for await (const lines of lineBatches(content)) {
    for (const line of lines) {
      if (head === null) head = parseHead(line.toString("utf8"));
      else building.line(line.toString("utf8"));
    }
    building.warm(lines.length);
  }
  if (head === null) throw new BackupError("damaged", "its snapshot is empty");
  return { head, restore: building };
}

function parseHead(line: string): ChainHead {
  try {
    const head = JSON.parse(line) as Partial<ChainHead> | null;
    if (typeof head?.index === "number" && typeof head.term === "number" && typeof head.hash === "string") {
      return head as ChainHead;
    }
  } catch {
    // Reported below.
  }
  throw new BackupError("damaged", "its snapshot does not begin with the head of the chain");
}

interface Found {
  readonly metadata: BackupMetadata | null;
  readonly passed: readonly Check[];
  readonly failure: { readonly at: CheckName; readonly detail: string } | null;
}

async function inspect(path: string): Promise<Found> {
  const passed: Check[] = [];
  let metadata: BackupMetadata | null = null;
  let at: CheckName = "checksum";
  let records = 0;
  let segments = 0;
  let audit: ReturnType<typeof auditCheck> | null = null;
  /** Called once, after all segments. */
  const endHistory = (): void => {
    if (at !== "history") return;
    const expected = metadata?.counts.history_records ?? 0;
    if (records !== expected)
      throw new BackupError("damaged", `${records} records of history where ${expected} were written`);
    passed.push({ name: "history", ok: true, detail: `${records} records in ${segments} segments` });
    at = "audit";
  };
  try {
    await readBackup(path, {
      async snapshot(content, written) {
        metadata = written;
        at = "records";
        const { head, restore } = await readRecords(content);
        at = "state_hash";
        const state = restore.finish();
        at = "metadata";
        compare(written, head, state);
        const { allocations, nodes, tenants, vclusters } = written.counts;
        passed.push(
          { name: "metadata", ok: true, detail: `entry ${head.index} of term ${head.term}` },
          {
            name: "records",
            ok: true,
            detail: `${allocations} allocations, ${nodes} nodes, ${tenants} tenants, ${vclusters} vClusters`,
          },
          { name: "state_hash", ok: true, detail: written.state_hash },
        );
        if (written.audit !== undefined) audit = auditCheck(state, written.audit);
        at = "history";
      },
      async segment(name, content) {
        records += await countRecords(name, content);
        segments += 1;
      },
      async audit(_name, content, written) {
        endHistory();
        if (written.audit !== undefined) audit?.add(await auditRecords(content, written.audit));
      },
    });
    endHistory();
    passed.push({ name: "audit", ok: true, detail: endOf(audit) });
    return { metadata, passed, failure: null };
  } catch (cause) {
    return { metadata, passed, failure: { at: blame(cause, at), detail: wordsOf(cause) } };
  }
}

const endOf = (check: ReturnType<typeof auditCheck> | null): string =>
  check === null ? "the backup has no audit archive" : check.end();

function blame(cause: unknown, at: CheckName): CheckName {
  if (!(cause instanceof BackupError)) return at;
  if (cause.code === "torn") return "checksum";
  return cause.code === "not_a_backup" || cause.code === "too_new" ? "metadata" : at;
}

function compare(written: BackupMetadata, head: ChainHead, state: State): void {
  const pairs: readonly (readonly [string, unknown, unknown])[] = [
    ["cluster", written.cluster, state.identity?.id ?? null],
    ["log_index", written.log_index, head.index],
    ["log_index", written.log_index, state.index],
    ["term", written.term, head.term],
    ["chain_hash", written.chain_hash, head.hash],
    ["state_hash", written.state_hash, stateHash(state, hashText)],
    ["counts.allocations", written.counts.allocations, state.allocationCount],
    ["counts.nodes", written.counts.nodes, state.nodeCount],
    ["counts.tenants", written.counts.tenants, [...state.tenants()].length],
    ["counts.vclusters", written.counts.vclusters, [...state.vclusters()].length],
  ];
  for (const [field, stated, actual] of pairs) {
    if (stated === actual) continue;
    throw new BackupError("damaged", `the metadata says ${field} ${stated}, but the snapshot has ${actual}`);
  }
}

/** An open segment has no closing line. */
async function countRecords(name: string, content: AsyncIterable<Buffer>): Promise<number> {
  let records = 0;
  let closed: number | null = null;
  for await (const lines of lineBatches(content)) {
    for (const line of lines) {
      const head = decodeLine(line);
      if (head === null)
        throw new BackupError("damaged", `record ${records + 1} of ${name} does not match its checksum`);
      if (head.kind === "closing") closed = closingOf(head).records;
      else records += 1;
    }
  }
  if (closed !== null && closed !== records) {
    throw new BackupError("damaged", `${name} has ${records} records where ${closed} were written`);
  }
  return records;
}

const wordsOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause));

/** Returns all checks in order: passed, failed and not reached. */
function failedAt(failed: CheckName, detail: string, passed: readonly Check[]): Check[] {
  return CHECKS.map((name) => {
    if (name === failed) return { name, ok: false, detail };
    return passed.find((check) => check.name === name) ?? { name, ok: false, detail: "not checked" };
  });
}

/** Verifies a backup without a server, for the command line; any file may be named. */
export async function verifyAnywhere(source: string, config: BackupConfig): Promise<Verification> {
  const { store, name } = anyBackup(source, config);
  const copy = await store.fetch(name, AbortSignal.any([]));
  try {
    return await verifyBackup(copy.path, copy.sha256);
  } finally {
    await copy.done();
  }
}
