// SPIRE's socket exists and gives no identity: an agent with files, a way to a first certificate, or a token uses
// that, in this order, and logs it; an agent without any fails with SPIRE's error.

import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { certifyAgent, makeAuthority } from "@lattice/wire";
import { pino } from "pino";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { IdentityFiles } from "../../src/identity/files.ts";
import { findIdentity, type OtherMeans } from "../../src/identity/find.ts";

const HOUR = 3_600_000;
let dir = "";
let pair: IdentityFiles;

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "lattice-find-"));
  const authority = await makeAuthority("alps", HOUR);
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const spki = publicKey.export({ type: "spki", format: "der" });
  pair = { cert: join(dir, "n1.crt"), key: join(dir, "n1.key"), ca: join(dir, "ca.crt") };
  writeFileSync(pair.ca, authority.cert);
  writeFileSync(pair.key, privateKey.export({ type: "pkcs8", format: "pem" }));
  writeFileSync(pair.cert, await certifyAgent(authority, { name: "n1", lifetimeMs: HOUR }, spki));
  // No process listens here.
  writeFileSync(join(dir, "spire.sock"), "");
});
afterAll(() => rmSync(dir, { recursive: true, force: true, maxRetries: 9 }));

async function find(files: IdentityFiles | null, means: OtherMeans) {
  const warned: string[] = [];
  const log = pino({ level: "warn" }, { write: (line) => void warned.push((JSON.parse(line) as { msg: string }).msg) });
  const options = { spireSocket: join(dir, "spire.sock"), spireWithinMs: 20, files, authority: null };
  const found = await findIdentity(options, log, means);
  found?.source.close();
  expect(warned).toContain("SPIRE identity unavailable; using other sources until restart");
  return { found, warned };
}

test("files come next, then a first certificate, then the token", async () => {
  const first = vi.fn(async () => pair);
  expect((await find(pair, { first, token: true })).found?.files).not.toBeNull();
  expect(first).not.toHaveBeenCalled();
  expect((await find(null, { first, token: true })).found?.files).not.toBeNull();
  expect(first).toHaveBeenCalledOnce();
  const { found, warned } = await find(null, { first: async () => null, token: true });
  expect(found).toBeNull();
  expect(warned).toContain("the agent has no certificate and uses its token");
});

test("an agent without another identity fails with SPIRE's error", async () => {
  await expect(find(null, { token: false })).rejects.toThrow(/SPIRE at .*spire.sock gave no identity/);
});

test("without SPIRE nothing is logged about it", async () => {
  const warn = vi.fn();
  const log = Object.assign(pino({ level: "silent" }), { warn });
  const options = { spireSocket: join(dir, "none.sock"), files: null, authority: null };
  expect(await findIdentity(options, log, { token: false })).toBeNull();
  expect(warn).not.toHaveBeenCalled();
});
