// An authority and certificates for loopback addresses, valid for servers and clients, for tests.

import { execFileSync } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { HOST } from "./etcd-cluster.ts";

export interface CertificateFiles {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

interface Wanted {
  readonly name: string;
  readonly dnsNames: readonly string[];
  /** The authority that signs; default: a new one. */
  readonly ca: CertificateFiles | null;
}

const CURVE = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
const MEMBER: Wanted = { name: "node", dnsNames: ["localhost", "etcd.lattice.internal"], ca: null };

export async function issueCertificates(dir: string, { name, dnsNames, ca } = MEMBER): Promise<CertificateFiles> {
  const at = (file: string): string => join(dir, file);
  const openssl = (...args: readonly string[]): void => {
    execFileSync("openssl", args, { stdio: "ignore" });
  };
  const names = [`IP:127.0.0.1`, `IP:${HOST}`, ...dnsNames.map((one) => `DNS:${one}`)].join(",");
  await writeFile(at("ext"), `subjectAltName=${names}\nextendedKeyUsage=serverAuth,clientAuth\n`);
  if (ca === null)
    openssl("req", "-x509", ...CURVE, "-keyout", at("ca.key"), "-out", at("ca.pem"), "-subj", "/CN=ca", "-days", "2");
  openssl("req", ...CURVE, "-keyout", at(`${name}.key`), "-out", at(`${name}.csr`), "-subj", `/CN=${name}`);
  const signing = ["-CA", at("ca.pem"), "-CAkey", at("ca.key"), "-CAcreateserial", "-extfile", at("ext"), "-days", "2"];
  openssl("x509", "-req", "-in", at(`${name}.csr`), "-out", at(`${name}.pem`), ...signing);
  return { ca: at("ca.pem"), cert: at(`${name}.pem`), key: at(`${name}.key`) };
}

export async function readTexts(files: CertificateFiles): Promise<CertificateFiles> {
  const read = (path: string): Promise<string> => readFile(path, "utf8");
  return { ca: await read(files.ca), cert: await read(files.cert), key: await read(files.key) };
}
