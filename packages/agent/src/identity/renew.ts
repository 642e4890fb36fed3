// Renews a certificate from files: before two thirds of its lifetime the agent makes a new key and asks the servers in
// turn for the next certificate. It accepts one only for this node, for the new key, from the same authority, and with
// a later end. Open connections keep the old one.

import { createPublicKey, generateKeyPairSync, sign, X509Certificate } from "node:crypto";
import { renewalText } from "@lattice/wire";
import type { Logger } from "pino";
import type { After } from "../base/after.ts";
import type { FileIdentity } from "./files.ts";
import type { TlsIdentity } from "./identity.ts";

export interface CertificateRequest {
  readonly nodeId: string;
  /** SubjectPublicKeyInfo, DER. */
  readonly publicKey: Uint8Array;
  readonly proof: Uint8Array;
}

interface RenewOptions {
  readonly nodeId: string;
  readonly identity: FileIdentity;
  /** Asks the servers with this identity; returns the certificate in PEM, or rejects with the reason. */
  readonly ask: (identity: TlsIdentity, asked: CertificateRequest) => Promise<string>;
  readonly log: Logger;
  readonly now: () => number;
  readonly after: After;
  readonly random: () => number;
}

/**
 * The renewal happens at a random point between these fractions of the lifetime, so that nodes set up together do not
 * renew together.
 */
const EARLIEST = 0.5;
const LATEST = 0.63;
const TWO_THIRDS = 2 / 3;
/** A failed renewal is retried after this fraction of the lifetime. */
const AGAIN_PART = 0.02;
const MIN_WAIT_MS = 250;
const MAX_WAIT_MS = 3_600_000;

export function keepRenewed(options: RenewOptions): { close(): void } {
  const { identity, log, now, after, random } = options;
  let closed = false;
  let cancel: () => void = () => undefined;
  let warned = false;
  let part = EARLIEST + random() * (LATEST - EARLIEST);

  function wait(ms: number): void {
    if (!closed) cancel = after(Math.min(Math.max(ms, MIN_WAIT_MS), MAX_WAIT_MS), look);
  }

  function look(): void {
    const { begins, ends } = lifeOf(identity.current());
    const due = begins + (ends - begins) * part;
    if (now() < due) {
      wait(due - now());
      return;
    }
    renewed().then(
      (until) => {
        warned = false;
        part = EARLIEST + random() * (LATEST - EARLIEST);
        log.info({ until: new Date(until) }, "certificate renewed");
        look();
      },
      (error: Error) => {
        const late = now() > begins + (ends - begins) * TWO_THIRDS;
        if (late && !warned) log.warn({ problem: error.message, until: new Date(ends) }, "certificate expires soon");
        else log.debug({ problem: error.message }, "certificate not renewed yet");
        warned ||= late;
        wait((ends - begins) * AGAIN_PART);
      },
    );
  }

  /** Expiry of the new certificate. */
  async function renewed(): Promise<number> {
    const current = identity.current();
    const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const spki = publicKey.export({ type: "spki", format: "der" });
    const proof = sign("sha256", renewalText(options.nodeId, spki), privateKey);
    const pem = await options.ask(current, { nodeId: options.nodeId, publicKey: spki, proof });
    if (closed) throw new Error("the agent is stopping");
    const why = whyNotTaken(pem, current, spki);
    if (why !== null) throw new Error(`the certificate from the server is not usable: ${why}`);
    const cert = Buffer.from(pem);
    identity.take({ cert, key: Buffer.from(privateKey.export({ type: "pkcs8", format: "pem" }).toString()) });
    if (!identity.current().cert.equals(cert)) throw new Error("the new certificate could not be stored");
    return lifeOf(identity.current()).ends;
  }

  look();
  return {
    close() {
      closed = true;
      cancel();
    },
  };
}

function whyNotTaken(pem: string, { cert, ca }: TlsIdentity, spki: Buffer): string | null {
  let fresh: X509Certificate;
  try {
    fresh = new X509Certificate(pem);
  } catch {
    return "it is not a certificate";
  }
  const old = new X509Certificate(cert);
  const authority = new X509Certificate(ca);
  if (fresh.subject !== old.subject) return `it is for ${fresh.subject.replaceAll("\n", ", ")}`;
  if (!createPublicKey(pem).export({ type: "spki", format: "der" }).equals(spki)) return "it is for another key";
  if (!fresh.checkIssued(authority) || !fresh.verify(authority.publicKey)) return "another authority issued it";
  return Date.parse(fresh.validTo) > Date.parse(old.validTo) ? null : "it does not expire later than the current one";
}

function lifeOf({ cert }: TlsIdentity): { readonly begins: number; readonly ends: number } {
  const { validFrom, validTo } = new X509Certificate(cert);
  return { begins: Date.parse(validFrom), ends: Date.parse(validTo) };
}
