// The audit archive: records that left the state are readable in both directions, also after crashes; missing ones are
// fetched from other servers and checked by hash; expired ones are deleted.

import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Applied, type AuditRecord, auditHash, type Instant } from "@lattice/core";
import { pino } from "pino";
import { afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { AuditArchive } from "../../../src/state/audit/archive.ts";
import { BLOCK_RECORDS } from "../../../src/state/audit/blocks.ts";
import { type AuditSource, startAuditFill } from "../../../src/state/audit/fill.ts";
import { createTestClock } from "../../base/clock.ts";

const logger = pino({ level: "silent" });
const DAY = 86_400_000;
/** Records of the state: only those after the archive. */
const view = () => ({ audit: () => [{ n: COUNT + 1 } as AuditRecord].values() });
const YEAR = 365 * DAY;
/** Two complete blocks and the start of a third. */
const COUNT = 2 * BLOCK_RECORDS + 500;
let all: readonly AuditRecord[];
let dir = "";

beforeAll(() => {
  let prev = "";
  all = Array.from({ length: COUNT }, (_, i) => {
    const n = i + 1;
    const body = { n, index: n, at: n * 1_000, user: "ada", action: "grant.add", scope: "access", detail: "", prev };
    const record = { ...body, hash: auditHash(body as never) } as unknown as AuditRecord;
    prev = record.hash;
    return record;
  });
});

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "lattice-audit-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true, maxRetries: 9 }));

const opened = (nowMs = 0, at = dir) => AuditArchive.open(at, { retentionMs: 7 * YEAR, nowMs, logger });
const leaving = (records: readonly AuditRecord[]) =>
  ({ effects: records.map((record) => ({ kind: "archive_audit", record })) }) as unknown as Applied;

async function filled(archive: AuditArchive, records = all): Promise<AuditArchive> {
  for (let at = 0; at < records.length; at += 700) archive.take(leaving(records.slice(at, at + 700)));
  await archive.close();
  return archive;
}

async function numbers(records: AsyncIterable<AuditRecord>, most = Number.POSITIVE_INFINITY): Promise<number[]> {
  const found: number[] = [];
  for await (const { n } of records) {
    found.push(n);
    if (found.length === most) break;
  }
  return found;
}

const upFrom = (archive: AuditArchive, after: number, most?: number) =>
  numbers(archive.read({ newestFirst: false, after }), most);
const downFrom = (archive: AuditArchive, before: number, most?: number) =>
  numbers(archive.read({ newestFirst: true, before }), most);

test("all records are readable in both directions from any number, also after a restart", async () => {
  await filled(await opened());
  const archive = await opened();
  expect(await upFrom(archive, 0)).toEqual(all.map(({ n }) => n));
  expect(await upFrom(archive, BLOCK_RECORDS - 1, 3)).toEqual([BLOCK_RECORDS, BLOCK_RECORDS + 1, BLOCK_RECORDS + 2]);
  expect(await downFrom(archive, Number.POSITIVE_INFINITY, 3)).toEqual([COUNT, COUNT - 1, COUNT - 2]);
  expect(await downFrom(archive, BLOCK_RECORDS + 2, 3)).toEqual([BLOCK_RECORDS + 1, BLOCK_RECORDS, BLOCK_RECORDS - 1]);
  expect(await upFrom(archive, COUNT)).toEqual([]);
  expect(archive.gap(COUNT)).toBeNull();
});

test("replayed records are kept once, and a torn line is rewritten", async () => {
  await filled(await opened(), all.slice(0, 100));
  const [file = ""] = readdirSync(dir).filter((name) => name.endsWith(".jsonl"));
  const text = readFileSync(join(dir, file), "utf8");
  writeFileSync(join(dir, file), text.slice(0, -20));
  const archive = await filled(await opened(), all.slice(50, 120));
  expect(await upFrom(archive, 0)).toEqual(all.slice(0, 120).map(({ n }) => n));
  expect((await opened()).gap(120)).toBeNull();
  appendFileSync(join(dir, file), '{"n": 121, "ha');
  expect((await opened()).gap(121)).toEqual({ first: 1, through: 121 });
});

test("records that left while the server was down are fetched from another", async () => {
  const there = await filled(await AuditArchive.open(join(dir, "there"), { retentionMs: YEAR, nowMs: 0, logger }));
  const here = await AuditArchive.open(join(dir, "here"), { retentionMs: YEAR, nowMs: 0, logger });
  here.take(leaving(all.slice(0, 10)));
  // Skipped by a snapshot: numbers 11 to 20,100.
  here.take(leaving(all.slice(20_100)));
  expect(here.gap(COUNT)).toEqual({ first: 1, through: BLOCK_RECORDS });
  const lying: AuditSource = {
    id: "lying",
    async *readAudit({ first }) {
      yield { whole: true, floor: 1, records: [{ ...(all[first] as AuditRecord), user: "eve" as never }] };
    },
  };
  const honest: AuditSource = {
    id: "honest",
    async *readAudit({ first, through }) {
      const records: AuditRecord[] = [];
      for await (const record of there.read({ newestFirst: false, after: first - 1 }))
        if (record.n <= through) records.push(record);
      yield { whole: there.gap(through) === null, floor: there.floor(), records };
    },
  };
  const clock = createTestClock();
  const fill = startAuditFill({
    archive: here,
    view,
    sources: () => [lying, honest],
    clock,
    logger,
  });
  for (let turn = 0; turn < 6_000 && here.gap(COUNT) !== null; turn += 1)
    await new Promise((resolve) => setTimeout(resolve, 10));
  await fill.close();
  expect(here.gap(COUNT)).toBeNull();
  expect(await upFrom(here, 0)).toEqual(all.map(({ n }) => n));
  await here.close();
});

test("records that no server has are not requested again", async () => {
  const archive = await opened();
  const asked: number[] = [];
  const young: AuditSource = {
    id: "young",
    async *readAudit({ first, through }) {
      asked.push(first);
      const records = all.slice(BLOCK_RECORDS, COUNT).filter(({ n }) => n >= first && n <= through);
      yield { whole: true, floor: BLOCK_RECORDS + 1, records };
    },
  };
  const begin = () =>
    startAuditFill({
      archive,
      view,
      sources: () => [young],
      clock: createTestClock(),
      logger,
    });
  const fill = begin();
  for (let turn = 0; turn < 6_000 && archive.gap(COUNT) !== null; turn += 1)
    await new Promise((resolve) => setTimeout(resolve, 10));
  await fill.close();
  expect(archive.gap(COUNT)).toBeNull();
  expect((await upFrom(archive, 0, 1))[0]).toBe(BLOCK_RECORDS + 1);
  await archive.close();
  const again = await opened();
  expect([again.gap(COUNT), again.floor()]).toEqual([null, BLOCK_RECORDS + 1]);
  expect(asked.length).toBeLessThanOrEqual(3);
});

test("expired records are deleted by whole files, and stay deleted", async () => {
  await filled(await opened());
  const archive = await opened(7 * YEAR + BLOCK_RECORDS * 1_000 + 500_000);
  expect((await upFrom(archive, 0, 1))[0]).toBe(BLOCK_RECORDS + 1);
  expect([archive.gap(COUNT), archive.floor()]).toEqual([null, BLOCK_RECORDS + 1]);
  await archive.forget((7 * YEAR + 10 * COUNT * 1_000) as Instant);
  // The newest file stays: the next records follow it.
  expect((await upFrom(archive, 0, 1))[0]).toBe(2 * BLOCK_RECORDS + 1);
});
