// How an agent proves its identity and reaches servers and other agents: certificate or token, channel credentials, the
// renewal of its certificate, and the listener for other agents of a large launch.

import { X509Certificate } from "node:crypto";
import { hostname } from "node:os";
import { create } from "@bufbuild/protobuf";
import { Client, type ServiceError } from "@grpc/grpc-js";
import { pb } from "@lattice/wire";
import type { Logger } from "pino";
import { systemAfter } from "../base/after.ts";
import { askForFirst } from "../identity/ask-first.ts";
import { credentialsOf } from "../identity/credentials.ts";
import type { IdentityFiles } from "../identity/files.ts";
import { findIdentity, type IdentityOptions } from "../identity/find.ts";
import { firstIdentity } from "../identity/first.ts";
import type { IdentitySource, TlsIdentity } from "../identity/identity.ts";
import { keptIn } from "../identity/kept.ts";
import { type CertificateRequest, keepRenewed } from "../identity/renew.ts";
import { type Dialer, dialer, parseServer } from "../link/dial.ts";
import { renewCertificateCall } from "../link/service.ts";
import type { AgentOptions } from "../options/options.ts";
import { type FencePeers, fencePeers } from "../tasks/fence/peers.ts";
import { trustOf } from "../tasks/fence/trust.ts";
import type { AgentClosers } from "./machine.ts";

interface AgentSecurity {
  readonly dialer: Dialer;
  /** `null` when other agents cannot reach this one. */
  readonly peers: FencePeers | null;
  /** Returns when the certificate ends, in milliseconds; 0 without a certificate. */
  certificateEnd(): number;
  /** Renews the certificate until closed; returns null when the agent cannot renew its certificate itself. */
  startRenewal(): { close(): void } | null;
}

export async function openSecurity(
  options: AgentOptions,
  dataDir: string,
  log: Logger,
  closing: AgentClosers,
): Promise<AgentSecurity> {
  const { servers, token, secure, peerListen, nodeId } = options;
  const found = await findIdentity(keepingIn(options.identity, keptIn(dataDir)), log, {
    first: () => firstFor(options, dataDir, log),
    token: token !== undefined,
  });
  const source = found?.source ?? null;
  if (source !== null) closing.push(() => source.close());
  const dial = dialer({ servers, token, credentials: credentialsOf(source, secure, options.identity.authority) });
  closing.push(() => dial.close());
  const trust = trustOf(source, secure);
  if (peerListen !== "" && !trust.ok)
    log.warn({ problem: trust.error }, "large launches exchange addresses through the servers instead of among agents");
  const peers = peerListen !== "" && trust.ok ? await fencePeers(peerListen, peerHost(peerListen), trust.value) : null;
  if (peers !== null) closing.push(() => peers.close());
  return {
    dialer: dial,
    peers,
    certificateEnd: endOf(source),
    startRenewal: () =>
      found === null || found.files === null
        ? null
        : keepRenewed({
            nodeId,
            identity: found.files,
            ask: (shown, asked) => askServers(dial.servers, shown, asked),
            log,
            now: Date.now,
            after: systemAfter,
            random: Math.random,
          }),
  };
}

/** Requests a first certificate from the servers; needs a token, and an authority to verify the servers with. */
async function firstFor(
  { nodeId, servers, token, identity: { authority } }: AgentOptions,
  dataDir: string,
  log: Logger,
): Promise<IdentityFiles | null> {
  if (token === undefined || authority === null) return null;
  const question = { servers: servers.map(parseServer), token, authority };
  const ask = (asked: CertificateRequest) => askForFirst(question, asked);
  const files = await firstIdentity({ nodeId, dataDir, authority, ask, log, now: Date.now, after: systemAfter });
  return files === null ? null : { ...files, kept: keptIn(dataDir) };
}

const keepingIn = (identity: IdentityOptions, kept: string): IdentityOptions =>
  identity.files === null ? identity : { ...identity, files: { ...identity.files, kept } };

/** A listener on every address is reached by the name of the node. */
function peerHost(listen: string): string {
  const host = listen.slice(0, listen.lastIndexOf(":"));
  return host === "0.0.0.0" || host === "[::]" ? hostname() : host;
}

/** Milliseconds since 1970; 0 without a certificate. */
function endOf(source: IdentitySource | null): () => number {
  if (source === null) return () => 0;
  let end = of(source.current());
  source.onChange((identity) => {
    end = of(identity);
  });
  return () => end;
}

const of = ({ cert }: TlsIdentity): number => Date.parse(new X509Certificate(cert).validTo);

const ANSWER_WITHIN_MS = 10_000;

async function askServers(
  servers: readonly string[],
  identity: TlsIdentity,
  asked: CertificateRequest,
): Promise<string> {
  const problems: string[] = [];
  for (const server of servers) {
    try {
      return await askOne(server, identity, asked);
    } catch (error) {
      problems.push(`${server}: ${(error as ServiceError).details ?? (error as Error).message}`);
    }
  }
  throw new Error(problems.join("; "));
}

function askOne(server: string, identity: TlsIdentity, asked: CertificateRequest): Promise<string> {
  const source = { current: () => identity, onChange: () => undefined, close: () => undefined };
  const client = new Client(server, credentialsOf(source, true), { "grpc.use_local_subchannel_pool": 1 });
  const { path, serialize, deserialize } = renewCertificateCall;
  return new Promise<string>((resolve, reject) => {
    client.makeUnaryRequest(
      path,
      serialize,
      deserialize,
      create(pb.RenewCertificateRequestSchema, { ...asked }),
      { deadline: Date.now() + ANSWER_WITHIN_MS },
      (error, response) => {
        if (error !== null || response === undefined) reject(error ?? new Error("nothing was answered"));
        else resolve(response.certificate);
      },
    );
  }).finally(() => client.close());
}
