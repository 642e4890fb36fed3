// An authority and one certificate for loopback addresses, valid for servers and clients, for tests.

import { execFileSync } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { HOST } from "./etcd-cluster.ts";

export interface CertificateFiles {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

const CURVE = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];

export async function issueCertificates(dir: string): Promise<CertificateFiles> {
  const at = (name: string): string => join(dir, name);
  const openssl = (...args: readonly string[]): void => {
    execFileSync("openssl", args, { stdio: "ignore" });
  };
  await writeFile(
    at("ext"),
    `subjectAltName=IP:127.0.0.1,IP:${HOST},DNS:localhost\nextendedKeyUsage=serverAuth,clientAuth\n`,
  );
  openssl("req", "-x509", ...CURVE, "-keyout", at("ca.key"), "-out", at("ca.pem"), "-subj", "/CN=ca", "-days", "2");
  openssl("req", ...CURVE, "-keyout", at("node.key"), "-out", at("node.csr"), "-subj", "/CN=node");
  const signing = ["-CA", at("ca.pem"), "-CAkey", at("ca.key"), "-CAcreateserial", "-extfile", at("ext"), "-days", "2"];
  openssl("x509", "-req", "-in", at("node.csr"), "-out", at("node.pem"), ...signing);
  return { ca: at("ca.pem"), cert: at("node.pem"), key: at("node.key") };
}

export async function readTexts(files: CertificateFiles): Promise<CertificateFiles> {
  const read = (path: string): Promise<string> => readFile(path, "utf8");
  return { ca: await read(files.ca), cert: await read(files.cert), key: await read(files.key) };
}
