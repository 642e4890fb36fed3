// Finds an agent's identity, in this order: SPIRE when its socket exists; files when they are named; the servers when
// the agent has a token; else the token alone. A SPIRE agent without an entry for this process does not stop an agent
// that has another identity.

import { existsSync } from "node:fs";
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { Client, credentials, Metadata } from "@grpc/grpc-js";
import type { Logger } from "pino";
import { type FileIdentity, type IdentityFiles, identityFromFiles } from "./files.ts";
import type { IdentitySource, TlsIdentity } from "./identity.ts";

export interface IdentityOptions {
  /** Socket of the SPIRE agent. */
  readonly spireSocket: string;
  /** How long SPIRE may take. Default: its start timeout. */
  readonly spireWithinMs?: number;
  readonly files: IdentityFiles | null;
  /** PEM file that verifies servers while there is no certificate. */
  readonly authority: string | null;
}

/** Gets a first certificate by other means; resolves to null when there is none. */
type First = () => Promise<IdentityFiles | null>;

/** Sources other than SPIRE and files. */
export interface OtherMeans {
  readonly first?: First;
  /** Whether the agent has a token to use without a certificate. */
  readonly token: boolean;
}

interface FoundIdentity {
  readonly source: IdentitySource;
  /** The same source when the servers may renew it: SPIRE renews its own. */
  readonly files: FileIdentity | null;
}

export async function findIdentity(
  options: IdentityOptions,
  log: Logger,
  { first, token }: OtherMeans,
): Promise<FoundIdentity | null> {
  let before: string | null = null;
  const onProblem = (problem: string | null) => {
    if (problem !== null && problem !== before)
      log.warn({ problem }, "TLS identity not renewed; the previous one stays in force");
    if (problem === null) log.info({}, "TLS identity renewed");
    before = problem;
  };
  let withoutSpire: Error | null = null;
  if (existsSync(options.spireSocket)) {
    try {
      return { source: await identityFromSpire(options.spireSocket, onProblem, options.spireWithinMs), files: null };
    } catch (error) {
      withoutSpire = error as Error;
      log.warn({ problem: withoutSpire.message }, "SPIRE identity unavailable; using other sources until restart");
    }
  }
  const named = options.files ?? (await first?.()) ?? null;
  if (named === null) {
    // Without any other identity the agent fails, so that its service manager restarts it until SPIRE answers.
    if (withoutSpire !== null && !token) throw withoutSpire;
    if (withoutSpire !== null) log.warn({}, "the agent has no certificate and uses its token");
    return null;
  }
  const files = identityFromFiles(named, onProblem);
  return { source: files, files };
}

const METHOD = "/SpiffeWorkloadAPI/FetchX509SVID";
/** Required metadata, which prevents request forgery through other programs. */
const HEADER = "workload.spiffe.io";
const FIRST_WITHIN_MS = 10_000;
const AGAIN_AFTER_MS = 1_000;

async function identityFromSpire(
  socket: string,
  onProblem: (problem: string | null) => void,
  withinMs = FIRST_WITHIN_MS,
): Promise<IdentitySource> {
  const client = new Client(`unix:${socket}`, credentials.createInsecure());
  const listeners: ((identity: TlsIdentity) => void)[] = [];
  let identity: TlsIdentity | null = null;
  let closed = false;
  let retry: NodeJS.Timeout | undefined;
  let cancel: () => void = () => undefined;
  let first: (identity: TlsIdentity) => void = () => undefined;
  let why = "it sent nothing";

  function open(): void {
    const metadata = new Metadata();
    metadata.set(HEADER, "true");
    const call = client.makeServerStreamRequest(METHOD, () => Buffer.alloc(0), parseSvids, {}, metadata);
    cancel = () => call.cancel();
    call.on("data", ({ identity: fresh }: Svids) => {
      if (fresh === null) return onProblem("SPIRE sent no certificate for this agent");
      identity = fresh;
      first(fresh);
      for (const taken of listeners) taken(fresh);
      onProblem(null);
    });
    const again = (problem: string) => {
      why = problem;
      if (closed) return;
      onProblem(`SPIRE: ${problem}`);
      clearTimeout(retry);
      retry = setTimeout(open, AGAIN_AFTER_MS);
    };
    call.on("error", (error) => again(error.message));
    call.on("end", () => again("the stream ended"));
  }

  const close = () => {
    closed = true;
    clearTimeout(retry);
    cancel();
    client.close();
  };
  const initial = await new Promise<TlsIdentity | null>((resolve) => {
    const timer = setTimeout(() => resolve(null), withinMs);
    first = (fresh) => {
      clearTimeout(timer);
      resolve(fresh);
    };
    open();
  });
  if (initial === null) {
    close();
    throw new Error(`SPIRE at ${socket} gave no identity: ${why}`);
  }
  return { current: () => identity ?? initial, onChange: (taken) => void listeners.push(taken), close };
}

interface Svids {
  /** Returns null when SPIRE has no entry for this process. */
  readonly identity: TlsIdentity | null;
}

/** X509SVIDResponse: field 1 is the list of identities; the first is the default one. */
const parseSvids = (bytes: Uint8Array): Svids => ({ identity: firstOf(fieldsOf(bytes).get(1) ?? []) });

function firstOf([svid]: readonly Uint8Array[]): TlsIdentity | null {
  if (svid === undefined) return null;
  const fields = fieldsOf(svid);
  const [cert, key, bundle] = [2, 3, 4].map((number) => fields.get(number)?.[0]);
  if (cert === undefined || key === undefined || bundle === undefined) return null;
  return {
    cert: pem("CERTIFICATE", split(cert)),
    key: pem("PRIVATE KEY", [key]),
    ca: pem("CERTIFICATE", split(bundle)),
  };
}

function fieldsOf(bytes: Uint8Array): Map<number, Uint8Array[]> {
  const reader = new BinaryReader(bytes);
  const fields = new Map<number, Uint8Array[]>();
  while (reader.pos < reader.len) {
    const [number, type] = reader.tag();
    if (type === WireType.LengthDelimited) fields.set(number, [...(fields.get(number) ?? []), reader.bytes()]);
    else reader.skip(type);
  }
  return fields;
}

/** Splits concatenated DER certificates: each starts with its length. */
function split(der: Uint8Array): Uint8Array[] {
  const parts: Uint8Array[] = [];
  for (let at = 0; at + 4 <= der.length; ) {
    const head = der[at + 1] ?? 0;
    const bytes = head < 0x80 ? 0 : head & 0x7f;
    let length = bytes === 0 ? head : 0;
    for (let i = 0; i < bytes; i += 1) length = length * 256 + (der[at + 2 + i] ?? 0);
    const whole = 2 + bytes + length;
    parts.push(der.subarray(at, at + whole));
    at += whole;
  }
  return parts;
}

const pem = (label: string, parts: readonly Uint8Array[]): Buffer =>
  Buffer.from(
    parts
      .map((part) => {
        const lines =
          Buffer.from(part)
            .toString("base64")
            .match(/.{1,64}/g) ?? [];
        return `-----BEGIN ${label}-----\n${lines.join("\n")}\n-----END ${label}-----\n`;
      })
      .join(""),
  );
