// Where an authority keeps its files: `ca.crt` and `ca.key`, for each bearer `NAME.crt` and `NAME.key`, `issued.txt` with
// the number of each that was ever issued, and `ca.crl` with those that were called back. Keys are for their owner alone. A file is replaced by a rename, so that whoever watches it never sees half of one.

import { X509Certificate } from "node:crypto";
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type BearerKind, type Pem, ProblemError, serialDigits } from "@lattice/wire";

export interface Issued {
  readonly name: string;
  readonly kind: string;
  readonly site: string;
  /** "": bound to none. */
  readonly tenant: string;
  readonly hosts: readonly string[];
  readonly notBefore: Date;
  readonly notAfter: Date;
  readonly serial: string;
}

export const AUTHORITY = "ca";
/** Every certificate that was issued: its number, to whom, and its end. */
const ISSUED = "issued.txt";
const NAME = /^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/;

export function checkName(name: string): string {
  if (NAME.test(name) && name !== AUTHORITY) return name;
  throw bad(`"${name.slice(0, 80)}" is not a name`, "Use letters, digits, dots and dashes, at most 63.");
}

export const exists = (dir: string, name: string): boolean => existsSync(join(dir, `${name}.key`));

export function save(dir: string, name: string, pem: Pem): void {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  // The key first: a certificate without its key would be taken for a renewal that is whole.
  replace(join(dir, `${name}.key`), pem.key, 0o600);
  replace(join(dir, `${name}.crt`), pem.cert, 0o644);
  const { serialNumber, validTo } = new X509Certificate(pem.cert);
  const line = [serialDigits(serialNumber), name, new Date(validTo).toISOString()].join(" ");
  appendFileSync(join(dir, ISSUED), `${line}\n`, { mode: 0o644 });
}

/** Numbers of all that were issued to this name and have not ended. */
export function serialsOf(dir: string, name: string, nowMs: number): readonly string[] {
  const newest = serialDigits(new X509Certificate(load(dir, name).cert).serialNumber);
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

export function load(dir: string, name: string): Pem {
  const read = (suffix: string): string => {
    try {
      return readFileSync(join(dir, `${name}.${suffix}`), "utf8");
    } catch {
      const hint = name === AUTHORITY ? `Make one: lattice admin pki init --dir ${dir}` : "";
      throw bad(`there is no ${name}.${suffix} in ${dir}`, hint);
    }
  };
  return { cert: read("crt"), key: read("key") };
}

export function describe(dir: string, name: string): Issued {
  const cert = new X509Certificate(load(dir, name).cert);
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

export const listFile = (dir: string): string => join(dir, `${AUTHORITY}.crl`);

/** Text of the list of revoked certificates; null: there is none. */
export const loadList = (dir: string): string | null =>
  existsSync(listFile(dir)) ? readFileSync(listFile(dir), "utf8") : null;

export const saveList = (dir: string, text: string): void => replace(listFile(dir), text, 0o644);

export const all = (dir: string): readonly Issued[] =>
  (existsSync(dir) ? readdirSync(dir) : [])
    .filter((file) => file.endsWith(".crt"))
    .sort()
    .map((file) => describe(dir, file.slice(0, -".crt".length)));

/** Two thirds of its life are over. */
export const isDue = ({ notBefore, notAfter }: Issued, now: number): boolean =>
  now - notBefore.getTime() > ((notAfter.getTime() - notBefore.getTime()) * 2) / 3;

export const isKind = (text: string): text is BearerKind => text === "server" || text === "agent" || text === "client";

export const bad = (detail: string, hint: string): ProblemError =>
  new ProblemError("invalid_argument", { detail, ...(hint === "" ? {} : { hint }) });
