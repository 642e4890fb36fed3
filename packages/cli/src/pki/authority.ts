// A certificate authority for clusters that have none: keys and certificates in the files of one folder, made and
// signed on this machine. Names are `{name}.{site}.lattice.internal`, with what the bearer is as the unit, and a
// SPIFFE URI besides. Elliptic keys (P-256) keep handshakes cheap for ten thousand nodes.

import "reflect-metadata";
import { createPrivateKey, randomBytes, webcrypto } from "node:crypto";
import * as x509 from "@peculiar/x509";

export type BearerKind = "server" | "agent" | "client";

export interface Pem {
  readonly cert: string;
  readonly key: string;
}

export interface Wanted {
  readonly name: string;
  readonly kind: BearerKind;
  readonly site: string;
  /** Host names and addresses that it serves at. */
  readonly hosts: readonly string[];
  readonly days: number;
}

const DAY_MS = 86_400_000;
/** Clocks of freshly booted nodes are a little off. */
const BACKDATE_MS = 300_000;
const EC = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;

x509.cryptoProvider.set(webcrypto as Crypto);

export async function makeAuthority(site: string, days: number): Promise<Pem> {
  const keys = await webcrypto.subtle.generateKey(EC, true, ["sign", "verify"]);
  const cert = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: serial(),
    name: `CN=ca.${site}.lattice.internal, OU=authority`,
    ...validity(days),
    signingAlgorithm: EC,
    keys: keys as CryptoKeyPair,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey as CryptoKey),
    ],
  });
  return { cert: pemOf(cert), key: await keyPem(keys.privateKey) };
}

/** With a new key, unless one is given to be kept. */
export async function issue(authority: Pem, wanted: Wanted): Promise<Pem> {
  const issuer = new x509.X509Certificate(authority.cert);
  const signingKey = await importKey(authority.key);
  const keys = await webcrypto.subtle.generateKey(EC, true, ["sign", "verify"]);
  // Agents are also dialled, by each other.
  const usages = [
    x509.ExtendedKeyUsage.clientAuth,
    ...(wanted.kind === "client" ? [] : [x509.ExtendedKeyUsage.serverAuth]),
  ];
  const cert = await x509.X509CertificateGenerator.create({
    serialNumber: serial(),
    issuer: issuer.subject,
    subject: `CN=${wanted.name}.${wanted.site}.lattice.internal, OU=${wanted.kind}`,
    ...within(issuer, wanted.days),
    signingAlgorithm: EC,
    publicKey: keys.publicKey as CryptoKey,
    signingKey,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension(usages),
      new x509.SubjectAlternativeNameExtension(alternatives(wanted)),
      await x509.AuthorityKeyIdentifierExtension.create(issuer.publicKey),
    ],
  });
  return { cert: pemOf(cert), key: await keyPem(keys.privateKey) };
}

function alternatives({ name, kind, site, hosts }: Wanted): x509.JsonGeneralName[] {
  const named = hosts.map((host): x509.JsonGeneralName => ({ type: isAddress(host) ? "ip" : "dns", value: host }));
  return [...named, { type: "url", value: `spiffe://${site}/${kind}/${encodeURIComponent(name)}` }];
}

const isAddress = (host: string): boolean => /^[0-9.]+$/.test(host) || host.includes(":");

const serial = (): string => `01${randomBytes(15).toString("hex")}`;

const validity = (days: number) => {
  const now = Date.now();
  return { notBefore: new Date(now - BACKDATE_MS), notAfter: new Date(now + days * DAY_MS) };
};

/** Nothing outlives its authority. */
function within(issuer: x509.X509Certificate, days: number) {
  const { notBefore, notAfter } = validity(days);
  return { notBefore, notAfter: notAfter < issuer.notAfter ? notAfter : issuer.notAfter };
}

const pemOf = (cert: x509.X509Certificate): string => `${cert.toString("pem")}\n`;

async function keyPem(key: webcrypto.CryptoKey): Promise<string> {
  const der = Buffer.from(await webcrypto.subtle.exportKey("pkcs8", key));
  return createPrivateKey({ key: der, format: "der", type: "pkcs8" })
    .export({ type: "pkcs8", format: "pem" })
    .toString();
}

function importKey(pem: string): Promise<CryptoKey> {
  const der = createPrivateKey(pem).export({ type: "pkcs8", format: "der" });
  return webcrypto.subtle.importKey("pkcs8", der, EC, false, ["sign"]) as Promise<CryptoKey>;
}
