// The renewed identity, kept by the agent: certificate and key in one file of the data folder, replaced by a rename,
// so that a crash leaves one complete pair. It follows a certificate that was given in files, which are not touched;
// when the given files change, the kept pair no longer applies.

import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TlsIdentity } from "./identity.ts";

export const keptIn = (dataDir: string): string => join(dataDir, "identity.pem");

export type Pair = Pick<TlsIdentity, "cert" | "key">;

export function keep(path: string, given: TlsIdentity, { cert, key }: Pair): void {
  const fresh = `${path}.${process.pid}.new`;
  const text = Buffer.concat([Buffer.from(`${headOf(given)}\n`), key, cert]);
  writeFileSync(fresh, text, { mode: 0o600, flush: true });
  renameSync(fresh, path);
}

/** Returns the pair kept after `given` while it is valid, else `given`. */
export function keptAfter(path: string, given: TlsIdentity, nowMs: number): TlsIdentity {
  try {
    const text = readFileSync(path, "utf8");
    if (!text.startsWith(`${headOf(given)}\n`)) return given;
    const key = Buffer.from(block(text, "PRIVATE KEY"));
    const cert = Buffer.from(block(text, "CERTIFICATE"));
    const { subject, validTo } = new X509Certificate(cert);
    const fits = new X509Certificate(cert).checkPrivateKey(createPrivateKey(key));
    const same = subject === new X509Certificate(given.cert).subject;
    return fits && same && Date.parse(validTo) > nowMs ? { ...given, cert, key } : given;
  } catch {
    return given;
  }
}

const headOf = ({ cert }: TlsIdentity): string => `after ${new X509Certificate(cert).fingerprint256}`;

function block(text: string, label: string): string {
  const match = new RegExp(`-----BEGIN ${label}-----[\\s\\S]*?-----END ${label}-----\\n?`).exec(text);
  if (match === null) throw new Error(`there is no ${label}`);
  return match[0];
}
