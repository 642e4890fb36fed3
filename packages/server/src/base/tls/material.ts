// Certificate, key and authority, read together and accepted only when they match: a half-written renewal must not
// stop a server.

import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import type { PeerCertificate } from "node:tls";
import { firstOfLine, readRevocations, serialDigits } from "@lattice/wire";
import type { TlsConfig } from "../config/index.ts";

export interface TlsMaterial {
  readonly cert: Buffer;
  readonly key: Buffer;
  readonly ca: Buffer | null;
  readonly notAfterMs: number;
  readonly serial: string;
  /** Signs the certificates of agents; `null` when this server renews none. */
  readonly signer: { readonly cert: string; readonly key: string } | null;
  /** The revocation list as read; `null` without one. */
  readonly list: string | null;
  /** Returns whether this certificate, or the first one of its renewal chain, is revoked. */
  isRevoked(certificate: Pick<PeerCertificate, "serialNumber" | "subjectaltname">): boolean;
}

const OTHERS = 0o007;
const BLOCK = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g;

/** Rejects with the problem. */
export async function readMaterial(config: TlsConfig): Promise<TlsMaterial> {
  const { cert: certPath, key: keyPath, ca: caPath } = config;
  const cert = read("api.tls_cert", certPath);
  const own = parsed("api.tls_cert", certPath, () => new X509Certificate(cert));
  const secret = readKey("api.tls_key", keyPath);
  if (!own.checkPrivateKey(secret.key)) throw new Error(`api.tls_key: ${keyPath} is not the key of ${certPath}`);
  const ca = caPath === null ? null : read("api.tls_ca", caPath);
  const authorities = (ca?.toString("utf8").match(BLOCK) ?? []).map((pem) => pem);
  if (caPath !== null) {
    if (authorities.length === 0) throw notPem("api.tls_ca", caPath);
    for (const pem of authorities) parsed("api.tls_ca", caPath, () => new X509Certificate(pem));
  }
  const list = config.crl === null ? null : read("api.tls_crl", config.crl).toString("utf8");
  const revoked = list === null ? new Set<string>() : await readRevoked(config, list, authorities);
  return {
    cert,
    key: secret.text,
    ca,
    notAfterMs: Date.parse(own.validTo),
    serial: own.serialNumber,
    signer: readSigner(config, authorities),
    list,
    isRevoked: ({ serialNumber, subjectaltname }) =>
      revoked.has(serialDigits(serialNumber)) || revoked.has(firstOfLine(subjectaltname ?? "") ?? ""),
  };
}

function readSigner({ ca, caKey }: TlsConfig, authorities: readonly string[]): TlsMaterial["signer"] {
  if (caKey === null) return null;
  const { key, text } = readKey("api.tls_ca_key", caKey);
  const cert = authorities.find((pem) => new X509Certificate(pem).checkPrivateKey(key));
  if (cert === undefined) throw new Error(`api.tls_ca_key: ${caKey} is not the key of an authority in ${ca}`);
  return { cert, key: text.toString("utf8") };
}

async function readRevoked(
  { crl }: TlsConfig,
  list: string,
  authorities: readonly string[],
): Promise<ReadonlySet<string>> {
  try {
    return new Set((await readRevocations(list, authorities)).map(({ serial }) => serial));
  } catch (error) {
    throw new Error(`api.tls_crl: ${crl} cannot be used: ${(error as Error).message}`);
  }
}

function readKey(option: string, path: string): { readonly key: KeyObject; readonly text: Buffer } {
  const text = read(option, path);
  if ((statSync(path).mode & OTHERS) !== 0)
    throw new Error(`${option}: other users may read ${path}; set its mode to 0600`);
  return { key: parsed(option, path, () => createPrivateKey(text)), text };
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
    throw notPem(option, path);
  }
}

const notPem = (option: string, path: string): Error => new Error(`${option}: ${path} is not a valid PEM file`);
