// Verifies signatures of the audit log.

import { createPublicKey, type KeyObject, verify } from "node:crypto";
import type { CheckSignature } from "@lattice/core";

/** Parses each key once. */
export function signatureCheck(): CheckSignature {
  const keys = new Map<string, KeyObject>();
  return (text, signature, publicKey) => {
    const key = keys.get(publicKey) ?? keyOf(publicKey);
    keys.set(publicKey, key);
    return verify(null, Buffer.from(text, "utf8"), key, Buffer.from(signature, "base64"));
  };
}

const keyOf = (publicKey: string): KeyObject =>
  createPublicKey({ key: Buffer.from(publicKey, "base64"), format: "der", type: "spki" });

export const publicKeyPem = (publicKey: string): string =>
  keyOf(publicKey).export({ type: "spki", format: "pem" }).toString();
