// An agent that keeps its certificate young: asks in time, takes only what is its own, survives a crash between, and
// keeps its certificate while no server answers.

import { X509Certificate } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { certifyAgain, issue, makeAuthority, type Pem } from "@lattice/wire";
import { pino } from "pino";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type FileIdentity, identityFromFiles } from "../../src/identity/files.ts";
import { keptIn } from "../../src/identity/kept.ts";
import { type CertificateRequest, keepRenewed } from "../../src/identity/renew.ts";

const HOUR = 3_600_000;
const log = pino({ level: "silent" });
let dir = "";
let authority: Pem;
let identity: FileIdentity;
let wait: { readonly ms: number; go(): void } | null = null;
let now = 0;

const file = (name: string) => join(dir, name);
const files = () => ({ cert: file("n1.crt"), key: file("n1.key"), ca: file("ca.crt"), kept: keptIn(dir) });
const given = (lifetimeMs: number, by = authority) =>
  issue(by, { name: "n1", kind: "agent", site: "alps", hosts: [], lifetimeMs });

function put({ cert, key }: Pem): void {
  writeFileSync(file("n1.crt"), cert);
  writeFileSync(file("n1.key"), key);
}

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "lattice-renew-"));
  authority = await makeAuthority("alps", 1_000 * HOUR);
  writeFileSync(file("ca.crt"), authority.cert);
  put(await given(HOUR));
  identity = identityFromFiles(files(), () => undefined, 1_000_000);
  now = Date.now();
});

afterEach(() => {
  identity.close();
  rmSync(dir, { recursive: true, force: true, maxRetries: 9 });
});

type Ask = (asked: CertificateRequest) => Promise<string>;

function begin(ask: Ask) {
  const asked: CertificateRequest[] = [];
  const keeping = keepRenewed({
    nodeId: "n1",
    identity,
    ask: (_shown, what) => {
      asked.push(what);
      return ask(what);
    },
    log,
    now: () => now,
    after: (ms, go) => {
      wait = { ms, go };
      return () => {
        wait = null;
      };
    },
    random: () => 0.5,
  });
  return { asked, keeping };
}

/** Lets the next timer ring, and what it begins come to its end. */
async function pass(): Promise<void> {
  const next = wait;
  wait = null;
  now += next?.ms ?? 0;
  next?.go();
  for (let turn = 0; turn < 10_000 && wait === null; turn += 1) await new Promise((resolve) => setTimeout(resolve, 5));
}

const serial = () => new X509Certificate(identity.current().cert).serialNumber;
const renewedBy =
  (by: Pem, lifetimeMs = 2 * HOUR): Ask =>
  ({ publicKey }) =>
    certifyAgain(by, { old: new X509Certificate(identity.current().cert).raw, lifetimeMs }, publicKey);

test("a certificate is renewed between half and two thirds of its lifetime and kept across a restart", async () => {
  const before = serial();
  const { asked, keeping } = begin(renewedBy(authority));
  expect(asked).toHaveLength(0);
  const part = (wait?.ms ?? 0) / HOUR;
  expect(part).toBeGreaterThan(0.45);
  expect(part).toBeLessThan(2 / 3);
  await pass();
  expect(asked).toHaveLength(1);
  expect(serial()).not.toBe(before);
  keeping.close();
  expect(wait).toBeNull();
  const again = identityFromFiles(files(), () => undefined, 1_000_000);
  expect(new X509Certificate(again.current().cert).serialNumber).toBe(serial());
  again.close();
});

test("an invalid certificate is rejected and the renewal is retried", async () => {
  const before = serial();
  const foreign = await makeAuthority("alps", 1_000 * HOUR);
  const other = await issue(authority, { name: "n2", kind: "agent", site: "alps", hosts: [], lifetimeMs: 9 * HOUR });
  const answers: Ask[] = [
    async () => other.cert,
    async () => (await given(9 * HOUR)).cert,
    renewedBy(foreign),
    renewedBy(authority, 1_000),
    async () => "no certificate",
    async () => Promise.reject(new Error("no server answers")),
  ];
  let turn = 0;
  const { asked, keeping } = begin((what) => answers[turn++]?.(what) ?? Promise.reject(new Error("enough")));
  for (const _ of answers) await pass();
  expect(asked).toHaveLength(answers.length);
  expect(serial()).toBe(before);
  keeping.close();
});

const pairOf = ({ cert, key }: Pem) => ({ cert: Buffer.from(cert), key: Buffer.from(key) });

test("new files replace the identity, and the pair kept for the old files stays unused", async () => {
  const before = serial();
  identity.take(pairOf(await given(2 * HOUR)));
  expect(serial()).not.toBe(before);
  const fresh = await given(HOUR);
  put(fresh);
  identity.look();
  expect(serial()).toBe(new X509Certificate(fresh.cert).serialNumber);
});

test("partial files, foreign pairs and expired pairs are ignored", async () => {
  const before = serial();
  const other = await issue(authority, { name: "n2", kind: "agent", site: "alps", hosts: [], lifetimeMs: 9 * HOUR });
  const mixed = { ...pairOf(await given(HOUR)), key: Buffer.from(other.key) };
  for (const pair of [pairOf(other), mixed, pairOf(await given(1))]) {
    identity.take(pair);
    expect(serial()).toBe(before);
  }
  const whole = readFileSync(keptIn(dir), "utf8");
  for (const text of ["", whole.slice(0, 200), whole.slice(100)]) {
    writeFileSync(keptIn(dir), text);
    identity.look();
    expect(serial()).toBe(before);
  }
});
