// The audit archive in a backup: verified as one chain with the state, and restored on a new server or, through the log,
// on every server of a running cluster.

import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { type Applied, type AuditRecord, auditHash, brokenChain, type Command, type UserName } from "@lattice/core";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { loadConfig } from "../../../src/base/config/index.ts";
import { AuditArchive } from "../../../src/state/audit/archive.ts";
import { BLOCK_RECORDS } from "../../../src/state/audit/blocks.ts";
import type { BackupRecord } from "../../../src/state/backup/backups.ts";
import { readTar, writeTar } from "../../../src/state/backup/format/tar.ts";
import { recoverFrom } from "../../../src/state/backup/recover.ts";
import { verifyBackup } from "../../../src/state/backup/verify.ts";
import type { History } from "../../../src/state/history/index.ts";
import { backupsOf, busy, configFor, type Machine, machine, never, openTestHistory, sha256, temporary } from "./rig.ts";

const logger = pino({ level: "silent" });
const dir = temporary();
/** A complete file and the start of a second; the state has a few more records. */
const ARCHIVED = BLOCK_RECORDS + 500;
const IN_STATE = 10;
const all = chain(ARCHIVED + IN_STATE);
let history: History;
let source: Machine;
let archive: AuditArchive;
let backup: BackupRecord;

function chain(length: number): readonly AuditRecord[] {
  let prev = "";
  return Array.from({ length }, (_, i) => {
    const body = { n: i + 1, index: 1, at: i, user: "ada", action: "grant.add", scope: "access", detail: "é", prev };
    const record = { ...body, hash: auditHash(body as never) } as unknown as AuditRecord;
    prev = record.hash;
    return record;
  });
}

const opened = (at: string) => AuditArchive.open(at, { retentionMs: 10 ** 12, nowMs: 0, logger });
const leaving = (records: readonly AuditRecord[]) =>
  ({ effects: records.map((record) => ({ kind: "archive_audit", record })) }) as unknown as Applied;

async function listed(from: AuditArchive): Promise<readonly AuditRecord[]> {
  const records: AuditRecord[] = [];
  for await (const record of from.read({ newestFirst: false, after: 0 })) records.push(record);
  return records;
}

const backups = (audit: AuditArchive = archive, place = "backups") =>
  backupsOf(configFor(join(dir, place)), source, history, audit);

beforeAll(async () => {
  history = await openTestHistory(dir);
  source = await busy(history);
  source.state.dropAudit();
  for (const record of all.slice(ARCHIVED)) source.state.putAudit(record);
  archive = await opened(join(dir, "audit"));
  // One more than has left: a record that leaves during the backup is in both.
  archive.take(leaving(all.slice(0, ARCHIVED + 1)));
  backup = await backups().create("", never);
});
afterAll(() => history.close());

describe("a backup", () => {
  test("a backup has the whole archive with its size, and passes every check", async () => {
    expect(backup.metadata?.audit).toEqual({ records: ARCHIVED, floor: 1, below: ARCHIVED + 1, whole: true });
    expect(backup.metadata?.parts.map(({ name }) => name).slice(-2)).toEqual([
      "audit/audit-000000.jsonl",
      "audit/audit-000001.jsonl",
    ]);
    const { found } = await backups().verify(backup.source, never);
    expect(found.checks.filter(({ ok }) => !ok)).toEqual([]);
    expect(found.checks.at(-1)).toEqual({ name: "audit", ok: true, detail: `${ARCHIVED} records in the archive` });
  });

  test("a backup of an incomplete archive says which part is missing", async () => {
    const lacking = await opened(join(dir, "lacking"));
    lacking.take(leaving(all.slice(0, 100)));
    lacking.take(leaving(all.slice(BLOCK_RECORDS, ARCHIVED)));
    const taken = await backups(lacking, "lacking-backups").create("", never);
    expect(taken.metadata?.audit).toMatchObject({ records: 600, whole: false });
    const { ok, checks } = await verifyBackup(taken.source, null);
    expect([ok, checks.at(-1)?.detail]).toEqual([true, expect.stringContaining("lacked some")]);
  });
});

/** The backup with one line of the audit log changed, and matching checksums: only the chain reveals it. */
async function changed(change: (text: string) => string): Promise<string> {
  const files: { name: string; data: Buffer }[] = [];
  const bytes = gunzipSync(readFileSync(backup.source));
  for await (const entry of readTar(one(bytes))) {
    const chunks: Buffer[] = [];
    for await (const chunk of entry.content) chunks.push(Buffer.from(chunk));
    files.push({ name: entry.name, data: Buffer.concat(chunks) });
  }
  const part = files.find(({ name }) => name === "audit/audit-000000.jsonl");
  const head = files[0];
  if (part === undefined || head === undefined) throw new Error("no audit in it");
  part.data = Buffer.from(change(part.data.toString("utf8")));
  const metadata = JSON.parse(head.data.toString("utf8")) as { parts: { name: string }[] };
  const fresh = { sha256: sha256(part.data), bytes: part.data.length };
  metadata.parts = metadata.parts.map((said) => (said.name === part.name ? { ...said, ...fresh } : said));
  head.data = Buffer.from(JSON.stringify(metadata));
  const out: Uint8Array[] = [];
  const packed = files.map(({ name, data }) => ({ name, bytes: data.length, content: [data] }));
  for await (const chunk of writeTar(packed, 0)) out.push(chunk);
  const path = join(dir, "changed.tar.gz");
  writeFileSync(path, gzipSync(Buffer.concat(out)));
  return path;
}

async function* one(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}

test.each([
  ["a changed line", (text: string) => text.replace('"ada"', '"eve"'), /record 1 was changed/],
  ["a missing line", (text: string) => text.replace(/\n.*\n/, "\n"), /record 2 is missing/],
  ["a missing end", (text: string) => text.replace(/\n[^\n]*\n$/, "\n"), /is missing/],
  ["a missing beginning", (text: string) => text.replace(/^.*\n/, ""), /records of the audit log where/],
])("%s of the audit log is found", async (_what, change, words) => {
  const { ok, checks } = await verifyBackup(await changed(change), null);
  expect(ok).toBe(false);
  expect(checks.find((check) => !check.ok)).toMatchObject({ name: "audit", detail: expect.stringMatching(words) });
});

describe("a restore", () => {
  const options = {
    origin: { user: "root" as UserName, requestId: null, bodyHash: "" },
    signal: never,
    refused: () => new Error("refused"),
  };

  test("a restore into a running cluster fills the archive of every server, despite failures", async () => {
    const target = machine(1_700_000_100_000);
    const servers = await Promise.all(["a", "b"].map((name) => opened(join(dir, `server-${name}`))));
    let left = 3;
    const door = {
      async propose(command: Command) {
        if (command.kind === "cluster.restore_audit" && left-- === 0) throw new Error("the leader is gone");
        const applied = target.apply(command);
        for (const server of servers) server.take(applied);
        const [outcome] = applied.outcomes;
        if (outcome === undefined) throw new Error("no outcome");
        return { outcome, index: applied.index };
      },
    };
    await expect(backups().restore(backup.source, door, options)).rejects.toThrow("the leader is gone");
    await backups().restore(backup.source, door, options);
    for (const server of servers) {
      await server.flush();
      const records = await listed(server);
      expect(records.map(({ n }) => n)).toEqual(all.slice(0, ARCHIVED).map(({ n }) => n));
      expect(brokenChain([...records, ...target.state.audit()], "")).toBeNull();
      expect(server.gap(ARCHIVED)).toBeNull();
    }
    expect(target.state.lastAudit()?.action).toBe("cluster.restored");
  });

  test("a restore on a new server fills its archive and keeps the existing key", async () => {
    const config = loadConfig(null, { server: { data_dir: join(dir, "new") } });
    mkdirSync(config.audit.dir, { recursive: true });
    writeFileSync(join(config.audit.dir, "signing-key.pem"), "key");
    await recoverFrom(backup.source, {
      config,
      log: { engine: "embedded", dir: config.quorum.dataDir },
      logger,
      nowMs: Date.now(),
    });
    const records = await listed(await opened(config.audit.dir));
    expect(records).toHaveLength(ARCHIVED);
    expect(brokenChain([...records, ...all.slice(ARCHIVED)], "")).toBeNull();
    expect(readFileSync(join(config.audit.dir, "signing-key.pem"), "utf8")).toBe("key");
  });

  test("a restore does not touch an existing archive", async () => {
    const config = loadConfig(null, { server: { data_dir: join(dir, "kept") } });
    mkdirSync(config.audit.dir, { recursive: true });
    writeFileSync(join(config.audit.dir, "audit-000000.jsonl"), "");
    const log = { engine: "embedded" as const, dir: config.quorum.dataDir };
    const recovering = recoverFrom(backup.source, { config, log, logger, nowMs: Date.now() });
    await expect(recovering).rejects.toThrow(/archive of the audit log in .* already/);
    expect(readdirSync(config.audit.dir)).toEqual(["audit-000000.jsonl"]);
    expect(existsSync(join(config.server.dataDir, "history"))).toBe(false);
  });
});
