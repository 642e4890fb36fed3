// The quorum section: where the log lives and who shares it. Rules between its settings are here,
// so that a cluster that could not start is refused before anything is opened.

import { join, resolve } from "node:path";
import { z } from "zod";
import type { Config } from "./config.ts";
import { count, section } from "./fields.ts";
import { formatListen, isLoopback, parseListen } from "./listen.ts";

/** Peers of etcd speak on this port unless told otherwise. */
const PEER_PORT = 9000;
/** etcd gives no shorter lease; a longer one than this makes every failover an outage. */
const LEASE_SECONDS = { least: 2, usual: 4, most: 60 } as const;

const address = () =>
  z.string().refine((text) => parseListen(text) !== null && parseListen(text)?.port !== 0, {
    error: "is not an address; write host:port, for example lattice-02:9000",
  });

const endpoint = () =>
  z.string().refine((text) => parseListen(text.replace(/^https?:\/\//, "").replace(/\/$/, "")) !== null, {
    error: "is not an endpoint; write host:port or a URL, for example https://etcd-1:2379",
  });

export const quorumSection = section({
  engine: z.enum(["embedded", "memory", "etcd"], { error: "must be embedded, memory or etcd" }).default("embedded"),
  node_id: count(1, 1_000).default(1),
  data_dir: z.string().min(1).optional(),
  snapshot_every_entries: count(10, 10_000_000).default(20_000),
  peers: z
    .array(z.strictObject({ id: count(1, 1_000), address: address() }), { error: "must be a list of id and address" })
    .max(15, { error: "must be at most 15; three or five is usual" })
    .default([]),
  etcd: section({
    endpoints: z.array(endpoint(), { error: "must be a list of endpoints" }).default([]),
    managed: z.boolean().default(false),
    prefix: z
      .string()
      .regex(/^\/[A-Za-z0-9._/-]{1,200}$/, "must begin with a slash, of letters, digits, dots, dashes and slashes")
      .default("/lattice/main"),
    binary: z.string().min(1).optional(),
    lease_seconds: count(LEASE_SECONDS.least, LEASE_SECONDS.most).default(LEASE_SECONDS.usual),
    client_listen: address().default("127.0.0.1:2379"),
    peer_address: address().optional(),
    peer_listen: address().optional(),
    tls: z
      .strictObject({
        ca: z.string().min(1),
        cert: z.string().min(1).optional(),
        key: z.string().min(1).optional(),
      })
      .optional(),
  }),
});

type ParsedQuorum = z.output<typeof quorumSection>;

interface Problem {
  readonly path: string[];
  readonly message: string;
}

export function quorumProblems(quorum: ParsedQuorum): readonly Problem[] {
  const { engine, etcd, peers, node_id } = quorum;
  const problems: Problem[] = [];
  const refuse = (path: string, message: string): void => {
    problems.push({ path: path.split("."), message });
  };
  if (new Set(peers.map(({ id }) => id)).size < peers.length) refuse("peers", "must not name an id twice");
  if (etcd.tls !== undefined && (etcd.tls.cert === undefined) !== (etcd.tls.key === undefined))
    refuse("etcd.tls", "must have both cert and key, or neither");
  if (engine !== "etcd") return problems;
  if (etcd.endpoints.length === 0 && !etcd.managed)
    refuse("etcd", "must name endpoints, or be managed: true, when quorum.engine is etcd");
  if (!etcd.managed) return problems;
  const ownAddress = etcd.peer_address ?? peers.find(({ id }) => id === node_id)?.address;
  if (peers.some(({ id }) => id !== node_id) && ownAddress === undefined)
    refuse("etcd.peer_address", `must say where others reach this server, or be among quorum.peers as ${node_id}`);
  if (etcd.tls !== undefined && etcd.tls.cert === undefined)
    refuse("etcd.tls.cert", "must be there when etcd is managed: its members show it to each other");
  if (!isLoopback(parseListen(etcd.client_listen)?.host ?? "") && etcd.tls === undefined)
    refuse("etcd.client_listen", "must be on loopback, or quorum.etcd.tls be set: without it everybody may write");
  return problems;
}

/** The section in the units the code uses. */
export function completeQuorum(quorum: ParsedQuorum, serverDataDir: string): Config["quorum"] {
  const { etcd, node_id: nodeId, peers } = quorum;
  const own = etcd.peer_address ?? peers.find(({ id }) => id === nodeId)?.address;
  return {
    engine: quorum.engine,
    nodeId,
    dataDir: quorum.data_dir === undefined ? join(serverDataDir, "log") : resolve(quorum.data_dir),
    snapshotEveryEntries: quorum.snapshot_every_entries,
    peers: peers.filter(({ id }) => id !== nodeId).sort((a, b) => a.id - b.id),
    etcd: {
      endpoints: etcd.endpoints,
      managed: etcd.managed,
      prefix: etcd.prefix,
      binary: etcd.binary ?? null,
      leaseSeconds: etcd.lease_seconds,
      clientListen: etcd.client_listen,
      peerAddress: own ?? formatListen({ host: "127.0.0.1", port: PEER_PORT }),
      peerListen: etcd.peer_listen ?? null,
      tls:
        etcd.tls === undefined
          ? null
          : { ca: resolve(etcd.tls.ca), cert: optionalPath(etcd.tls.cert), key: optionalPath(etcd.tls.key) },
    },
  };
}

const optionalPath = (path: string | undefined): string | null => (path === undefined ? null : resolve(path));
