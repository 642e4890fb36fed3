// The directory of a certificate authority: `ca.crt` and `ca.key`, `NAME.crt` and `NAME.key` per certificate,
// `issued.txt` with every serial number ever issued, and `ca.crl` with the revoked ones. Keys have mode 0600. Files
// are replaced by rename, so that a process that watches one never reads half of it.

import { X509Certificate } from "node:crypto";
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type BearerKind, type Pem, ProblemError, serialDigits } from "@lattice/wire";

export interface IssuedCertificate {
  readonly name: string;
  readonly kind: string;
  readonly site: string;
  /** Empty for a certificate that is not bound to a tenant. */
  readonly tenant: string;
  readonly hosts: readonly string[];
  readonly notBefore: Date;
  readonly notAfter: Date;
  readonly serial: string;
}

export const AUTHORITY = "ca";
/** One line per issued certificate: serial number, name, expiry. */
const ISSUED = "issued.txt";
const NAME = /^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/;

export function checkName(name: string): string {
  if (NAME.test(name) && name !== AUTHORITY) return name;
  throw invalidArgument(
    `"${name.slice(0, 80)}" is not a valid name`,
    "Use at most 63 letters, digits, dots and dashes.",
  );
}

export const hasKey = (dir: string, name: string): boolean => existsSync(join(dir, `${name}.key`));

export function savePem(dir: string, name: string, pem: Pem): void {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  // The key first: a new certificate must never be read with the old key.
  replace(join(dir, `${name}.key`), pem.key, 0o600);
  replace(join(dir, `${name}.crt`), pem.cert, 0o644);
  const { serialNumber, validTo } = new X509Certificate(pem.cert);
  const line = [serialDigits(serialNumber), name, new Date(validTo).toISOString()].join(" ");
  appendFileSync(join(dir, ISSUED), `${line}\n`, { mode: 0o644 });
}

/** Returns the serial numbers of all unexpired certificates that were issued to this name. */
export function serialsOf(dir: string, name: string, nowMs: number): readonly string[] {
  const newest = serialDigits(new X509Certificate(loadPem(dir, name).cert).serialNumber);
  const path = join(dir, ISSUED);
  const lines = existsSync(path) ? readFileSync(path, "utf8").split("\n") : [];
  const issued = lines.flatMap((line) => {
    const [serial = "", whose, until = ""] = line.split(" ");
    return whose === name && Date.parse(until) > nowMs ? [serial] : [];
  });
  return [...new Set([...issued, newest])];
}

function replace(path: string, text: string, mode: number): void {
  const fresh = `${path}.${process.pid}.new`;
  writeFileSync(fresh, text, { mode });
  renameSync(fresh, path);
}

export function loadPem(dir: string, name: string): Pem {
  const read = (suffix: string): string => {
    try {
      return readFileSync(join(dir, `${name}.${suffix}`), "utf8");
    } catch {
      const hint = name === AUTHORITY ? `Run: lattice admin pki init --dir ${dir}` : "";
      throw invalidArgument(`there is no ${name}.${suffix} in ${dir}`, hint);
    }
  };
  return { cert: read("crt"), key: read("key") };
}

export function readCertificate(dir: string, name: string): IssuedCertificate {
  const cert = new X509Certificate(loadPem(dir, name).cert);
  const field = (key: string) => new RegExp(`^${key}=(.*)$`, "m").exec(cert.subject)?.[1] ?? "";
  const inner = field("CN").replace(/\.lattice\.internal$/, "");
  const hosts = (cert.subjectAltName ?? "")
    .split(", ")
    .flatMap((one) => /^(?:DNS|IP Address):(.*)$/.exec(one)?.[1] ?? []);
  return {
    name,
    kind: field("OU"),
    tenant: field("O"),
    site: inner.slice(inner.lastIndexOf(".") + 1),
    hosts,
    notBefore: new Date(cert.validFrom),
    notAfter: new Date(cert.validTo),
    serial: cert.serialNumber,
  };
}

export const crlFile = (dir: string): string => join(dir, `${AUTHORITY}.crl`);

/** Returns the certificate revocation list (PEM), or null when there is none. */
export const loadCrl = (dir: string): string | null =>
  existsSync(crlFile(dir)) ? readFileSync(crlFile(dir), "utf8") : null;

export const saveCrl = (dir: string, text: string): void => replace(crlFile(dir), text, 0o644);

export const listCertificates = (dir: string): readonly IssuedCertificate[] =>
  (existsSync(dir) ? readdirSync(dir) : [])
    .filter((file) => file.endsWith(".crt"))
    .sort()
    .map((file) => readCertificate(dir, file.slice(0, -".crt".length)));

/** Whether two thirds of the lifetime have passed. */
export const isDueForRenewal = ({ notBefore, notAfter }: IssuedCertificate, now: number): boolean =>
  now - notBefore.getTime() > ((notAfter.getTime() - notBefore.getTime()) * 2) / 3;

export const isKind = (text: string): text is BearerKind => text === "server" || text === "agent" || text === "client";

export const invalidArgument = (detail: string, hint: string): ProblemError =>
  new ProblemError("invalid_argument", { detail, ...(hint === "" ? {} : { hint }) });
