// The certificate that protects the client port of a member without configured TLS, so that other programs of the machine
// cannot read or write the log. Server and member share one pair below the member's directory. Its authority signs
// nothing else: the authority's key is never stored.

import { X509Certificate } from "node:crypto";
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { isIP } from "node:net";
import { join } from "node:path";
import { issue, makeAuthority } from "@lattice/wire";
import type { EtcdTls } from "../client/channel.ts";
import type { MemberTls } from "./command-line.ts";

export interface OwnPair {
  readonly files: MemberTls;
  readonly texts: EtcdTls;
  /** Whether it was created now: a member that runs already has another one. */
  readonly isNew: boolean;
}

const DAY_MS = 86_400_000;
/** It never leaves the machine, and replacing it restarts the member. */
const LIFETIME_MS = 20 * 365 * DAY_MS;
/** A pair that ends sooner is replaced at the next start. */
const LEAST_LEFT_MS = 365 * DAY_MS;
const SITE = "own";
/** In every pair: Node warns about addresses as names of TLS servers. */
const SERVER_NAME = "localhost";

/** Returns the pair below `dir`, and creates it when there is none for this address (IP:port). */
export async function ownPair(dir: string, clientListen: string, nowMs = Date.now()): Promise<OwnPair> {
  const folder = join(dir, "client-tls");
  const files = { ca: join(folder, "ca.pem"), cert: join(folder, "member.pem"), key: join(folder, "member-key.pem") };
  const host = clientListen.slice(0, clientListen.lastIndexOf(":")).replace(/^\[|\]$/g, "");
  const known = await readPair(files);
  if (known !== null && serves(known.cert, host, nowMs))
    return { files, texts: { ...known, serverName: SERVER_NAME }, isNew: false };
  const authority = await makeAuthority(SITE, LIFETIME_MS);
  const hosts = [...new Set([host, "127.0.0.1", "localhost"])];
  const { cert, key } = await issue(authority, {
    name: "etcd",
    kind: "server",
    site: SITE,
    hosts,
    lifetimeMs: LIFETIME_MS,
  });
  const texts = { ca: authority.cert, cert, key };
  await store(dir, folder, texts);
  return { files, texts: { ...texts, serverName: SERVER_NAME }, isNew: true };
}

/** A crash leaves a complete pair or none. */
async function store(
  dir: string,
  folder: string,
  texts: Readonly<Record<"ca" | "cert" | "key", string>>,
): Promise<void> {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const partial = await mkdtemp(join(dir, "client-tls-"));
  for (const [name, text] of [
    ["ca.pem", texts.ca],
    ["member.pem", texts.cert],
    ["member-key.pem", texts.key],
  ] as const)
    await writeFile(join(partial, name), text, { mode: 0o600 });
  await rm(folder, { recursive: true, force: true });
  await rename(partial, folder);
}

async function readPair({ ca, cert, key }: MemberTls): Promise<{ ca: string; cert: string; key: string } | null> {
  const read = (path: string) => readFile(path, "utf8").catch(() => null);
  const [authority, own, secret] = [await read(ca), await read(cert), await read(key)];
  return authority === null || own === null || secret === null ? null : { ca: authority, cert: own, key: secret };
}

function serves(text: string, host: string, nowMs: number): boolean {
  try {
    const cert = new X509Certificate(text);
    const named = isIP(host) === 0 ? cert.checkHost(host) : cert.checkIP(host);
    return named !== undefined && Date.parse(cert.validTo) - nowMs > LEAST_LEFT_MS;
  } catch {
    return false;
  }
}
