// Certificate revocation lists (RFC 5280), written by the authority and read by servers. Certificates are named by
// their serial numbers, in hexadecimal without leading zeros.

import type { Pem } from "./authority.ts";
import { importSigningKey } from "./keys.ts";
import { library } from "./library.ts";
import { serialDigits } from "./serial.ts";

export interface Revocation {
  readonly serial: string;
  readonly at: Date;
}

export async function writeRevocations(authority: Pem, revoked: readonly Revocation[]): Promise<string> {
  const x509 = await library();
  const issuer = new x509.X509Certificate(authority.cert);
  const { key: signingKey, algorithm } = await importSigningKey(authority.key);
  const list = await x509.X509CrlGenerator.create({
    issuer: issuer.subject,
    thisUpdate: new Date(),
    // The list is replaced at each revocation, not on a schedule.
    nextUpdate: issuer.notAfter,
    signingAlgorithm: algorithm,
    signingKey,
    entries: revoked.map(({ serial, at }) => ({ serialNumber: evenDigits(serial), revocationDate: at })),
  });
  return `${list.toString("pem")}\n`;
}

/** Throws when the text is no revocation list in PEM, or no authority has signed it. */
export async function readRevocations(list: string, authorities: readonly string[]): Promise<readonly Revocation[]> {
  const x509 = await library();
  const crl = new x509.X509Crl(list);
  const signed = await Promise.all(
    authorities.map((cert) => crl.verify({ publicKey: new x509.X509Certificate(cert) }).catch(() => false)),
  );
  if (!signed.includes(true)) throw new Error("the list of revoked certificates is not signed by the authority");
  return crl.entries.map(({ serialNumber, revocationDate }) => ({
    serial: serialDigits(serialNumber),
    at: revocationDate,
  }));
}

const evenDigits = (serial: string): string => (serial.length % 2 === 0 ? serial : `0${serial}`);
