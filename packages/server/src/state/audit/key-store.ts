// The private keys of the audit log on this server: one file of mode 0600 for each key in `<data_dir>/audit/keys`. A key
// is durable here before the log names it. Keys that the log has replaced are deleted, so that a stolen disk cannot sign
// older records.

import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { auditKeyId } from "@lattice/core";

export interface NewAuditKey {
  readonly id: string;
  /** SubjectPublicKeyInfo in base64. */
  readonly publicKey: string;
}

const OWNER_ONLY = 0o600;
const OTHERS = 0o077;
const NAME = /^([0-9a-f]{32})\.pem$/;

export class AuditKeyStore {
  readonly #dir: string;
  readonly #keys = new Map<string, KeyObject>();

  private constructor(dir: string) {
    this.#dir = dir;
  }

  /** Throws with the reason when a key cannot be used. */
  static open(dir: string): AuditKeyStore {
    const store = new AuditKeyStore(dir);
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    for (const name of readdirSync(dir)) {
      const id = NAME.exec(name)?.[1];
      if (id !== undefined) store.#keys.set(id, readKey(join(dir, name), id));
    }
    return store;
  }

  has(id: string): boolean {
    return this.#keys.has(id);
  }

  /** Returns the signature in base64, or `null` without the private key. */
  sign(id: string, text: string): string | null {
    const key = this.#keys.get(id);
    return key === undefined ? null : sign(null, Buffer.from(text, "utf8"), key).toString("base64");
  }

  /** Returns a new key; it is durable. */
  create(): NewAuditKey {
    return this.#keep(generateKeyPairSync("ed25519").privateKey);
  }

  /** Returns the private key for another member, in PEM; `null` when this server does not have it. */
  pem(id: string): string | null {
    const key = this.#keys.get(id);
    return key === undefined ? null : pemOf(key);
  }

  /** Keeps the private key of another member; it is durable. Throws for text that is not such a key. */
  add(pem: string): NewAuditKey {
    const key = createPrivateKey(pem);
    if (key.asymmetricKeyType !== "ed25519")
      throw new Error(`the key is of type ${key.asymmetricKeyType}, not ed25519`);
    return this.#keep(key);
  }

  /** Deletes a private key that signs nothing any more. */
  remove(id: string): void {
    if (!this.#keys.delete(id)) return;
    rmSync(this.#pathOf(id), { force: true });
  }

  #keep(key: KeyObject): NewAuditKey {
    const named = nameOf(key);
    if (!this.#keys.has(named.id)) {
      writeDurably(this.#dir, this.#pathOf(named.id), pemOf(key));
      this.#keys.set(named.id, key);
    }
    return named;
  }

  #pathOf(id: string): string {
    return join(this.#dir, `${id}.pem`);
  }
}

const pemOf = (key: KeyObject): string => key.export({ type: "pkcs8", format: "pem" }).toString();

function nameOf(key: KeyObject): NewAuditKey {
  const publicKey = createPublicKey(key).export({ type: "spki", format: "der" }).toString("base64");
  return { id: auditKeyId(publicKey), publicKey };
}

function readKey(path: string, id: string): KeyObject {
  try {
    if ((statSync(path).mode & OTHERS) !== 0) throw new Error("other users may read it; set its mode to 0600");
    const key = createPrivateKey(readFileSync(path));
    if (nameOf(key).id !== id) throw new Error("it holds another key than its name says");
    return key;
  } catch (error) {
    throw new Error(`the key of the audit log in ${path} cannot be used: ${(error as Error).message}`);
  }
}

function writeDurably(dir: string, path: string, text: string): void {
  const draft = `${path}.new`;
  rmSync(draft, { force: true });
  writeFileSync(draft, text, { mode: OWNER_ONLY, flag: "wx", flush: true });
  renameSync(draft, path);
  const folder = openSync(dir, "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
