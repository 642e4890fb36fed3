// The key that signs audit records: from the configured file, else one that is created at the first start in the data
// directory. Records are signed when they are read; Ed25519 is deterministic, so every server with the key returns
// the same signature.

import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

export interface AuditSigner {
  /** Base64. */
  sign(hash: string): string;
  /** PEM. */
  readonly publicKey: string;
}

const OWNER_ONLY = 0o600;
const OTHERS = 0o077;

/** Throws with the reason when the key cannot be used. */
export function openAuditSigner(path: string, configured: boolean): AuditSigner {
  if (!configured && !existsSync(path)) makeKey(path);
  const key = readKey(path);
  return {
    sign: (hash) => sign(null, Buffer.from(hash, "utf8"), key).toString("base64"),
    publicKey: createPublicKey(key).export({ type: "spki", format: "pem" }).toString(),
  };
}

function makeKey(path: string): void {
  mkdirSync(dirname(path), { recursive: true });
  const { privateKey } = generateKeyPairSync("ed25519");
  writeFileSync(path, privateKey.export({ type: "pkcs8", format: "pem" }), { mode: OWNER_ONLY, flag: "wx" });
}

function readKey(path: string): KeyObject {
  let key: KeyObject;
  try {
    if ((statSync(path).mode & OTHERS) !== 0) throw new Error("other users may read it; set its mode to 0600");
    key = createPrivateKey(readFileSync(path));
  } catch (error) {
    throw new Error(`audit.signing_key_path: ${path} cannot be used: ${(error as Error).message}`);
  }
  if (key.asymmetricKeyType === "ed25519") return key;
  throw new Error(`audit.signing_key_path: ${path} holds a key of type ${key.asymmetricKeyType}, not ed25519`);
}
