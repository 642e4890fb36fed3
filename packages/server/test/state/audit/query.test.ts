// Queries of an audit log that has mostly left the state: pages in both directions have no gap and no repetition, and the
// chain is verified without loading it as a whole.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { type Applied, type AuditRecord, auditHash } from "@lattice/core";
import { pb } from "@lattice/wire";
import { pino } from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Call } from "../../../src/api/call/call.ts";
import { queryAudit, verifyAudit } from "../../../src/api/handlers/audit.ts";
import { AuditArchive } from "../../../src/state/audit/archive.ts";
import { BLOCK_RECORDS } from "../../../src/state/audit/blocks.ts";

const dir = mkdtempSync(join(tmpdir(), "lattice-audit-query-"));
const ARCHIVED = BLOCK_RECORDS + 300;
const LIVE = 200;
let records: AuditRecord[] = [];
let call: Call;

beforeAll(async () => {
  let prev = "";
  records = Array.from({ length: ARCHIVED + LIVE }, (_, i) => {
    const n = i + 1;
    const user = n % 1_000 === 0 ? "eve" : "ada";
    const body = { n, index: n, at: n * 1_000, user, action: "grant.add", scope: "access", detail: "", prev };
    const record = { ...body, hash: auditHash(body as never) } as unknown as AuditRecord;
    prev = record.hash;
    return record;
  });
  const archive = await AuditArchive.open(dir, { retentionMs: 1e13, nowMs: 0, logger: pino({ level: "silent" }) });
  const effects = records.slice(0, ARCHIVED).map((record) => ({ kind: "archive_audit", record }));
  archive.take({ effects } as unknown as Applied);
  await archive.close();
  call = {
    principal: { user: "root", tenant: null, roles: ["SystemAdmin"], scopes: [] },
    plane: {
      view: () => ({ audit: () => records.slice(ARCHIVED).values(), auditKeys: () => [], index: 1 }),
      audit: {
        archived: (from: Parameters<AuditArchive["read"]>[0]) => archive.read(from),
      },
    },
  } as unknown as Call;
});
afterAll(() => rmSync(dir, { recursive: true, force: true, maxRetries: 9 }));

async function pages(asked: { readonly newestFirst?: boolean; readonly user?: string; readonly pageSize?: number }) {
  const found: number[] = [];
  let count = 0;
  for (let pageToken = ""; ; ) {
    const page = await queryAudit(call, create(pb.QueryAuditRequestSchema, { pageSize: 1_000, ...asked, pageToken }));
    found.push(...page.records.map(({ number }) => Number(number)));
    count += 1;
    pageToken = page.nextPageToken;
    if (pageToken === "") return { found, count };
  }
}

test("pages contain every record once and in order, in both directions", async () => {
  const numbers = records.map(({ n }) => n);
  const up = await pages({});
  expect(up.found).toEqual(numbers);
  expect(up.count).toBeGreaterThan(5);
  expect((await pages({ newestFirst: true })).found).toEqual(numbers.toReversed());
});

test("a filter also finds old records", async () => {
  const wanted = records.filter(({ user }) => user === "eve").map(({ n }) => n);
  expect(wanted.length).toBeGreaterThan(9);
  expect((await pages({ user: "eve", pageSize: 3 })).found).toEqual(wanted);
  expect((await pages({ user: "eve", pageSize: 3, newestFirst: true })).found).toEqual(wanted.toReversed());
});

test("the whole chain is verified, and a changed record is detected", async () => {
  const whole = await verifyAudit(call, create(pb.VerifyAuditRequestSchema));
  expect([whole.ok, whole.records]).toEqual([true, records.length]);
  const at = ARCHIVED + 50;
  const record = records[at] as AuditRecord;
  records[at] = { ...record, detail: "something else" };
  const broken = await verifyAudit(call, create(pb.VerifyAuditRequestSchema));
  expect([broken.ok, broken.number]).toEqual([false, String(at + 1)]);
  records[at] = record;
});
