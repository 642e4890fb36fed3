// The audit archive between two servers, over the wire: gaps are filled from the other server, and callers without the
// servers' token get nothing.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { credentials, Server, ServerCredentials } from "@grpc/grpc-js";
import { type Applied, type AuditRecord, auditHash } from "@lattice/core";
import { pino } from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { connectPeer, type PeerClient } from "../../src/peers/client.ts";
import { type PeerServiceParts, peerService } from "../../src/peers/service.ts";
import { AuditArchive } from "../../src/state/audit/archive.ts";
import { startAuditFill } from "../../src/state/audit/fill.ts";

const COUNT = 1_700;
const logger = pino({ level: "silent" });
const dir = mkdtempSync(join(tmpdir(), "lattice-peer-audit-"));
const server = new Server();
const clients: PeerClient[] = [];
let there: AuditArchive;
let address = "";

const opened = (name: string) => AuditArchive.open(join(dir, name), { retentionMs: 1e13, nowMs: 0, logger });

function line(token: string): PeerClient {
  const client = connectPeer({ id: "s1", address, token, entryVersion: 2 }, credentials.createInsecure());
  clients.push(client);
  return client;
}

beforeAll(async () => {
  there = await opened("there");
  let prev = "";
  const effects = Array.from({ length: COUNT }, (_, i) => {
    const body = { n: i + 1, index: i + 1, at: 1, user: "ada", action: "a", scope: "access", detail: "", prev };
    const record = { ...body, hash: auditHash(body as never) };
    prev = record.hash;
    return { kind: "archive_audit", record };
  });
  there.take({ effects } as unknown as Applied);
  await there.close();
  const { definition, implementation } = peerService({ audit: there, token: "right" } as PeerServiceParts);
  server.addService(definition, implementation);
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    ),
  );
  address = `127.0.0.1:${port}`;
});

afterAll(() => {
  for (const client of clients) client.close();
  server.forceShutdown();
  rmSync(dir, { recursive: true, force: true, maxRetries: 9 });
});

test("a server that joins gets the whole archive", async () => {
  const here = await opened("here");
  const view = () => ({ audit: () => [{ n: COUNT + 1 } as AuditRecord].values() });
  const source = { id: "s1", readAudit: line("right").readAudit };
  const fill = startAuditFill({ archive: here, view, sources: () => [source], clock: systemClock, logger });
  for (let turn = 0; turn < 6_000 && here.gap(COUNT) !== null; turn += 1)
    await new Promise((resolve) => setTimeout(resolve, 10));
  await fill.close();
  const numbers: number[] = [];
  for await (const { n } of here.read({ newestFirst: false, after: 0 })) numbers.push(n);
  expect(numbers).toEqual(Array.from({ length: COUNT }, (_, i) => i + 1));
  await here.close();
});

test("callers without the token get nothing, and invalid numbers are refused", async () => {
  const read = async (token: string, first: number) => {
    for await (const page of line(token).readAudit({ first, through: 5 }, new AbortController().signal))
      if (page.records.length > 0) return page.records.length;
    return 0;
  };
  await expect(read("wrong", 1)).rejects.toThrow();
  await expect(read("right", 0)).rejects.toThrow();
  expect(await read("right", 1)).toBe(5);
});
