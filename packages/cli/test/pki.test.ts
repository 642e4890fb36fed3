// `lattice admin pki`: certificates are issued, renewed, listed and revoked in the authority's directory; invalid
// arguments change nothing.

import { X509Certificate } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readRevocations, serialDigits } from "@lattice/wire";
import { afterAll, afterEach, expect, test, vi } from "vitest";
import { useScripted } from "./scripted.ts";

const rig = useScripted();
const root = mkdtempSync(join(tmpdir(), "lattice-pki-"));
afterEach(() => vi.unstubAllEnvs());
afterAll(() => rmSync(root, { recursive: true, force: true, maxRetries: 9 }));

const dir = join(root, "pki");
const pki = (...words: string[]) => rig.run("admin", "pki", ...words, "--dir", dir);
const read = (file: string) => readFileSync(join(dir, file), "utf8");
const certificate = (name: string) => new X509Certificate(read(`${name}.crt`));
const serial = (name: string) => serialDigits(certificate(name).serialNumber);
const listed = async () =>
  (await readRevocations(read("ca.crl"), [read("ca.crt")])).map((one) => one.serial).toSorted();

test("issue and renew respect the lifetime", async () => {
  expect(await pki("init", "--site", "alps"), rig.err).toBe(0);
  expect(await pki("issue", "n1", "--kind", "agent", "--lifetime", "12h"), rig.err).toBe(0);
  const hours = (Date.parse(certificate("n1").validTo) - Date.now()) / 3_600_000;
  expect(hours).toBeGreaterThan(11.9);
  expect(hours).toBeLessThan(12.1);
  expect(statSync(join(dir, "n1.key")).mode & 0o777).toBe(0o600);
  const before = serial("n1");
  expect(await pki("renew", "n1", "--days", "2"), rig.err).toBe(0);
  expect(serial("n1")).not.toBe(before);
  expect(certificate("n1").subject).toContain("CN=n1.alps.lattice.internal");
});

test("an authority is created while LATTICE_CA names its certificate", async () => {
  const made = join(root, "new");
  vi.stubEnv("LATTICE_CA", join(made, "ca.crt"));
  expect(await rig.run("admin", "pki", "init", "--dir", made), rig.err).toBe(0);
  vi.stubEnv("LATTICE_CA", join(root, "absent.crt"));
  expect(await rig.run("admin", "pki", "issue", "n1", "--kind", "agent", "--dir", made), rig.err).toBe(0);
  expect(
    await rig.run("admin", "token", "create", "--user", "n1", "--secret-file", join(made, "ca.key")),
    rig.err,
  ).toBe(0);
  // A command that contacts a server needs it.
  expect(await rig.run("nodes")).not.toBe(0);
  expect(rig.err).toContain("absent.crt cannot be read");
});

test("revoke lists all certificates of a name and keeps earlier entries", async () => {
  const first = serial("n1");
  expect(await pki("renew", "n1"), rig.err).toBe(0);
  expect(await pki("revoke", "n1"), rig.err).toBe(0);
  expect(await listed()).toEqual(expect.arrayContaining([first, serial("n1")]));
  const count = (await listed()).length;
  expect(await pki("revoke", "--serial", "00:0A:bc"), rig.err).toBe(0);
  expect(await listed()).toContain("abc");
  expect(await listed()).toHaveLength(count + 1);
});

test("--quiet prints only names", async () => {
  for (const words of [["list"], ["renew", "n1"]]) {
    rig.out = "";
    expect(await pki("-q", ...words), rig.err).toBe(0);
    expect(rig.out.split("\n")).toContain("n1");
    expect(rig.out).not.toContain("agent");
  }
});

test("invalid arguments are refused and change nothing", async () => {
  const before = read("ca.crl");
  for (const words of [["revoke"], ["revoke", "unknown"], ["revoke", "--serial", "xyz"], ["revoke", "../ca"]]) {
    expect(await pki(...words)).not.toBe(0);
  }
  expect(await pki("issue", "n2", "--kind", "agent", "--lifetime", "soon")).not.toBe(0);
  expect(await pki("issue", "n2", "--kind", "king")).not.toBe(0);
  expect(read("ca.crl")).toBe(before);
  expect(() => read("n2.crt")).toThrow();
});
