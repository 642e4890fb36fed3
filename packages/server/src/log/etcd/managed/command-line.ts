// The command line of an etcd member. Flags that only matter at the first start are kept apart from the flags that
// describe how it runs: a member whose running flags differ from the configuration is restarted, whatever its initial
// flags were.

import { createHash, randomBytes } from "node:crypto";
import { isIP } from "node:net";

/** Entries that etcd keeps in memory before its own snapshot. Its default of 100,000 costs too much memory. */
const SNAPSHOT_COUNT = "10000";
/** Room for the log, and for old snapshots while new ones replace them. */
const QUOTA_BYTES = String(8 * 1024 * 1024 * 1024);

/** Paths of PEM files. */
export interface MemberTls {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
  /**
   * A name that the certificates of members have, and no others of the authority. `null` when the authority signs
   * certificates of members only.
   */
  readonly memberName?: string | null;
}

export interface MemberPlace {
  readonly name: string;
  /** Where other members reach it, host:port. */
  readonly peer: string;
}

interface CommandLine extends MemberPlace {
  /** IP:port. `null` uses the port of `peer`, on its address where it is one, else on all addresses. */
  readonly peerListen: string | null;
  /** IP:port. */
  readonly clientListen: string;
  readonly dataDir: string;
  /** Between members. */
  readonly tls: MemberTls | null;
  /** Between the member and its server. */
  readonly clientTls: MemberTls | null;
}

export function runningFlags(line: CommandLine): readonly string[] {
  const peer = peerUrl(line.peer, line.tls);
  const client = clientUrl(line.clientListen, line.clientTls);
  return [
    ...["--name", line.name, "--data-dir", line.dataDir],
    ...["--listen-peer-urls", peerUrl(listenAddress(line), line.tls)],
    ...["--initial-advertise-peer-urls", peer],
    ...["--listen-client-urls", client, "--advertise-client-urls", client],
    // A member that reconnects must not force an election on the others.
    "--pre-vote",
    ...["--snapshot-count", SNAPSHOT_COUNT, "--quota-backend-bytes", QUOTA_BYTES],
    ...["--logger", "zap", "--log-outputs", "stderr"],
    ...(line.clientTls === null ? [] : clientFlags(line.clientTls)),
    ...(line.tls === null ? [] : peerFlags(line.tls)),
  ];
}

/** At every start but a bootstrap. Without its log, etcd then ends instead of creating a cluster of its own. */
export const EXISTING = ["--initial-cluster-state", "existing"] as const;

/** Continues with the data, without the other members; entries that are not known to be committed are dropped. */
export const FORCE_NEW = ["--force-new-cluster"] as const;

export const joiningFlags = (members: readonly MemberPlace[], tls: MemberTls | null): readonly string[] => [
  ...initialCluster(members, tls),
  ...EXISTING,
];

export const bootstrapFlags = (members: readonly MemberPlace[], tls: MemberTls | null): readonly string[] => [
  ...initialCluster(members, tls),
  ...["--initial-cluster-state", "new", "--initial-cluster-token", clusterToken(members)],
];

const initialCluster = (members: readonly MemberPlace[], tls: MemberTls | null): readonly string[] => [
  "--initial-cluster",
  members.map(({ name, peer }) => `${name}=${peerUrl(peer, tls)}`).join(","),
];

/**
 * etcd derives its ids from the token and the peer addresses. A random token keeps members of an earlier cluster at the
 * same addresses apart from the new one. Members that bootstrap together must agree on it, so theirs follows from the
 * list.
 */
function clusterToken(members: readonly MemberPlace[]): string {
  if (members.length === 1) return `lattice-${randomBytes(16).toString("hex")}`;
  const places = members.map(({ name, peer }) => `${name}=${peer}`).sort();
  return `lattice-${createHash("sha256").update(places.join()).digest("hex").slice(0, 32)}`;
}

export const peerUrl = (address: string, tls: MemberTls | null): string => `${scheme(tls)}://${address}`;
export const clientUrl = (address: string, tls: MemberTls | null): string => `${scheme(tls)}://${address}`;

const scheme = (tls: MemberTls | null): string => (tls === null ? "http" : "https");

/** Where the member takes connections of other members. */
export const listenAddress = ({ peerListen, peer }: Pick<CommandLine, "peerListen" | "peer">): string =>
  peerListen ?? listenFor(peer);

/** etcd binds to addresses, not to names. */
function listenFor(peer: string): string {
  const at = peer.lastIndexOf(":");
  const host = peer.slice(0, at).replace(/^\[|\]$/g, "");
  return isIP(host) === 0 ? `0.0.0.0${peer.slice(at)}` : peer;
}

const clientFlags = ({ ca, cert, key, memberName }: MemberTls): readonly string[] => [
  ...["--cert-file", cert, "--key-file", key, "--trusted-ca-file", ca, "--client-cert-auth"],
  ...(typeof memberName === "string" ? ["--client-cert-allowed-hostname", memberName] : []),
];

const peerFlags = ({ ca, cert, key, memberName }: MemberTls): readonly string[] => [
  ...["--peer-cert-file", cert, "--peer-key-file", key, "--peer-trusted-ca-file", ca, "--peer-client-cert-auth"],
  ...(typeof memberName === "string" ? ["--peer-cert-allowed-hostname", memberName] : []),
];
