// An agent with a token and no certificate: it retries until one is issued, accepts only its own, uses it after a
// restart, and keeps the token where no server issues certificates.

import { X509Certificate } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { certifyAgent, makeAuthority, type Pem } from "@lattice/wire";
import { pino } from "pino";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { FirstAnswer } from "../../src/identity/ask-first.ts";
import { firstIdentity } from "../../src/identity/first.ts";
import type { CertificateRequest } from "../../src/identity/renew.ts";

const HOUR = 3_600_000;
const log = pino({ level: "silent" });
let dir = "";
let authority: Pem;

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "lattice-first-"));
  authority = await makeAuthority("alps", 1_000 * HOUR);
  writeFileSync(join(dir, "ca.crt"), authority.cert);
});
afterEach(() => rmSync(dir, { recursive: true, force: true, maxRetries: 9 }));

type Answer = (asked: CertificateRequest) => Promise<FirstAnswer>;
const issued =
  (name = "n1", by = authority): Answer =>
  async ({ publicKey }) => ({
    kind: "issued",
    certificate: await certifyAgent(by, { name, lifetimeMs: HOUR }, publicKey),
  });
const later: Answer = async () => ({ kind: "later", problem: "s1: not there" });

async function begin(answers: readonly Answer[], nowMs = Date.now()) {
  const waits: number[] = [];
  let asked = 0;
  const files = await firstIdentity({
    nodeId: "n1",
    dataDir: dir,
    authority: join(dir, "ca.crt"),
    ask: (what) => {
      asked += 1;
      return (answers[asked - 1] ?? later)(what);
    },
    log,
    now: () => nowMs,
    after: (ms, go) => {
      waits.push(ms);
      go();
      return () => undefined;
    },
  });
  return { files, waits, asked };
}

test("the agent retries with growing delays until a server answers, and keeps the key private", async () => {
  const { files, waits } = await begin([later, later, issued()]);
  expect(waits).toEqual([500, 1_000]);
  const cert = new X509Certificate(readFileSync(files?.cert ?? ""));
  expect(cert.subject).toContain("n1.alps.lattice.internal");
  expect(statSync(files?.key ?? "").mode & 0o777).toBe(0o600);
});

test("a restarted agent uses the stored certificate until it expires", async () => {
  const { files } = await begin([issued()]);
  expect(await begin([])).toEqual({ files, waits: [], asked: 0 });
  const afterwards = Date.now() + 2 * HOUR;
  const before = readFileSync(files?.cert ?? "");
  expect((await begin([issued()], afterwards)).asked).toBe(1);
  expect(readFileSync(files?.cert ?? "").equals(before)).toBe(false);
  // Running work does not wait for unreachable servers: the token is enough.
  expect(await begin([later], afterwards)).toMatchObject({ files: null, waits: [] });
});

test("a certificate for another node is rejected", async () => {
  const foreign = await makeAuthority("alps", HOUR);
  const otherKey: Answer = async () => {
    const spki = new X509Certificate(authority.cert).publicKey.export({ type: "spki", format: "der" });
    return { kind: "issued", certificate: await certifyAgent(authority, { name: "n1", lifetimeMs: HOUR }, spki) };
  };
  const rubbish: Answer = async () => ({ kind: "issued", certificate: "hello" });
  const { asked } = await begin([issued("n2"), issued("n1", foreign), otherKey, rubbish, issued()]);
  expect(asked).toBe(5);
});

test("a refusal is final with its reason; without an issuing server there is no certificate", async () => {
  const refused: Answer = async () => ({ kind: "refused", problem: "s1: the token is for n2" });
  await expect(begin([refused])).rejects.toThrow(/no certificate is issued to this node: s1: the token is for n2/);
  const unavailable: Answer = async () => ({ kind: "unavailable", problem: "s1: does not" });
  expect((await begin([unavailable])).files).toBeNull();
});
