// The private keys of the audit log on a server: durable, readable by the owner only, and gone once they are replaced.

import { chmodSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { auditKeyId, isAuditPublicKey, isAuditSignature } from "@lattice/core";
import { afterEach, beforeEach, expect, test } from "vitest";
import { AuditKeyStore } from "../../../src/state/audit/key-store.ts";
import { publicKeyPem, signatureCheck } from "../../../src/state/audit/signature.ts";

let dir = "";
beforeEach(() => {
  dir = join(mkdtempSync(join(tmpdir(), "lattice-audit-keys-")), "keys");
});
afterEach(() => rmSync(join(dir, ".."), { recursive: true, force: true, maxRetries: 9 }));

test("a key signs after a restart, and only with its private key", () => {
  const { id, publicKey } = AuditKeyStore.open(dir).create();
  expect([isAuditPublicKey(publicKey), auditKeyId(publicKey)]).toEqual([true, id]);
  const again = AuditKeyStore.open(dir);
  const signature = again.sign(id, "text") ?? "";
  const check = signatureCheck();
  expect([isAuditSignature(signature), check("text", signature, publicKey)]).toEqual([true, true]);
  expect(check("other text", signature, publicKey)).toBe(false);
  expect(check("text", signature, again.create().publicKey)).toBe(false);
  expect(again.sign("0".repeat(32), "text")).toBeNull();
});

test("key files are readable by their owner only, and a file that others may read is refused", () => {
  const { id } = AuditKeyStore.open(dir).create();
  const path = join(dir, `${id}.pem`);
  expect([statSync(path).mode & 0o777, statSync(dir).mode & 0o777]).toEqual([0o600, 0o700]);
  chmodSync(path, 0o640);
  expect(() => AuditKeyStore.open(dir)).toThrow(/set its mode to 0600/);
});

test("another server keeps the same key, and a damaged or renamed one is refused", () => {
  const first = AuditKeyStore.open(dir);
  const { id } = first.create();
  const elsewhere = AuditKeyStore.open(join(dir, "elsewhere"));
  expect(elsewhere.add(first.pem(id) ?? "")).toMatchObject({ id });
  expect(elsewhere.sign(id, "text")).toBe(first.sign(id, "text"));
  expect(() => elsewhere.add("no key")).toThrow();
  expect(() => elsewhere.add(publicKeyPem(first.create().publicKey))).toThrow();
  renameSync(join(dir, `${id}.pem`), join(dir, `${"0".repeat(32)}.pem`));
  expect(() => AuditKeyStore.open(dir)).toThrow(/another key than its name/);
});

test("a removed key signs nothing any more, and the draft of an interrupted write is ignored", () => {
  const store = AuditKeyStore.open(dir);
  const { id } = store.create();
  store.remove(id);
  store.remove(id);
  expect([store.has(id), store.pem(id), store.sign(id, "text")]).toEqual([false, null, null]);
  writeFileSync(join(dir, `${id}.pem.new`), "half a k", { mode: 0o600 });
  expect(AuditKeyStore.open(dir).has(id)).toBe(false);
  expect(readdirSync(dir)).toEqual([`${id}.pem.new`]);
});
