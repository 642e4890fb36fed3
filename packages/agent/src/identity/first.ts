// The first certificate of a node that has only a token and the authority's certificate: the agent makes a key, which
// never leaves the node, and asks the servers until one issues a certificate. The pair is kept in the data folder and
// renewed from there. Where no server issues certificates, the agent uses the token.

import { createPrivateKey, createPublicKey, generateKeyPairSync, sign, X509Certificate } from "node:crypto";
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bearerOf, nodeMismatch, renewalText, type ShownCertificate } from "@lattice/wire";
import type { Logger } from "pino";
import type { After } from "../base/after.ts";
import type { FirstAnswer } from "./ask-first.ts";
import type { IdentityFiles } from "./files.ts";
import { keptAfter, keptIn } from "./kept.ts";
import type { CertificateRequest } from "./renew.ts";

interface FirstOptions {
  readonly nodeId: string;
  readonly dataDir: string;
  /** PEM file of the authority that verifies servers and signs. */
  readonly authority: string;
  readonly ask: (asked: CertificateRequest) => Promise<FirstAnswer>;
  readonly log: Logger;
  readonly now: () => number;
  readonly after: After;
}

const FIRST_WAIT_MS = 500;
const MAX_WAIT_MS = 30_000;

/** Resolves to null when no server issues certificates. Throws with the reason of a refusal. */
export async function firstIdentity(options: FirstOptions): Promise<IdentityFiles | null> {
  const { dataDir, authority, log } = options;
  const files = { cert: join(dataDir, "agent.crt"), key: join(dataDir, "agent.key"), ca: authority };
  const before = standing(files, keptIn(dataDir), options.now());
  if (before === "good") return files;
  for (let wait = FIRST_WAIT_MS; ; wait = Math.min(wait * 2, MAX_WAIT_MS)) {
    const answer = await askOnce(options, files);
    if (answer.kind === "issued") {
      log.info({ until: answer.until }, "first certificate issued");
      return files;
    }
    if (answer.kind === "refused") throw new Error(`no certificate is issued to this node: ${answer.problem}`);
    if (answer.kind === "unavailable") {
      log.info({ problem: answer.problem }, "no server issues certificates; the agent uses its token");
      return null;
    }
    log.warn({ problem: answer.problem }, "no first certificate yet; retrying");
    // Running work must not wait for it.
    if (before === "ended") return null;
    await new Promise<void>((resolve) => void options.after(wait, resolve));
  }
}

/** Whether a usable certificate exists: the first one, or a renewed one. */
function standing(files: IdentityFiles, kept: string, nowMs: number): "good" | "ended" | "none" {
  if (!existsSync(files.cert) || !existsSync(files.key)) return "none";
  try {
    const given = { cert: readFileSync(files.cert), key: readFileSync(files.key), ca: readFileSync(files.ca) };
    if (!new X509Certificate(given.cert).checkPrivateKey(createPrivateKey(given.key))) return "none";
    const { cert } = keptAfter(kept, given, nowMs);
    return Date.parse(new X509Certificate(cert).validTo) > nowMs ? "good" : "ended";
  } catch {
    return "none";
  }
}

type Outcome = Exclude<FirstAnswer, { kind: "issued" }> | { readonly kind: "issued"; readonly until: string };

async function askOnce({ nodeId, ask }: FirstOptions, files: IdentityFiles): Promise<Outcome> {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const spki = publicKey.export({ type: "spki", format: "der" });
  const proof = sign("sha256", renewalText(nodeId, spki), privateKey);
  const answer = await ask({ nodeId, publicKey: spki, proof });
  if (answer.kind !== "issued") return answer;
  const why = whyNotTaken(answer.certificate, nodeId, spki, files.ca);
  if (why !== null) return { kind: "later", problem: `the certificate from the server is not usable: ${why}` };
  // The key first: a certificate without its key would be an error.
  put(files.key, privateKey.export({ type: "pkcs8", format: "pem" }).toString());
  put(files.cert, answer.certificate);
  return { kind: "issued", until: new X509Certificate(answer.certificate).validTo };
}

function whyNotTaken(pem: string, nodeId: string, spki: Buffer, ca: string): string | null {
  let fresh: X509Certificate;
  try {
    fresh = new X509Certificate(pem);
  } catch {
    return "it is not a certificate";
  }
  const another = nodeMismatch(bearerOf(fresh.toLegacyObject() as ShownCertificate), nodeId);
  if (another !== null) return another;
  if (!createPublicKey(pem).export({ type: "spki", format: "der" }).equals(spki)) return "it is for another key";
  const authority = new X509Certificate(readFileSync(ca));
  return fresh.checkIssued(authority) && fresh.verify(authority.publicKey) ? null : "another authority issued it";
}

function put(path: string, text: string): void {
  writeFileSync(`${path}.new`, text, { mode: 0o600, flush: true });
  renameSync(`${path}.new`, path);
}
