// Certificates as an authority makes them: for a new key, for a key that stays with its bearer, never beyond the
// authority's own end; and the revocation list.

import { generateKeyPairSync, X509Certificate } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import {
  certifyAgain,
  firstOfLine,
  issue,
  makeAuthority,
  type Pem,
  readRevocations,
  serialDigits,
  writeRevocations,
} from "../../src/index.ts";

const DAY = 86_400_000;
let authority: Pem;
const node = {
  name: "n1",
  kind: "agent",
  site: "alps",
  hosts: ["n1.example.com", "10.0.0.1"],
  lifetimeMs: DAY,
} as const;

beforeAll(async () => {
  authority = await makeAuthority("alps", 10 * DAY);
});

test("an issued certificate has the authority's signature, its key and the site's name", async () => {
  const { cert, key } = await issue(authority, node);
  const parsed = new X509Certificate(cert);
  expect(parsed.verify(new X509Certificate(authority.cert).publicKey)).toBe(true);
  expect(parsed.subject).toBe("CN=n1.alps.lattice.internal\nOU=agent");
  expect(parsed.subjectAltName).toContain("URI:spiffe://alps/agent/n1");
  expect(parsed.subjectAltName).toContain("IP Address:10.0.0.1");
  const { createPrivateKey } = await import("node:crypto");
  expect(parsed.checkPrivateKey(createPrivateKey(key))).toBe(true);
});

test("a renewed certificate keeps the names, has the given key and a new serial number", async () => {
  const old = new X509Certificate((await issue(authority, node)).cert);
  const { publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const spki = publicKey.export({ type: "spki", format: "der" });
  const next = new X509Certificate(await certifyAgain(authority, { old: old.raw, lifetimeMs: 2 * DAY }, spki));
  expect(next.subject).toBe(old.subject);
  const first = serialDigits(old.serialNumber);
  expect(next.subjectAltName).toBe(`${old.subjectAltName}, URI:urn:lattice:first:${first}`);
  const third = new X509Certificate(await certifyAgain(authority, { old: next.raw, lifetimeMs: DAY }, spki));
  expect(third.subjectAltName).toBe(next.subjectAltName);
  expect([firstOfLine(third.subjectAltName ?? ""), firstOfLine(old.subjectAltName ?? "")]).toEqual([first, null]);
  expect(next.publicKey.export({ type: "spki", format: "der" }).equals(spki)).toBe(true);
  expect(next.serialNumber).not.toBe(old.serialNumber);
  expect(Date.parse(next.validTo)).toBeGreaterThan(Date.parse(old.validTo));
});

test("no certificate outlives its authority, and a short one is not backdated far", async () => {
  const long = new X509Certificate((await issue(authority, { ...node, lifetimeMs: 100 * DAY })).cert);
  expect(long.validTo).toBe(new X509Certificate(authority.cert).validTo);
  const short = new X509Certificate((await issue(authority, { ...node, lifetimeMs: 20_000 })).cert);
  expect(Date.parse(short.validTo) - Date.parse(short.validFrom)).toBeLessThan(23_000);
});

test("authorities with RSA keys sign; an invalid key is refused with a reason", async () => {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const key = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  const root = new X509Certificate(
    await certifyAgain(
      authority,
      { old: new X509Certificate(authority.cert).raw, lifetimeMs: DAY },
      publicKey.export({ type: "spki", format: "der" }),
    ),
  );
  const { cert } = await issue({ cert: root.toString(), key }, node);
  expect(new X509Certificate(cert).verify(root.publicKey)).toBe(true);
  await expect(issue({ ...authority, key: authority.cert }, node)).rejects.toThrow(/must be in PEM/);
});

test("a revocation list survives a round trip; one of another authority is rejected", async () => {
  const { serialNumber } = new X509Certificate((await issue(authority, node)).cert);
  const at = new Date(Math.floor(Date.now() / 1000) * 1000);
  const serial = serialDigits(serialNumber);
  const list = await writeRevocations(authority, [{ serial, at }]);
  expect(await readRevocations(list, [authority.cert])).toEqual([{ serial, at }]);
  const other = await makeAuthority("alps", DAY);
  expect(await readRevocations(list, [other.cert, authority.cert])).toHaveLength(1);
  await expect(readRevocations(list, [other.cert])).rejects.toThrow(/not signed/);
  await expect(readRevocations("nothing", [authority.cert])).rejects.toThrow();
  expect(await readRevocations(await writeRevocations(authority, []), [authority.cert])).toEqual([]);
});
