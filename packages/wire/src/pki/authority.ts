// A certificate authority for clusters without one. The common name is `{name}.{site}.lattice.internal`, the unit is
// the kind of bearer, and a SPIFFE URI is added. P-256 keys keep handshakes cheap for ten thousand nodes. The caller
// stores keys and certificates.

import { importSigningKey, keyToPem } from "./keys.ts";
import { type Library, library } from "./library.ts";
import { serialDigits } from "./serial.ts";

export type BearerKind = "server" | "agent" | "client";

/** A certificate and its key, as PEM. */
export interface Pem {
  readonly cert: string;
  readonly key: string;
}

interface CertificateRequest {
  readonly name: string;
  readonly kind: BearerKind;
  readonly site: string;
  /** Host names and addresses of the server. */
  readonly hosts: readonly string[];
  readonly lifetimeMs: number;
  /** The tenant of a client; "" or absent for none. */
  readonly tenant?: string;
}

/** Certificates of servers have this host name, so that members of etcd accept no others of the authority. */
export const MEMBER_NAME = "etcd.lattice.internal";

/** Tolerated error of the clocks of freshly booted nodes. */
const BACKDATE_MS = 300_000;
/** The tolerated part of a short lifetime. */
const BACKDATE_PART = 0.05;
const EC = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;
const SERIAL_BYTES = 15;

export async function makeAuthority(site: string, lifetimeMs: number): Promise<Pem> {
  const x509 = await library();
  const keys = await crypto.subtle.generateKey(EC, true, ["sign", "verify"]);
  const cert = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: serial(),
    name: `CN=ca.${site}.lattice.internal, OU=authority`,
    ...validity(lifetimeMs),
    signingAlgorithm: EC,
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return { cert: pemOf(cert), key: await keyToPem(keys.privateKey) };
}

/** Issues a certificate with a new key. */
export async function issue(authority: Pem, wanted: CertificateRequest): Promise<Pem> {
  const keys = await crypto.subtle.generateKey(EC, true, ["sign", "verify"]);
  const spki = new Uint8Array(await crypto.subtle.exportKey("spki", keys.publicKey));
  return { cert: await certify(authority, wanted, spki), key: await keyToPem(keys.privateKey) };
}

/** Names the first certificate of a chain of renewals, so that revoking its serial number revokes all of them. */
const FIRST = "urn:lattice:first:";

/**
 * Returns the serial number of the first certificate in the chain of renewals, from the alternative names; null when it
 * is the first.
 */
export const firstOfLine = (subjectAltName: string): string | null =>
  new RegExp(`URI:${FIRST}([0-9a-f]+)(?:,|$)`).exec(subjectAltName)?.[1] ?? null;

/** Issues the renewed certificate of a bearer, with the names of the old one (DER), for a key that the bearer keeps. */
export async function certifyAgain(
  authority: Pem,
  { old, lifetimeMs }: { readonly old: Uint8Array; readonly lifetimeMs: number },
  publicKey: Uint8Array,
): Promise<string> {
  const x509 = await library();
  const before = new x509.X509Certificate(new Uint8Array(old));
  const names = before.getExtension(x509.SubjectAlternativeNameExtension)?.names.toJSON() ?? [];
  const inLine = names.some(({ type, value }) => type === "url" && value.startsWith(FIRST));
  const first = { type: "url" as const, value: `${FIRST}${serialDigits(before.serialNumber)}` };
  const usages = before.getExtension(x509.ExtendedKeyUsageExtension);
  return signed(authority, {
    subject: before.subject,
    lifetimeMs,
    publicKey,
    extensions: [
      new x509.SubjectAlternativeNameExtension(inLine ? names : [...names, first]),
      ...(usages === null ? [] : [usages]),
    ],
  });
}

const AUTHORITY_NAME = /^ca\.(.+)\.lattice\.internal$/;
/** Loads an authority that was not created by `makeAuthority`. */
const NO_SITE = "site";

/**
 * Issues the first certificate of an agent, for a key that the agent keeps. It has no host names: those belong to
 * servers.
 */
export async function certifyAgent(
  authority: Pem,
  { name, lifetimeMs }: Pick<CertificateRequest, "name" | "lifetimeMs">,
  publicKey: Uint8Array,
): Promise<string> {
  const x509 = await library();
  const [common = ""] = new x509.X509Certificate(authority.cert).subjectName.getField("CN");
  const site = AUTHORITY_NAME.exec(common)?.[1] ?? NO_SITE;
  return certify(authority, { name, kind: "agent", site, hosts: [], lifetimeMs }, publicKey);
}

async function certify(authority: Pem, wanted: CertificateRequest, publicKey: Uint8Array): Promise<string> {
  const x509 = await library();
  // Agents also connect to each other.
  const usages = [
    x509.ExtendedKeyUsage.clientAuth,
    ...(wanted.kind === "client" ? [] : [x509.ExtendedKeyUsage.serverAuth]),
  ];
  const organisation = (wanted.tenant ?? "") === "" ? "" : `, O=${wanted.tenant}`;
  return signed(authority, {
    subject: `CN=${wanted.name}.${wanted.site}.lattice.internal, OU=${wanted.kind}${organisation}`,
    lifetimeMs: wanted.lifetimeMs,
    publicKey,
    extensions: [
      new x509.ExtendedKeyUsageExtension(usages),
      new x509.SubjectAlternativeNameExtension(alternatives(wanted)),
    ],
  });
}

interface ToSign {
  readonly subject: string;
  readonly lifetimeMs: number;
  /** SubjectPublicKeyInfo, DER. */
  readonly publicKey: Uint8Array;
  readonly extensions: readonly InstanceType<Library["Extension"]>[];
}

async function signed(authority: Pem, { subject, lifetimeMs, publicKey, extensions }: ToSign): Promise<string> {
  const x509 = await library();
  const issuer = new x509.X509Certificate(authority.cert);
  const { key: signingKey, algorithm } = await importSigningKey(authority.key);
  const cert = await x509.X509CertificateGenerator.create({
    serialNumber: serial(),
    issuer: issuer.subject,
    subject,
    ...within(issuer, lifetimeMs),
    signingAlgorithm: algorithm,
    publicKey: new x509.PublicKey(new Uint8Array(publicKey)),
    signingKey,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      ...extensions,
      await x509.AuthorityKeyIdentifierExtension.create(issuer.publicKey),
    ],
  });
  return pemOf(cert);
}

function alternatives({ name, kind, site, hosts }: CertificateRequest) {
  const members = kind === "server" ? [MEMBER_NAME] : [];
  const named = [...new Set([...hosts, ...members])].map((host) => ({
    type: isAddress(host) ? ("ip" as const) : ("dns" as const),
    value: host,
  }));
  return [...named, { type: "url" as const, value: `spiffe://${site}/${kind}/${encodeURIComponent(name)}` }];
}

const isAddress = (host: string): boolean => /^[0-9.]+$/.test(host) || host.includes(":");

function serial(): string {
  const random = crypto.getRandomValues(new Uint8Array(SERIAL_BYTES));
  return `01${Array.from(random, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

function validity(lifetimeMs: number) {
  const now = Date.now();
  const backdate = Math.min(BACKDATE_MS, lifetimeMs * BACKDATE_PART);
  return { notBefore: new Date(now - backdate), notAfter: new Date(now + lifetimeMs) };
}

/** No certificate outlives its authority. */
function within(issuer: InstanceType<Library["X509Certificate"]>, lifetimeMs: number) {
  const { notBefore, notAfter } = validity(lifetimeMs);
  return { notBefore, notAfter: notAfter < issuer.notAfter ? notAfter : issuer.notAfter };
}

const pemOf = (cert: InstanceType<Library["X509Certificate"]>): string => `${cert.toString("pem")}\n`;
