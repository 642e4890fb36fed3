// Builds the options of a log engine from the configuration. Reads the keys and certificates that it names; an
// unreadable file is an error of the configuration.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Config, ConfigError, serverId } from "../base/config/index.ts";
import type { Begin, LogConfig, MemberPlace } from "./index.ts";

/**
 * How this server's etcd member starts when it has no data; otherwise it is ignored. `bootstrap` creates a cluster of
 * this member alone, which further ones join; `bootstrap_together` creates one of all configured peers, each of which
 * is started this way.
 */
export type LogStart =
  | "resume"
  /** This member has its data and continues as the only one of a cluster of two. */
  | "alone"
  | "bootstrap"
  | "bootstrap_together"
  /** `token`: proves the right to join. `replace`: the member of this server has lost its data and is removed first. */
  | { readonly join: readonly string[]; readonly token?: string; readonly replace?: boolean }
  | { readonly joined: readonly MemberPlace[] }
  /** Called when the member is known to have no data. */
  | { readonly ask: () => Promise<Begin> };

/** Names a member of etcd; every server derives the same name. */
export const memberName = (id: number): string => `lattice-${id}`;

/** `announcement` is opaque text about this server for the servers that share its log. */
export function logConfigOf(
  config: Config,
  begin: LogStart,
  onWarning: (text: string) => void,
  announcement = "",
  onRemoved: (error: Error) => void = () => undefined,
): LogConfig {
  const { engine, dataDir, nodeId, peers, etcd } = config.quorum;
  if (engine === "memory") return { engine };
  if (engine === "embedded") return { engine, dir: dataDir, onWarning };
  const texts = etcdTlsOf(config);
  const { ca, cert, key } = etcd.tls ?? { ca: "", cert: null, key: null };
  const files = cert === null || key === null ? null : { ca, cert, key, memberName: etcd.tls?.memberName ?? null };
  return {
    engine,
    endpoints: etcd.endpoints,
    tls: texts,
    prefix: etcd.prefix,
    name: config.server.id,
    announcement,
    leaseSeconds: etcd.leaseSeconds,
    onWarning,
    onLost: onRemoved,
    peers: peers.map(({ id, address }) => ({ id: serverId(id), name: address })),
    managed: !etcd.managed
      ? null
      : {
          name: memberName(nodeId),
          peer: etcd.peerAddress,
          peerListen: etcd.peerListen,
          clientListen: etcd.clientListen,
          dir: join(dataDir, "etcd"),
          binary: etcd.binary,
          tls: texts === null || files === null ? null : { files, texts },
          protectClients: true,
          alone: begin === "alone",
          begin: beginOf(begin, [{ id: nodeId, address: etcd.peerAddress }, ...peers]),
          onWarning,
          onRemoved,
          onLost: onRemoved,
        },
  };
}

/** Reads the PEM files that the configuration names; `null` without TLS. */
export const etcdTlsOf = ({ quorum }: Config) => (quorum.etcd.tls === null ? null : readTls(quorum.etcd.tls));

function beginOf(begin: LogStart, all: readonly { readonly id: number; readonly address: string }[]): Begin {
  if (begin === "resume" || begin === "alone") return { kind: "resume" };
  if (typeof begin === "object") {
    if ("ask" in begin) return { kind: "ask", ask: begin.ask };
    return "join" in begin ? { kind: "join", endpoints: begin.join } : { kind: "joined", members: begin.joined };
  }
  // This member is the first in the list.
  const members = all.map(({ id, address }) => ({ name: memberName(id), peer: address }));
  return { kind: "bootstrap", members: begin === "bootstrap" ? members.slice(0, 1) : members };
}

function readTls({ ca, cert, key }: NonNullable<Config["quorum"]["etcd"]["tls"]>) {
  return {
    ca: readPem("ca", ca),
    cert: cert === null ? null : readPem("cert", cert),
    key: key === null ? null : readPem("key", key),
  };
}

function readPem(name: string, path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? "unreadable";
    throw new ConfigError("the configuration", [
      { path: `quorum.etcd.tls.${name}`, message: `${path} cannot be read (${code})` },
    ]);
  }
}
