// Certificate, key and authority as they lie on disk, read together and believed only when they belong together: a
// half-written renewal must not take a server down.

import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import type { TlsConfig } from "../config/tls.ts";

export interface TlsMaterial {
  readonly cert: Buffer;
  readonly key: Buffer;
  readonly ca: Buffer | null;
  readonly notAfterMs: number;
  readonly serial: string;
}

const OTHERS = 0o007;

/** Throws with what is wrong. */
export function readMaterial({ cert: certPath, key: keyPath, ca: caPath }: TlsConfig): TlsMaterial {
  const cert = read("api.tls_cert", certPath);
  const key = read("api.tls_key", keyPath);
  if ((statSync(keyPath).mode & OTHERS) !== 0)
    throw new Error(`api.tls_key: everybody may read ${keyPath}; set its mode to 0600`);
  const ca = caPath === null ? null : read("api.tls_ca", caPath);
  const own = parsed("api.tls_cert", certPath, () => new X509Certificate(cert));
  const secret = parsed("api.tls_key", keyPath, () => createPrivateKey(key));
  if (!own.checkPrivateKey(secret)) throw new Error(`api.tls_key: ${keyPath} is not the key of ${certPath}`);
  if (ca !== null && caPath !== null) parsed("api.tls_ca", caPath, () => new X509Certificate(ca));
  return { cert, key, ca, notAfterMs: Date.parse(own.validTo), serial: own.serialNumber };
}

function read(option: string, path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new Error(`${option}: ${path} cannot be read (${(error as NodeJS.ErrnoException).code ?? "unreadable"})`);
  }
}

function parsed<T>(option: string, path: string, parse: () => T): T {
  try {
    return parse();
  } catch {
    throw new Error(`${option}: ${path} is not what it should be, in PEM`);
  }
}
